"""Recurrent networks as functions over trees of parameters: layers, cells, and what runs cells over sequences."""

from types import ModuleType as _ModuleType

from lodcore.nn.combined import *
from lodcore.nn.dynamic_rnn import *
from lodcore.nn.recurrent import *
from lodcore.nn.recurrent_op import *

__all__ = [name for name, x in globals().items() if name[0] != "_" and type(x) is not _ModuleType]
