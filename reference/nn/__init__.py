"""Networks, in plain Python."""
