"""Rows repeated for each row of a sequence, sequences in reverse order."""
