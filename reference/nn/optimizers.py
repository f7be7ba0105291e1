"""Optimizers of one number."""

from math import sqrt

__all__ = ["adam", "sgd"]


def sgd(x, gradients, rates, momentum, weight_decay):
    """Run gradient descent with momentum: return the number after each step."""
    speed, found = 0.0, []
    for d, rate in zip(gradients, rates, strict=True):
        speed = momentum * speed + d + weight_decay * x
        x = x - rate * speed
        found.append(x)
    return found


def adam(x, gradients, rates, betas, eps, weight_decay):
    """Run Adam, which divides the mean of gradients by their root mean square: return the number after each step."""
    mean = square = 0.0
    found = []
    for t, (d, rate) in enumerate(zip(gradients, rates, strict=True), 1):
        mean = betas[0] * mean + (1 - betas[0]) * d
        square = betas[1] * square + (1 - betas[1]) * d * d
        x = x - rate * weight_decay * x
        x = x - rate * (mean / (1 - betas[0] ** t)) / (sqrt(square / (1 - betas[1] ** t)) + eps)
        found.append(x)
    return found
