"""Specs of a call in which sizes are not known."""

import itertools

from lodcore.tensors.tensor import Spec

__all__ = ["without_sizes"]


def without_sizes(arguments, dropped):
    """Replace the sizes for which `dropped(number of the Spec, axis, size)` is true by None, also in lists of Specs."""
    numbers = itertools.count()

    def less(x):
        if not isinstance(x, Spec):
            return x
        number = next(numbers)
        return x._replace(shape=tuple(None if dropped(number, at, n) else n for at, n in enumerate(x.shape)))

    return {name: [*map(less, x)] if isinstance(x, list) else less(x) for name, x in arguments.items()}
