"""The network as two Programs, which a file keeps and which run without the code that made them.

`encode` takes `letters` (words, letters), and gives for each letter a row of `keys` and `values`, and for each word the
first `hidden` and `cell` of the decoder.

`decode` takes these, and `tokens`: words, branches, and the phonemes by which each branch goes on. It gives for each
token the `log_probs` of the next one and the `weights` of its attention to the letters; and for each branch the
`next_hidden` and `next_cell`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import lodcore
from lodcore import nn
from lodcore.demo.pronounce.network import Network, Parameters
from lodcore.graph import Program, data, parameter

__all__ = ["programs"]

DTYPE = np.dtype(np.float32)  # of all computations


def programs(network: Network, parameters: Parameters) -> dict[str, Program]:
    """Record the Programs of a network.

    Parameters
    ----------
    network : Network
    parameters : dict
        Those of a dtype other than float32 are kept as they are, and converted whenever a Program runs.

    Returns
    -------
    dict of Program
        "encode" and "decode", which share the parameters that both need.
    """
    of = _named(parameters, ())
    with Program() as encode:
        _encode(network, of)
    with Program() as decode:
        _decode(network, of)
    return {"encode": encode, "decode": decode}


def _encode(network: Network, given: Parameters) -> None:
    letters = data("letters", (None,), "int64", num_levels=1)
    of = _converted({name: given[name] for name in ("letters", "encoder", "first_state", "first_cell", "key", "mix")})
    memory, keys, (hidden, cell) = network.encode(of, letters)
    values = memory @ of["mix"]["weight"][network.width :] + of["mix"]["bias"]
    _result(keys=keys, values=values, hidden=hidden, cell=cell)


def _decode(network: Network, given: Parameters) -> None:
    width, layers = network.width, network.layers
    tokens = data("tokens", (None,), "int64", num_levels=2)
    keys, values = (data(name, (None, width), DTYPE, num_levels=1) for name in ("keys", "values"))
    state = data("hidden", (None, width), DTYPE), data("cell", (None, width), DTYPE)
    of = _converted({name: given[name] for name in ("phonemes", "decoder", "mix", "out")})
    states, (hidden, cell) = layers["decoder"](of["decoder"], layers["phonemes"](of["phonemes"], tokens), state)
    queries = states.flatten(1)  # those of all branches of a word are for its letters
    context, weights = nn.dot_attention(queries, keys, values, scale=1.0)
    mixed = lodcore.tanh(queries @ of["mix"]["weight"][:width] + context)
    log_probs = lodcore.ops.log_softmax(layers["out"](of["out"], mixed))
    _result(log_probs=log_probs, weights=weights, next_hidden=hidden, next_cell=cell)


def _named(tree: Any, path: tuple[str, ...]) -> Any:
    """Return parameters as Variables, which have their places in the tree as names."""
    if isinstance(tree, dict):
        return {key: _named(each, (*path, key)) for key, each in tree.items()}
    return parameter(tree, ".".join(path))


def _converted(tree: Any) -> Any:
    return lodcore.tree_map(lambda v: v if v.dtype == DTYPE else lodcore.ops.cast(v, DTYPE), tree)


def _result(**named: Any) -> None:
    """Give results the names by which they are fetched."""
    same: Any = lodcore.stop_gradient
    for name, result in named.items():
        same(result, name=name)
