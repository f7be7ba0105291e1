"""Gradients: vjp, append_backward, and the way back through what was recorded."""
