"""Workers: who they are, the messages between them, how they start and how they are asked to stop."""
