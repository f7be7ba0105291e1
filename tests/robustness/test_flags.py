"""What is True or False: anything else, such as the text of a setting, is refused where it is given."""

import inspect

import numpy as np
import pytest

import lodcore
from lodcore import batching, nn, ops
from lodcore.errors import DTypeError

X = lodcore.array([[1.0, 2.0, 3.0], [4.0]])
ROWS = lodcore.LoDTensor.from_lengths(np.ones((4, 1)), [3, 1])
WEIGHTS = {"w": np.ones(2)}
IDS = [[[5, 6], [7]]]


def program():
    """Return a Program of one operator, and its result."""
    made = lodcore.Program()
    with made:
        return made, lodcore.data("x", (None,), "float64", 1) * 2


def run(keep_scopes):
    """Run a Program."""
    made, result = program()
    return lodcore.Executor().run(made, {"x": X}, [result], keep_scopes=keep_scopes)


def declared(cast):
    """Declare data."""
    with lodcore.Program():
        return lodcore.data("x", (None,), "float64", cast=cast)


def adam(in_place):
    """Take a step."""
    made = nn.Adam(0.1)
    return made.step(WEIGHTS, WEIGHTS, made.init(WEIGHTS), in_place)


def layer(made, **settings):
    """Run a layer over sequences."""
    return made(made.init(np.random.default_rng(0), float), ROWS, **settings)


def cell(parameters, x, state):
    """Add up."""
    return x + state, x + state


# The name of the argument in the error, and a call that gives it.
CALLS = {
    "sequence_sort: descending": lambda v: ops.sequence_sort(X, descending=v),
    "sequence_argsort: descending": lambda v: ops.sequence_argsort(X, -1, v),
    "sequence_rank: descending": lambda v: ops.sequence_rank(X, descending=v),
    "sort_by_key: descending": lambda v: ops.sort_by_key(X, X, v),
    "sequence_pairs: replacement": lambda v: ops.sequence_pairs(X, v),
    "combinations: replacement": lambda v: ops.combinations(X, 2, v),
    "argcombinations: replacement": lambda v: ops.argcombinations(X, 3, v),
    "sequence_moving_average: adjust": lambda v: ops.sequence_moving_average(X, 0.5, v),
    "sequence_value_counts: sort": lambda v: ops.sequence_value_counts(X, sort=v),
    "sequence_split: keep": lambda v: ops.sequence_split(X, X > 1, keep=v),
    "sequence_quantile: skip_nan": lambda v: ops.sequence_quantile(X, 0.5, skip_nan=v),
    "sequence_median: skip_nan": lambda v: ops.sequence_median(X, skip_nan=v),
    "quantile: skip_nan": lambda v: ops.quantile(X, 0.5, 1, skip_nan=v),
    "sequence_matmul: transpose_y": lambda v: ops.sequence_matmul(ROWS, ROWS, v),
    "index_values: paired": lambda v: ops.index_values(np.ones(3), [np.array([1])], v),
    "insert_level: whole": lambda v: ops.insert_level(X, 0, v),
    "map_sequences: progress": lambda v: lodcore.map_sequences(len, X, progress=v),
    "dynamic_lstm: use_peepholes": lambda v: lodcore.dynamic_lstm(
        ROWS, np.ones((1, 4)), np.ones((1, 7)), use_peepholes=v
    ),
    "dynamic_lstm: is_reverse": lambda v: lodcore.dynamic_lstm(ROWS, np.ones((1, 4)), np.ones((1, 7)), is_reverse=v),
    "dynamic_gru: is_reverse": lambda v: lodcore.dynamic_gru(ROWS, np.ones((1, 3)), is_reverse=v),
    "dynamic_gru: origin_mode": lambda v: lodcore.dynamic_gru(ROWS, np.ones((1, 3)), origin_mode=v),
    "shrink_memory: check_order": lambda v: lodcore.shrink_memory(np.ones(2), 0, lodcore.lod_rank_table(X), v),
    "tensor_array_unpack: sort_by_length": lambda v: lodcore.tensor_array_unpack(X, 0, v),
    "tensor_array_write: data_shared": lambda v: lodcore.TensorArray().write(0, np.ones(2), v),
    "TensorArray: dynamic": lambda v: lodcore.TensorArray(3, v),
    "while_loop: recompute": lambda v: lodcore.while_loop([], recompute=v),
    "Executor.run: keep_scopes": run,
    "Program.clone: for_test": lambda v: program()[0].clone(v),
    "data: x: cast": declared,
    "value_and_grad: has_aux": lambda v: lodcore.value_and_grad(np.sum, has_aux=v),
    "LoDTensor: share": lambda v: lodcore.LoDTensor(np.ones(4), X.lod, share=v),
    "LoDTensor.to_padded: return_mask": lambda v: X.to_padded(return_mask=v),
    "LoDTensor.to_padded: keep_levels": lambda v: X.to_padded(keep_levels=v),
    "lodcore.save: compress": lambda v: lodcore.save("none", X, form="npz", compress=v),
    "lodcore.load: verify": lambda v: lodcore.load("none", verify=v),
    "LSTM: peepholes": lambda v: nn.LSTM(1, 2, v),
    "LSTM: is_reverse": lambda v: layer(nn.LSTM(1, 2), is_reverse=v),
    "GRU: origin_mode": lambda v: nn.GRU(1, 2, v),
    "GRU: is_reverse": lambda v: layer(nn.GRU(1, 2), is_reverse=v),
    "SimpleRNN: is_reverse": lambda v: layer(nn.SimpleRNN(1, 2), is_reverse=v),
    "Bidirectional: is_reverse": lambda v: layer(nn.Bidirectional(nn.GRU(1, 2)), is_reverse=v),
    "dynamic_rnn: is_reverse": lambda v: nn.dynamic_rnn(cell, None, ROWS, np.ones((2, 1)), is_reverse=v),
    "Adam.step: in_place": adam,
    "batches: shuffle": lambda v: batching.batches([3, 4], max_tokens=8, shuffle=v),
    "batches: drop_last": lambda v: batching.batches([3, 4], max_tokens=8, drop_last=v),
    "AttentionInputs.mask: causal": lambda v: batching.attention_inputs(IDS).mask(v),
    "attention_inputs: shift_labels": lambda v: batching.attention_inputs(IDS, shift_labels=v),
    "concat_and_cut: drop_last": lambda v: batching.concat_and_cut([[1, 2]], 2, drop_last=v),
    "average: returned": lambda v: np.average(X, 1, returned=v),
    "quantile: keepdims": lambda v: np.quantile(X, 0.5, 1, keepdims=v),
    "sum: keepdims": lambda v: np.sum(X, 1, keepdims=v),
    "nanmean: keepdims": lambda v: np.nanmean(X, 1, keepdims=v),
    "max: keepdims": lambda v: X.max(1, keepdims=v),
    "all: keepdims": lambda v: X.all(keepdims=v),
    "var: keepdims": lambda v: X.var(1, keepdims=v),
    "argmin: keepdims": lambda v: X.argmin(1, keepdims=v),
}


def message(call, given):
    """Return the text of the error for a flag that is none."""
    with pytest.raises(DTypeError) as caught:
        call(given)
    return str(caught.value)


@pytest.mark.parametrize("name", CALLS)
def test_flags_are_true_or_false(name):
    for given, text in [("no", "'no'"), (None, "None"), (2, "2"), (np.array([True, False]), "ndarray")]:
        assert message(CALLS[name], given) == f"{name}: is {text}; True or False is needed"


def test_settings_of_a_layer_are_kept_as_bools():
    assert repr(nn.LSTM(1, 2, np.True_)) == repr(nn.LSTM(1, 2, 1)) == repr(nn.LSTM(1, 2, True))


def test_flags_are_refused_where_a_call_is_recorded():
    with lodcore.Program():
        x = lodcore.data("x", (None,), "float64", 1)
        assert message(lambda v: ops.sequence_sort(x, descending=v), "no").startswith("sequence_sort: descending: is")
    spec = lodcore.Spec((None,), "float64", 1)
    assert message(lambda v: ops.sequence_sort.infer(spec, descending=v), "no").startswith("sequence_sort: descending:")


def test_every_public_flag_is_in_the_table():
    # Those of the contract of operators, of checks in tests and of NumPy, and what only others call.
    left = {"where", "copy", "subok", "described", "differentiable", "same_object", "by_spec"}
    left |= {"refuses_empty", "check_dtype", "equal_nan", "fresh", "enable_inheritance", "lists", "is_accumulated"}
    tried = {name.rpartition(": ")[2] for name in CALLS}
    for module in (lodcore, ops, nn, batching):
        for name in dir(module):
            one = getattr(module, name)
            for call in [one, *vars(one).values()] if inspect.isclass(one) else [one]:
                if callable(call) and not name.startswith("_"):
                    flags = [p.name for p in signature(call).parameters.values() if isinstance(p.default, bool)]
                    assert set(flags) - left <= tried, (name, call)


def signature(call):
    """Return the signature of a callable, an empty one of what has none."""
    try:
        return inspect.signature(call)
    except (TypeError, ValueError):
        return inspect.Signature()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_flags_of_tables(library):
    call = getattr(lodcore, f"to_{library}")
    assert message(lambda v: call(X, lists=v), "no") == f"lodcore.to_{library}: lists: is 'no'; True or False is needed"
