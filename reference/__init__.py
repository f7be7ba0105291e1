"""The definition of lodcore in plain Python: reference/<path>.py defines lodcore/<path> without importing it."""
