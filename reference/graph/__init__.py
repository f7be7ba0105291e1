"""The meaning of programs and loops: plain Python."""
