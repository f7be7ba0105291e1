"""The operators of TensorArray, which are its methods."""
