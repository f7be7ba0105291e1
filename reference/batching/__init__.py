"""The definition of lodcore.batching in plain Python."""
