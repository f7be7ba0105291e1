"""The trained network that comes with the package: two Programs, with parameters in half precision, in one file.

ATTRIBUTION.md describes its data; `make.py` made it.
"""

from __future__ import annotations

import functools
import os
from importlib.resources import files
from typing import Any

import numpy as np

import lodcore
from lodcore.demo.pronounce.network import Network, Parameters
from lodcore.demo.pronounce.programs import programs
from lodcore.demo.pronounce.speaker import Speaker

__all__ = ["FILE", "load", "save"]

FILE = "pronounce.npz"  # next to this module


def save(file: str | os.PathLike[str], network: Network, parameters: Parameters) -> None:
    """Save the Programs of a network, and its parameters as float16."""
    small = lodcore.tree_map(lambda x: x.astype(np.float16), parameters)
    lodcore.save(file, programs(network, small), compress=True)


@functools.cache
def load() -> Speaker:
    """Load the network that comes with the package, which computes in float32."""
    with (files(__package__) / FILE).open("rb") as opened:
        found: Any = lodcore.load(opened)
    return Speaker(found)
