"""The plain-Python meaning of lodcore: reference/<path>.py says what lodcore/<path> does, and imports nothing of it."""
