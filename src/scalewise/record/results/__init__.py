"""Every result file as a typed value; only its class knows its name and its keys."""
