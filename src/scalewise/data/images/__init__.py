"""The built-in image data sets, a file for each, and what they have in common."""
