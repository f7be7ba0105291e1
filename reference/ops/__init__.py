"""What the operators mean, on nested lists: no offsets, no arrays.

The outermost list is the batch. A level is given as its number from the outermost, 0 or more: the sequences of
level 0 are the entries of the batch, those of level 1 the entries of these, and so on; below the last level are rows.
"""
