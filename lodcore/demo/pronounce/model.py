"""The trained network that comes with the package: its parameters in half precision, in one file without pickles.

ATTRIBUTION.md describes its data; `make.py` made it.
"""

from __future__ import annotations

import functools
import os
from importlib.resources import files
from typing import Any

import numpy as np

import lodcore
from lodcore.demo.pronounce.network import Network, Parameters, Speaker

__all__ = ["FILE", "load", "save"]

FILE = "pronounce.npz"  # next to this module


def save(file: str | os.PathLike[str], network: Network, parameters: Parameters) -> None:
    """Save a network for inference: its sizes, and its parameters as float16."""
    small = lodcore.tree_map(lambda x: x.astype(np.float16), parameters)
    sizes = {"width": network.width, "embedding": network.embedding}
    lodcore.save(file, {"network": sizes, "parameters": small}, compress=True)


@functools.cache
def load() -> Speaker:
    """Load the network that comes with the package, in float32."""
    with (files(__package__) / FILE).open("rb") as opened:
        found: Any = lodcore.load(opened)
    parameters = lodcore.tree_map(lambda x: x.astype(np.float32), found["parameters"])
    return Speaker(Network(**found["network"]), parameters)
