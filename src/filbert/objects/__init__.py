"""Trees that other programs hold in memory, as texts in bracket notation.

One module per kind of object. None of them imports the library that the objects come from.
"""
