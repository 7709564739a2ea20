"""The whole way for a newcomer: measure both axes a little, multiply them, and say what to do."""
