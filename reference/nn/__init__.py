"""What networks mean, and how they learn: plain Python on nested lists."""
