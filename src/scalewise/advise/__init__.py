"""All steps in one command: measure both axes a little, multiply them, and say what to do."""
