"""What runs cells over sequences, on nested lists."""
