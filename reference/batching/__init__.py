"""The plain-Python meaning of lodcore.batching."""
