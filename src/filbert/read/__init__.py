"""Stage 1: files and objects to the texts of trees, one format a file."""
