"""The operators that `lodcore` exports: all public names of these files, except those at the end."""

from lodcore.ops.arrays.joined_arrays import *
from lodcore.ops.arrays.tensor_arrays import *
from lodcore.ops.elementwise.compare import *
from lodcore.ops.elementwise.math import *
from lodcore.ops.move.arrange import *
from lodcore.ops.move.chunk import *
from lodcore.ops.move.combine import *
from lodcore.ops.move.expand import *
from lodcore.ops.move.gather import *
from lodcore.ops.move.lod_data import *
from lodcore.ops.move.map_sequences import *
from lodcore.ops.move.masks import *
from lodcore.ops.move.pad import *
from lodcore.ops.move.pieces import *
from lodcore.ops.move.ranges import *
from lodcore.ops.move.steps import *
from lodcore.ops.move.structure import *
from lodcore.ops.networks.beam import *
from lodcore.ops.networks.embedding import *
from lodcore.ops.networks.matmul import *
from lodcore.ops.networks.recurrent import *
from lodcore.ops.networks.sequence_matmul import *
from lodcore.ops.networks.softmax import *
from lodcore.ops.order.counts import *
from lodcore.ops.order.group import *
from lodcore.ops.order.order import *
from lodcore.ops.order.rank_table import *
from lodcore.ops.order.runs import *
from lodcore.ops.order.search import *
from lodcore.ops.order.shuffle import *
from lodcore.ops.order.sort import *
from lodcore.ops.reduce.axes import mean as mean  # the names of all others shadow Python builtins
from lodcore.ops.reduce.deviation import *
from lodcore.ops.reduce.pool import *
from lodcore.ops.reduce.quantiles import *
from lodcore.ops.reduce.statistics import *
from lodcore.ops.text.tokens import *
from lodcore.ops.text.words import *
from lodcore.ops.windows.filling import *
from lodcore.ops.windows.neighbours import *
from lodcore.ops.windows.rolling import *
from lodcore.ops.windows.times import *
from lodcore.ops.windows.window import *

# functions with names of NumPy's are in `lodcore.ops` only
del nanmedian, nanquantile, quantile, std, var
