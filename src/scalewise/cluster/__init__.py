"""Who works: the world of workers, what they say to each other, how they start and how they are asked to stop."""
