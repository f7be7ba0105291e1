"""The definition of the operators on nested lists, without offsets and without arrays.

The outermost list is the batch. A level is given as its number counted from the outermost one, 0 or more: the sequences
of level 0 are the entries of the batch, those of level 1 the entries of these, and so on; below the last level are
rows.
"""
