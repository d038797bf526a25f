"""Stage 5: learners, one paper per file."""
