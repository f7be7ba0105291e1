"""Loops and branches: while_loop, cond, map_fn, VarArray, their bodies, and how these run."""
