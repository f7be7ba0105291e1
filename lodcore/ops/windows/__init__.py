"""Windows within sequences: convolutions, rolling reductions, neighbours, and times."""
