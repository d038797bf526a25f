"""A corpus in parts: trees that need not fit into memory, and work on all of its parts."""
