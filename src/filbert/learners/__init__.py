"""Stage 5: learners, one paper a file."""
