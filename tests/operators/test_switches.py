"""Options that are True or False, given as 1 and 0 or as numbers of NumPy: result, gradient and error are the same."""

import inspect

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, TensorArray, batching, nn, ops, vjp
from lodcore.operators.registry import OPS
from lodcore.testing.samples import bits

pytestmark = pytest.mark.not_on_reference  # options are handled above the kernels
RANDOM = np.random.default_rng(0)


def rows(*width, lengths=(3, 0, 1, 2)):
    return LoDTensor.from_lengths(RANDOM.normal(size=(6, *width)), lengths)


def shared(**options):
    """Write to an array; return whether it holds the same memory."""
    x, array = np.ones(2), TensorArray()
    lodcore.tensor_array_write(array, 0, x, **options)
    return np.shares_memory(array.read(0), x)


def written(**options):
    """Write past the end of an array."""
    array = lodcore.ops.arrays.tensor_arrays.tensor_array_new(1, **options)
    return lodcore.tensor_array_write(array, 3, 1.0)


X, FULL, TABLE = rows(), rows(2, lengths=(2, 1, 3)), lodcore.lod_rank_table(rows())
HOLES = X.with_values(np.array([1.0, np.nan, 3.0, 4.0, np.nan, 2.0]))
IN, LSTM, GRU, SQUARE = (RANDOM.normal(size=(2, k)) for k in (8, 8, 6, 2))
LAYER = {"weight_x": IN, "weight_h": LSTM, "bias": np.arange(14.0) / 14}
GRU_LAYER = {"weight_x": IN[:, :6], "weight_h": GRU, "bias": np.arange(6.0) / 6}
SCORES = LoDTensor.from_lengths(RANDOM.uniform(0.1, 1, (6, 3)), [3, 0, 1, 2])

#: The operator and its option: a call with the option, and the tensor that may have a gradient.
SWITCHES = {
    "sequence_matmul transpose_y": (lambda x, **o: lodcore.sequence_matmul(x, x, **o), rows(2)),
    "index_values paired": (lambda x, **o: ops.index_values(x, [slice(None), [0, 1, 0, 1, 1, 0]], **o), rows(2)),
    "insert_level whole": (lambda x, **o: ops.insert_level(x, 0, **o), X),
    "reduce_values keepdims": (lambda x, **o: ops.reduce_values(x, "sum", (1,), **o), rows(2)),
    "dynamic_lstm use_peepholes": (lambda x, **o: lodcore.dynamic_lstm(x, LSTM, LAYER["bias"], **o), rows(8)),
    "dynamic_lstm is_reverse": (lambda x, **o: lodcore.dynamic_lstm(x, LSTM, **o), rows(8)),
    "dynamic_gru is_reverse": (lambda x, **o: lodcore.dynamic_gru(x, GRU, **o), rows(6)),
    "dynamic_gru origin_mode": (lambda x, **o: lodcore.dynamic_gru(x, GRU, **o), rows(6)),
    "lstm_layer use_peepholes": (lambda x, **o: ops.lstm_layer(x, **LAYER, **o), rows(2)),
    "lstm_layer is_reverse": (lambda x, **o: ops.lstm_layer(x, IN, LSTM, np.ones(8), **o), rows(2)),
    "gru_layer origin_mode": (lambda x, **o: ops.gru_layer(x, **GRU_LAYER, **o), rows(2)),
    "gru_layer is_reverse": (lambda x, **o: ops.gru_layer(x, **GRU_LAYER, **o), rows(2)),
    "simple_layer is_reverse": (lambda x, **o: ops.simple_layer(x, SQUARE, SQUARE, np.ones(2), **o), rows(2)),
    "dynamic_rnn is_reverse": (lambda x, **o: nn.dynamic_rnn(nn.GRU(2, 2).cell, GRU_LAYER, x, **o), rows(2)),
    "sequence_argsort descending": (lodcore.sequence_argsort, X),
    "sequence_sort descending": (lodcore.sequence_sort, X),
    "sequence_rank descending": (lodcore.sequence_rank, None),
    "sort_by_key descending": (lambda x, **o: lodcore.sort_by_key(x, X, **o), rows()),
    "sequence_quantile skip_nan": (lambda x, **o: lodcore.sequence_quantile(x, 0.3, **o), HOLES),
    "sequence_median skip_nan": (lodcore.sequence_median, HOLES),
    "sequence_moving_average adjust": (lambda x, **o: lodcore.sequence_moving_average(x, 0.3, **o), X),
    "sequence_pairs replacement": (ops.sequence_pairs, X),
    "combination_places replacement": (lambda x, **o: ops.combination_places(x, 2, 0, **o), X),
    "combination_places of_batch": (lambda x, **o: ops.combination_places(x, 2, 0, **o), X),
    "combinations replacement": (lambda x, **o: lodcore.combinations(x, 3, **o), X),
    "argcombinations replacement": (lambda x, **o: lodcore.argcombinations(x, 3, **o), X),
    "tensor_array_new dynamic": (lambda x, **o: written(**o), None),
    "tensor_array_write data_shared": (lambda x, **o: shared(**o), None),
    "tensor_array_unpack sort_by_length": (lambda x, **o: lodcore.tensor_array_unpack(x, 0, **o)[1], X),
    "shrink_memory check_order": (lambda x, **o: lodcore.shrink_memory(x, 0, TABLE, **o), X),
    "beam_search is_accumulated": (
        lambda x, **o: lodcore.beam_search(np.arange(6), -np.arange(6.0), None, SCORES, 2, 9, **o),
        None,
    ),
    **{
        f"{name} keepdims along {axis}": (
            lambda x, name=name, axis=axis, **o: getattr(ops, name)(x, axis=axis, **o),
            FULL,
        )
        for name in ("sum", "mean", "max", "argmin", "nansum", "nanmean", "nanmax", "std", "nanvar", "any")
        for axis in (0, 1, 2)
    },
    "average keepdims": (lambda x, **o: ops.average(x, axis=1, **o), X),
    "average returned": (lambda x, **o: ops.average(x, axis=1, **o), X),
    "attention_inputs shift_labels": (lambda x, **o: batching.attention_inputs([[[1, 2], [3]]], **o)[:6], None),
    "concat_and_cut drop_last": (lambda x, **o: batching.concat_and_cut(x, 4, **o)[0], X),
    "to_padded return_mask": (lambda x, **o: x.to_padded(**o), None),
}
#: Integers are refused.
ONLY_BOOLS = {"sequence_matmul transpose_y"}
#: Written by the library itself.
INTERNAL = {"tensor_array_new repeated"}


def outcome(call, x, **options):
    """Return the bits of the results, and of a gradient; or the type of the error."""
    try:
        if x is None:
            return bits(call(X, **options))
        results, pullback = vjp(lambda x: call(x, **options), x)
        several = results if isinstance(results, tuple) else (results,)
        cotangents = [np.ones_like(getattr(one, "values", one)) for one in several]
        is_float = all(one.dtype.kind == "f" for one in cotangents)
        return bits(call(x, **options)), bits(results), bits(pullback(*cotangents)) if is_float else None
    except (TypeError, ValueError, IndexError) as error:
        return type(error)


def test_operators_with_a_bool_option_are_all_listed():
    found = {
        f"{name} {option}"
        for name, op in OPS.items()
        for option, parameter in inspect.signature(op).parameters.items()
        if isinstance(parameter.default, bool)
    }
    assert found - {*SWITCHES} == INTERNAL


@pytest.mark.parametrize("name", SWITCHES)
def test_bool_options_take_1_and_0_of_python_and_numpy(name):
    (call, x), option = SWITCHES[name], name.split()[1]
    wanted = [outcome(call, x, **{option: switch}) for switch in (False, True)]
    assert wanted[0] != wanted[1], "the option has no effect"
    for form in (int, np.bool_, np.int8):
        found = [outcome(call, x, **{option: form(switch)}) for switch in (False, True)]
        refused = name in ONLY_BOOLS and form is not np.bool_
        assert found == ([lodcore.DTypeError] * 2 if refused else wanted), form
