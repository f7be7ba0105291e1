collect_ignore = ["lines.py"]  # for type checkers; it has wrong calls
