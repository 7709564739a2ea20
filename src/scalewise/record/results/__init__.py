"""Every file that a command leaves, as a typed value with one class that alone knows its name and its keys."""
