"""Keywords that a function does not have: which one is meant."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, TypeVar

__all__ = ["first_argument", "hinting", "no_level", "refuse_unknown"]

T = TypeVar("T", bound=Callable[..., Any])

#: What the words of other libraries, and of other functions, are called here: the first that a function has is meant.
MEANT = {
    "ascending": ("descending",),
    "batch_size": ("max_items",),
    "beam_width": ("beam_size",),
    "bos_token_id": ("start_id",),
    "by": ("key", "keys"),
    "capacity": ("budget",),
    "dim": ("level", "axis"),
    "embedding_dim": ("width",),
    "end": ("stop", "end_id"),
    "eos_token_id": ("end_id",),
    "fill": ("pad_value", "fill_value"),
    "fill_value": ("pad_value", "fill"),
    "hidden_size": ("n_hidden",),
    "in_features": ("n_in",),
    "input_size": ("n_in",),
    "keepdim": ("keepdims",),
    "kernel_size": ("context_length",),
    "lr": ("learning_rate",),
    "max_len": ("max_length", "budget", "maxlen"),
    "max_length": ("maxlen", "length", "budget"),
    "maxlen": ("length",),
    "n": ("k", "win_size"),
    "nonlinearity": ("activation",),
    "normalized_shape": ("width",),
    "num_beams": ("beam_size",),
    "num_embeddings": ("n_rows",),
    "out_features": ("n_out",),
    "p": ("rate",),
    "pad": ("pad_value", "fill_value"),
    "padding": ("padding_data", "padding_idx"),
    "padding_side": ("side",),
    "padding_value": ("fill_value", "pad_value"),
    "pooltype": ("pool_type",),
    "proj_size": ("projection",),
    "mode": ("pool_type",),
    "reverse": ("descending", "is_reverse"),
    "value": ("pad_value", "fill_value", "fill"),
    "weight": ("weights", "table"),
    "window": ("win_size", "size"),
}
#: What the settings of layers in other libraries are here.
SETTINGS = {
    "batch_first": "sequences have no padding and always come first; leave it out",
    "bias": "it always has one; leave it out",
    "bidirectional": "lodcore.nn.Bidirectional(layer) runs both ways",
    "device": "leave it out",
    "dropout": "lodcore.nn.Dropout(rate) is a layer of its own",
    "dtype": "init(rng, dtype) takes it",
    "num_layers": "lodcore.nn.Stacked(layers) runs several",
}
#: Functions of axes, by the operator of levels that does the same.
WITH_AXES = {
    "sequence_argsort": "np.argsort(x, axis=1)",
    "sequence_cumsum": "x.cumsum(axis=1)",
    "sequence_median": "np.median(x, axis=1)",
    "sequence_pool": "x.sum(axis=1)",
    "sequence_quantile": "np.quantile(x, q, axis=1)",
    "sequence_reverse": "np.flip(x, axis=1)",
    "sequence_sort": "np.sort(x, axis=1)",
    "sequence_std": "x.std(axis=1)",
    "sequence_var": "x.var(axis=1)",
}
#: Operators of levels, by the function of axes that does the same.
WITH_LEVELS = {
    "cumsum": "sequence_cumsum(x, level=0)",
    "softmax": "sequence_softmax(x, level=0)",
}


def no_level(name: str) -> TypeError:
    """Return the error for a level given to a function of axes.

    Parameters
    ----------
    name : str

    Returns
    -------
    TypeError

    Examples
    --------
    >>> from lodcore.base.keywords import no_level
    >>> print(no_level("cumsum"))
    cumsum: got an unexpected keyword argument 'level'; use axis=1 for level 0, axis=2 for level 1; \
lodcore.sequence_cumsum(x, level=0) takes levels
    """
    of_levels = f"; lodcore.{WITH_LEVELS[name]} takes levels" if name in WITH_LEVELS else ""
    return TypeError(
        f"{name}: got an unexpected keyword argument 'level'; use axis=1 for level 0, axis=2 for level 1{of_levels}"
    )


def refuse_unknown(name: str, function: Callable[..., Any], given: Mapping[str, Any]) -> None:
    """Raise for a keyword that a function does not have, and say which one is meant; return if it has them all.

    Parameters
    ----------
    name : str
    function : callable
    given : mapping
        The keywords of a call.

    Raises
    ------
    TypeError

    Examples
    --------
    >>> from lodcore.base.keywords import refuse_unknown
    >>> refuse_unknown("take", lambda x, level=-1: x, {"dim": 1})
    Traceback (most recent call last):
        ...
    TypeError: take: got an unexpected keyword argument 'dim'; use level=
    """
    known = inspect.signature(function).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values()):
        return
    for keyword in given:
        if keyword not in known and keyword != "name":
            names = [one for one in known if one != "self"]
            raise TypeError(f"{name}: got an unexpected keyword argument {keyword!r}; {_meant(name, keyword, names)}")


def hinting(one: T) -> T:
    """Let a function, or the constructor of a class, say which keyword is meant by one that it does not have."""
    if isinstance(one, type):
        one.__init__ = _hinting(one.__init__, one.__name__)  # type: ignore[misc]
        return one
    return _hinting(one, one.__qualname__)  # type: ignore[return-value]


def _hinting(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def with_hints(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError:
            if kwargs:
                refuse_unknown(name, function, kwargs)
            raise

    return with_hints


def _meant(name: str, keyword: str, known: list[str]) -> str:
    """Describe which of the known keywords is meant."""
    if keyword == "level" and "axis" in known:
        return str(no_level(name)).partition("; ")[2]
    if keyword == "axis" and "level" in known:
        with_axes = f"; {WITH_AXES[name]} takes axes" if name in WITH_AXES else ""
        return f"use level=, which counts levels: 0 is the outermost, -1 the last{with_axes}"
    if keyword in SETTINGS and name[:1].isupper() and "." not in name:  # a layer
        return SETTINGS[keyword]
    found = [one for one in MEANT.get(keyword, ()) if one in known] or import_module("difflib").get_close_matches(
        keyword, known, 1
    )
    return f"use {found[0]}=" if found else f"its arguments are {', '.join(known)}"


def first_argument(function: Any, kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Take the first argument of a function from those that are given by name, if it is one of them."""
    try:
        first = next(iter(inspect.signature(function).parameters), "")
    except ValueError:  # of a function without a signature
        return ()
    return (kwargs.pop(first),) if first in kwargs else ()
