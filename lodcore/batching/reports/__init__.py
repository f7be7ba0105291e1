"""Reports on plans and batches, and pictures of them."""
