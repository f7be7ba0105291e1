"""Every operator of the registry on a small batch, where the overhead of a call dominates."""

import ast
import doctest

import numpy as np

import lodcore.graph  # noqa: F401  its operators are registered, too
from lodcore import LoD, LoDTensor, TensorArray, lod_rank_table
from lodcore.operators.registry import OPS
from lodcore.operators.roles import Nested
from lodcore.tensors.tensor import Spec

LENGTHS = [2, 3, 1, 4]
X = LoDTensor.from_lengths(np.arange(1.0, 11.0), LENGTHS)
WIDE = LoDTensor.from_lengths(np.arange(40.0).reshape(10, 4), LENGTHS)
NUMBERS = LoDTensor.from_lengths(np.arange(10) % 5, LENGTHS)
TRUTH = NUMBERS > 1
NESTED = LoDTensor.from_lengths(np.arange(10.0), [1, 3], LENGTHS)
DENSE = np.arange(16.0).reshape(4, 4)
STEPS, STEPS_MAP = TensorArray.unpack(X, 0)
TABLE = lod_rank_table(X)
KEPT = np.array([True, False, True, True])
TRUE, FALSE = OPS["split_by_mask"](X, KEPT)
ONE_STEP = LoDTensor.from_lengths(np.arange(4), [4], [1, 1, 1, 1])
ONE_STEP_SCORES = LoDTensor(-np.arange(4.0), ONE_STEP.lod)


def several(names, *arguments):
    """Return the same arguments for several operators."""
    return dict.fromkeys(names.split(), lambda: arguments)


#: The arguments of each operator, made anew for each benchmark. Operators of a single LoDTensor have no entry; others
#: without one are called as in the example of their docstring.
ARGUMENTS = {
    **several("sigmoid tanh relu exp log sqrt sequence_softmax sequence_logsumexp sequence_cumsum sequence_sort", X),
    **several("sequence_argsort sequence_unique sequence_unique_all sequence_n_unique sequence_mode", X),
    **several("stop_gradient sequence_rank run_lengths sequence_var sequence_std sequence_diff sequence_shift", X),
    "fill_nan": lambda: (X,),
    "log_softmax": lambda: (WIDE,),
    "sequence_searchsorted": lambda: (X, X),
    "sequence_interp": lambda: (X, X, X),
    "sequence_accumulate": lambda: (X, np.maximum),
    "sequence_moving_average": lambda: (X, 0.5),
    "sequence_rolling": lambda: (X, 2),
    "sliding_window": lambda: (X, 2),
    "repeat_runs": lambda: (X, NUMBERS),
    "sequence_quantile": lambda: (X, 0.5),
    **several("sequence_prod sequence_pad sequence_reverse by_position drop_level rows logical_not", X),
    **several("add minus mul div less_than less_equal_than greater_than greater_equal_than equal not_equal", X, 2.0),
    **several("logical_and logical_or", X, X),
    **several("concat_batches sequence_concat", [X, X]),
    **several("tensor_array_size tensor_array_sizes tensor_array_concat tensor_array_rank", STEPS),
    **several("lod_num lod_positions lod_segment_ids sequence_pairs", X),
    "arange": lambda: (np.arange(4),),
    "argwhere": lambda: (X,),
    "cartesian": lambda: (X, X),
    "beam_search": lambda: (np.ones(4, int), np.zeros(4), None, LoDTensor.from_lengths(DENSE, [4]), 4, 0),
    "beam_search_decode": lambda: ([ONE_STEP], [ONE_STEP_SCORES], 4, 0),
    "cast": lambda: (X, np.float32),
    "combination_places": lambda: (X, 3, 2),
    "concat_values": lambda: ([WIDE, WIDE], 1),
    "cross_entropy": lambda: (DENSE, [0, 1, 2, 3]),
    "dot_attention": lambda: (DENSE, WIDE),
    "dropout": lambda: (WIDE, 0.5, np.random.default_rng(0)),
    "dynamic_gru": lambda: (LoDTensor(np.ones((len(WIDE.values), 6)), WIDE.lod), np.ones((2, 6))),
    "dynamic_lstm": lambda: (LoDTensor(np.ones((len(WIDE.values), 8)), WIDE.lod), np.ones((2, 8))),
    "elementwise": lambda: ([X, X], np.maximum),
    "embedding_bag": lambda: (np.ones((5, 4)), NUMBERS),
    "full_like": lambda: (X, 1),
    "gather_nested": lambda: (np.arange(5.0), NUMBERS),
    "gather_sequences": lambda: (X, [3, 0, 0, 2]),
    "group_rows": lambda: (np.array([3, 1, 3, 2]),),
    "index_values": lambda: (WIDE, [slice(None), 1]),
    "insert_level": lambda: (X, 0),
    "interleave_places": lambda: ([X, X],),
    "gru_layer": lambda: (WIDE, np.ones((4, 6)), np.ones((2, 6)), np.ones(6)),
    "last_of_steps": lambda: (STEPS, np.zeros(4), STEPS_MAP),
    "layer_norm": lambda: (WIDE, np.ones(4), np.zeros(4)),
    "linear": lambda: (WIDE, np.ones((4, 3)), np.zeros(3)),
    "lod_append": lambda: (NESTED,),
    "lod_lengths": lambda: (X,),
    "lod_rank_table": lambda: (X,),
    "structure_of": lambda: (X, "offsets"),
    "numpy_call": lambda: ([DENSE], "transpose", {"axes": (1, 0)}),
    "lod_reset": lambda: (X, None, LoD.from_lengths([5, 5])),
    "lookup_table": lambda: (np.ones((5, 4)), NUMBERS),
    "lstm_layer": lambda: (WIDE, np.ones((4, 8)), np.ones((2, 8)), np.ones(8)),
    "map_fn_results": lambda: (STEPS, Spec((None,), X.dtype, 1, LoDTensor), True),
    "match_keys": lambda: (np.array([3, 1, 2]), np.array([2, 3])),
    "matmul": lambda: (WIDE, DENSE),
    "merge_by_mask": lambda: (TRUE, FALSE, KEPT),
    "pick_along": lambda: (X, -1, 1),
    "pool_positions": lambda: (X, "sum"),
    "reduce_values": lambda: (X, "sum"),
    "refuse_empty": lambda: (X, "max"),
    "map_fn_size": lambda: (STEPS, STEPS, 1),
    "num_rows": lambda: (X,),
    "reshape": lambda: (DENSE, [-1]),
    "reshape_rows": lambda: (WIDE, (2, 2)),
    "rows_to_level": lambda: (WIDE,),
    "sample_places": lambda: (X, 0, 2),
    "sequence_bitwise": lambda: (NUMBERS, "xor"),
    "sequence_chunk": lambda: (X, 2),
    "sequence_repeat": lambda: (X, 2),
    "sequence_roll": lambda: (X, 1),
    "sequence_unflatten": lambda: (X, 1),
    "spread": lambda: (X, X),
    "transpose_rows": lambda: (WIDE, (1,)),
    "checked": lambda: (X, [np.arange(len(X))], "one_per_key", {"where": "checked", "name": "x"}),
    "reorder_by_rank": lambda: (X, TABLE),
    "row_conv": lambda: (WIDE, np.ones((2, 4))),
    "select_by_mask": lambda: (X, TRUTH),
    "sequence_conv": lambda: (WIDE, np.ones((12, 4)), 3),
    "sequence_enumerate": lambda: (NUMBERS, 2),
    "sequence_erase": lambda: (NUMBERS, [1, 2]),
    "sequence_expand": lambda: (X, X.lod),
    "sequence_expand_as": lambda: ([1.0, 2.0, 3.0, 4.0], X),
    "sequence_mask": lambda: (LENGTHS,),
    "sequence_matmul": lambda: (WIDE, WIDE, True),
    "sequence_place": lambda: (X, "argmax"),
    "sequence_pool": lambda: (X, "sum"),
    "sequence_reshape": lambda: (WIDE, 2),
    "sequence_scatter": lambda: (np.zeros((4, 5)), NUMBERS, X),
    "sequence_slice": lambda: (X, [1, 0, 0, 2], [1, 2, 0, 2]),
    "sequence_topk": lambda: (X, 2),
    "sequence_truth": lambda: (TRUTH, "any"),
    "sequence_unpad": lambda: (DENSE, LENGTHS),
    "shrink_memory": lambda: (DENSE, 2, TABLE),
    "simple_layer": lambda: (WIDE, np.ones((4, 2)), np.ones((2, 2)), np.ones(2)),
    "slice_along": lambda: (X, 0, 2, None, 1),
    "softmax": lambda: (WIDE,),
    "split_by_mask": lambda: (X, KEPT),
    "take_nested": lambda: (X, [[1, 0], [2], [], [0, 0, 3]]),
    "take_of_each": lambda: (X, [0, -1], 1),
    "tensor_array_fill": lambda: (TensorArray(), STEPS),
    "tensor_array_new": lambda: (3,),
    "tensor_array_pack": lambda: (STEPS, 0, STEPS_MAP),
    "tensor_array_read": lambda: (STEPS, 1),
    "tensor_array_stack": lambda: (TensorArray(unstack_from=DENSE),),
    "tensor_array_unpack": lambda: (X, 0),
    "tensor_array_unstack": lambda: (DENSE,),
    "tensor_array_write": lambda: (TensorArray(), 0, DENSE),
    "with_values": lambda: (X, np.ones(10)),
    "where": lambda: (TRUTH, X, 0.0),
    "zero_states": lambda: (4, 2),
}
ARGUMENTS |= {
    name: lambda: (X,)
    for name, op in OPS.items()
    if name not in ARGUMENTS and len(op.parameters) - len(op.defaults) == 1 and op.roles.get(op.parameters[0]) is Nested
}
#: The arguments that are passed by name.
KEYWORDS = {"lod_append": {"lengths": [1] * 10}}


def call_in_example(op):
    """Return the arguments of the first call of an operator in the example of its docstring, and those by name."""
    names = {}
    for example in doctest.DocTestParser().get_examples(op.__doc__ or ""):
        tree = ast.parse(example.source)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == op.__name__:
                call = ast.unparse(ast.Call(ast.Name("taken"), node.args, node.keywords))
                try:
                    return eval(call, names | {"taken": lambda *args, **kwargs: (args, kwargs)})
                except NameError:  # a call in a function of the example
                    continue
        exec(compile(tree, "<example>", "exec"), names)
    return None


for name, op in OPS.items():
    if name not in ARGUMENTS and (found := call_in_example(op)):
        ARGUMENTS[name], KEYWORDS[name] = (lambda args=found[0]: args), found[1]


class EachOperator:
    """Seconds of a call on 4 sequences of 10 rows in total."""

    params = sorted(ARGUMENTS)
    param_names = ["operator"]
    repeat = (5, 20, 0.2)
    rounds = 1
    warmup_time = 0.02

    def setup(self, name):
        self.function, self.arguments, self.keywords = OPS[name], ARGUMENTS[name](), KEYWORDS.get(name, {})

    def time_call(self, name):
        self.function(*self.arguments, **self.keywords)
