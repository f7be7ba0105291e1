"""The operators that are names of `lodcore` itself: all that are public in these files."""

from lodcore.ops.array import *
from lodcore.ops.array_joining import *
from lodcore.ops.axes import mean as mean  # all others have names of Python's own functions
from lodcore.ops.compare import *
from lodcore.ops.dense import *
from lodcore.ops.deviation import *
from lodcore.ops.embedding import *
from lodcore.ops.expand import *
from lodcore.ops.gather import *
from lodcore.ops.lod_data import *
from lodcore.ops.math import *
from lodcore.ops.neighbours import *
from lodcore.ops.order import *
from lodcore.ops.pad import *
from lodcore.ops.pool import *
from lodcore.ops.rank import *
from lodcore.ops.recurrent import *
from lodcore.ops.rolling import *
from lodcore.ops.runs import *
from lodcore.ops.scores import *
from lodcore.ops.search import *
from lodcore.ops.select import *
from lodcore.ops.sequence_matmul import *
from lodcore.ops.sort import *
from lodcore.ops.steps import *
from lodcore.ops.structure import *
from lodcore.ops.tokens import *
from lodcore.ops.window import *
