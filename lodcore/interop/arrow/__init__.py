"""Arrow arrays, imported and exported by the C data interface."""
