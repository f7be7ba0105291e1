"""Operators on each number: math, comparisons, casts, dropout."""
