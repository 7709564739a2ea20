"""Run folders: the only room that knows file names."""
