"""Files: npz archives, folders that are mapped into memory, saved Programs, and the commands that read them."""
