"""Networks and optimizers: functions over trees of parameters; this package exports the public names of all files."""

from types import ModuleType as _ModuleType
from typing import NoReturn as _NoReturn

from lodcore.base.naming import make_public as _make_public
from lodcore.base.other_names import NETWORKS as _NETWORKS
from lodcore.nn.additive_attention import *
from lodcore.nn.beam_search import *
from lodcore.nn.clipping import *
from lodcore.nn.combined import *
from lodcore.nn.dynamic_rnn import *
from lodcore.nn.layers import *
from lodcore.nn.losses import *
from lodcore.nn.optimizers import *
from lodcore.nn.recurrent import *
from lodcore.nn.recurrent_op import *
from lodcore.nn.schedules import cosine_schedule as cosine_schedule
from lodcore.nn.schedules import inverse_root_schedule as inverse_root_schedule
from lodcore.nn.schedules import linear_schedule as linear_schedule
from lodcore.nn.schedules import step_schedule as step_schedule
from lodcore.ops.elementwise.dropout import dropout as dropout
from lodcore.ops.networks.attention import dot_attention as dot_attention
from lodcore.ops.networks.matmul import cross_entropy as cross_entropy

__all__ = [name for name, x in globals().items() if name[0] != "_" and type(x) is not _ModuleType]


_make_public("lodcore.nn", *[globals()[_name] for _name in __all__])


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> _NoReturn:
    instead = f"; use {_NETWORKS[name]}" if name in _NETWORKS else ""
    raise AttributeError(f"module 'lodcore.nn' has no attribute {name!r}{instead}")
