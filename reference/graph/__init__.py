"""The definition of programs and loops in plain Python."""
