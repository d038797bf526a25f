"""Stage 1: files to the texts of trees, labels and features, one format a file.

The reader knows nothing of forests: :mod:`filbert.reading` makes them.
"""
