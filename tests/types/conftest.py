collect_ignore = ["lines.py"]  # for type checkers; it contains wrong calls
