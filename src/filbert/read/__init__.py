"""Stage 1: read the texts of trees, labels and features from files, one module per format.

The reader does not know forests: :mod:`filbert.reading` makes them.
"""
