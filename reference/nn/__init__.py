"""The definition of networks and optimizers: plain Python on nested lists."""
