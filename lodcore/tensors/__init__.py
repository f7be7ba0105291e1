"""The containers: structure, tensors, and arrays of tensors."""
