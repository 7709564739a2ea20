"""What `import scalewise as sw` gives: every command as a function, which returns a result that shows itself.

A function makes the request that the command line would make, and calls what the command calls.
"""
