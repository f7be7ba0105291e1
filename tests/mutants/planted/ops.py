"""The operators, folder by folder."""

from tests.mutants.mutant import Mutant

AXES = "lodcore/ops/reduce/axes.py"
EXPAND = "lodcore/ops/move/expand.py"
GATES = "lodcore/ops/networks/gates.py"
JOINED_ARRAYS = "lodcore/ops/arrays/joined_arrays.py"
MASKS = "lodcore/ops/move/masks.py"
MATH = "lodcore/ops/elementwise/math.py"
MATMUL = "lodcore/ops/networks/matmul.py"
NANS = "lodcore/ops/reduce/nans.py"
POOL = "lodcore/ops/reduce/pool.py"
POSITION = "lodcore/ops/move/position.py"
RECURRENT_LAYERS = "lodcore/ops/networks/recurrent_layers.py"
REDUCE_VALUES = "lodcore/ops/reduce/reduce_values.py"
SOFTMAX = "lodcore/ops/networks/softmax.py"
SORT = "lodcore/ops/order/sort.py"
TOKENS = "lodcore/ops/text/tokens.py"
UFUNCS = "lodcore/ops/elementwise/ufuncs.py"
WINDOW = "lodcore/ops/windows/window.py"
WORDS = "lodcore/ops/text/words.py"

TEST_AS_NUMPY = "tests/numpy_api/test_as_numpy.py"
TEST_AXES = "tests/ops/reduce/test_axes.py"
TEST_DTYPES = "tests/operators/test_dtypes_of_results.py"
TEST_MOVING = "tests/ops/move/test_moving.py"
TEST_NN = "tests/nn"
TEST_NUMPY_PAGE = "tests/numpy_api/test_numpy_page.py"
TEST_OPERATORS = "tests/operators/test_operators.py"
TEST_OPERATORS_TOO = "tests/operators/test_operators.py::test_gradients_are_derivatives[lodcore.kernels-pool_positions]"
TEST_POOL = "tests/ops/reduce/test_pool.py tests/operators/test_operators.py -k pool"
TEST_RECURRENT = "tests/nn/test_recurrent.py tests/nn/test_layers.py"
TEST_SOFTMAX = "tests/ops/networks/test_softmax.py tests/ops/order/test_sort.py"
TEST_TENSOR_ARRAY = "tests/tensors/test_tensor_array.py tests/tensors/test_tensor_array_machine.py"
TEST_TOKENS = "tests/ops/text/test_tokens.py"
TEST_UFUNCS = "tests/ops/elementwise/test_ufuncs.py"
TEST_WINDOW = "tests/ops/windows/test_window.py"
TEST_WORDS = "tests/ops/text/test_words.py"

MUTANTS = [
    Mutant(
        "elements-joined-along-the-first-axis-only",
        JOINED_ARRAYS,
        "    axis %= d.ndim\n",
        "    axis = 0\n",
        "tests/graph/loops/test_recorded_arrays.py tests/operators/test_operators.py",
    ),
    Mutant(
        "stale-stack",
        JOINED_ARRAYS,
        "isinstance(ta.untouched_source, np.ndarray):\n        return ta.untouched_source, []",
        ("isinstance(ta._source, np.ndarray) and len(ta._source) == ta.num_slots:\n        return ta._source, []"),
        TEST_TENSOR_ARRAY,
    ),
    Mutant(
        "stale-concat",
        JOINED_ARRAYS,
        "    source = ta.untouched_source\n",
        "    source = ta._source\n",
        TEST_TENSOR_ARRAY,
    ),
    Mutant(
        "overwritten-slot-gets-a-gradient",
        "lodcore/ops/arrays/tensor_arrays.py",
        "return d, None, d.pop(",
        "return d, None, d.get(",
        "tests/graph/loops/test_recorded_arrays.py",
    ),
    Mutant(
        "records-compared-by-one-field",
        "lodcore/ops/elementwise/compare.py",
        "return operator.eq(np.asarray(x), np.asarray(y))",
        "return operator.eq(*[np.asarray(one)[np.asarray(one).dtype.names[0]] for one in (x, y)])",
        "tests/numpy_api/test_records.py",
    ),
    Mutant(
        "half-is-dropped-whatever-the-rate",
        "lodcore/ops/elementwise/dropout.py",
        ">= np.float32(chance)",
        ">= np.float32(0.5)",
        TEST_NN,
    ),
    Mutant(
        "product-read-by-no-gradient",
        MATH,
        "def _(d: Array, x: Any, y: Any, needs: Any) -> tuple[Any, Any]:\n    return d * y",
        ("def _(d: Array, y: Any, out: Any, needs: Any) -> tuple[Any, Any]:\n    x = out\n    return d * y"),
        "tests/graph/loops/test_shared_operands.py",
    ),
    Mutant(
        "choice-goes-to-both",
        MATH,
        "np.where(condition, 0, d) if needs.y else None",
        "d if needs.y else None",
        "tests/operators/test_operators.py::test_gradients_are_derivatives[lodcore.kernels-where]",
    ),
    Mutant(
        "sigmoid-of-complex-numbers",
        MATH,
        'if x.dtype.kind == "c":  # abs',
        'if x.dtype.kind == "V":  # whose',
        TEST_DTYPES,
    ),
    Mutant(
        "derivative-of-abs-at-0",
        UFUNCS,
        '"absolute": lambda d, x: d * _direction(x),',
        '"absolute": lambda d, x: np.where(x < 0, -d, d),',
        TEST_UFUNCS,
    ),
    Mutant(
        "power-of-a-negative-base",
        UFUNCS,
        "d * out * np.log(np.where(np.greater(x, 0), x, 1))",
        "d * out * np.log(np.where(np.not_equal(x, 0), np.abs(x), 1))",
        TEST_UFUNCS,
    ),
    Mutant(
        "derivative-of-a-sign-at-0",
        UFUNCS,
        "(d * np.sign(x) * np.copysign(1, y), None)",
        "(d * np.copysign(1, x) * np.copysign(1, y), None)",
        TEST_UFUNCS,
    ),
    Mutant(
        "overlapping-windows-added-twice",
        "lodcore/ops/move/chunk.py",
        "starts = np.clip(starts, 0, np.maximum(over, 0)[sequences])",
        "starts = np.clip(starts, 0, lengths[sequences])",
        "tests/batching/test_chunks.py",
    ),
    Mutant(
        "expand-counts-the-wrong-level",
        EXPAND,
        ("return lod_tensor_body.gather(x, where, 0, sequence_numbers(lod_body.offsets_view(lod, k)), out)"),
        (
            "return lod_tensor_body.gather(x, where, 0, "
            "sequence_numbers(lod_body.offsets_view(lod, lod.num_levels - 1)), out)"
        ),
        ("tests/operators/test_operators.py::test_results_equal_the_oracle[lodcore.kernels-sequence_expand]"),
    ),
    Mutant(
        "gradient-of-reverse-is-not-reversed",
        EXPAND,
        'd_x: Array = compute(lod_tensor_body.new_tensor(d, out.lod), level, context.new("x")).values',
        "d_x = d",
        "tests/ops/move/test_gradients_of_moving.py",
    ),
    Mutant(
        "batches-of-other-dtypes-are-recorded",
        "lodcore/ops/move/gather.py",
        "        if (x.dtype, x.shape[1:]) != (xs[0].dtype, xs[0].shape[1:]):",
        "        if x.shape[1:] != xs[0].shape[1:]:",
        TEST_DTYPES,
    ),
    Mutant(
        "split-keeps-the-coarser-lengths",
        MASKS,
        "left[lod.offsets(k - 1)]]",
        "lod.offsets(k - 1)]",
        ("tests/operators/test_operators.py::test_results_equal_the_oracle[lodcore.kernels-split_by_mask]"),
    ),
    Mutant(
        "gradient-of-merge-for-the-other-side",
        MASKS,
        "return found[0], found[1], None",
        "return found[1], found[0], None",
        ("tests/operators/test_operators.py::test_gradients_are_derivatives[lodcore.kernels-merge_by_mask]"),
    ),
    Mutant(
        "gradient-of-the-filling-counts-rows-too",
        "lodcore/ops/move/pad.py",
        "np.ascontiguousarray(sums[1::2])",
        "np.ascontiguousarray(sums[::2])",
        TEST_MOVING,
    ),
    Mutant(
        "mean-of-positions-undivided-on-the-way-back",
        POSITION,
        "            given = given / places.astype(work)\n",
        "            given = given * 1\n",
        TEST_OPERATORS_TOO,
    ),
    Mutant(
        "extremes-of-positions-give-to-all",
        POSITION,
        "rows.reshape(-1)[places.reshape(-1)] = given.reshape(-1)",
        "rows[:] = given.max()",
        TEST_OPERATORS_TOO,
    ),
    Mutant(
        "rule-of-reset-forgets-y",
        "lodcore/ops/move/structure.py",
        "return levels_of(y) or int((y.kind if isinstance(y, Spec) else type(y)) is not LoD)",
        "return 1",
        (
            "tests/operators/test_operators.py::test_spec_and_lod_rules_hold_and_all_ways_agree"
            "[lodcore.kernels-lod_reset]"
        ),
    ),
    Mutant(
        "scale-of-attention-forgotten",
        "lodcore/ops/networks/attention.py",
        "return 1 / math.sqrt(width or 1)",
        "return 1.0",
        TEST_NN,
    ),
    Mutant(
        "bags-in-the-dtype-of-the-table",
        "lodcore/ops/networks/embedding.py",
        "    work = np.dtype(np.float64 if dtype.itemsize == 8 else np.float32)",
        "    work = np.dtype(np.float64 if rows.dtype.itemsize == 8 else np.float32)",
        "tests/ops/reduce/test_statistics.py",
    ),
    Mutant(
        "last-cells-in-another-order",
        GATES,
        "        made[bundle.order] = some\n",
        "        made[: len(some)] = some\n",
        TEST_RECURRENT,
    ),
    Mutant(
        "empty-sequences-lose-their-boot-cell",
        GATES,
        "made = boot.astype(dtype)",
        "made = np.zeros_like(boot, dtype)",
        TEST_RECURRENT,
    ),
    Mutant(
        "gradients-of-boot-states-by-rank",
        "lodcore/ops/networks/lstm.py",
        "d_h_0[bundle.order] = d_state",
        "d_h_0[: len(d_state)] = d_state",
        "tests/ops/networks/test_recurrent.py",
    ),
    Mutant(
        "matrix-of-each-row-unchecked",
        MATMUL,
        "if nested and len(right) > len(left):",
        "if nested and len(right) > len(left) + 1:",
        "tests/operators/test_operators.py::test_wrong_calls",
    ),
    Mutant(
        "one-matrix-a-row",
        MATMUL,
        "right[0] not in (1, None):",
        "right[0] not in (1, None, left[0]):",
        "tests/operators/test_alignment.py",
    ),
    Mutant(
        "only-the-first-block-for-scale",
        "lodcore/ops/networks/norm.py",
        "of_scale.sum(axis=0)",
        "of_scale[:1].sum(axis=0)",
        TEST_NN,
    ),
    Mutant(
        "peepholes-left-out-of-the-gradient-of-a-bias",
        RECURRENT_LAYERS,
        "np.concatenate([of.bias, of.peepholes])",
        "np.concatenate([of.bias, 0 * of.peepholes])",
        TEST_RECURRENT,
    ),
    Mutant(
        "a-layer-is-run-at-the-last-level-only",
        RECURRENT_LAYERS,
        "k = level_of(where, x.lod, level)\n",
        "k = x.num_levels - 1\n",
        TEST_RECURRENT,
    ),
    Mutant("a-bound-that-is-not-applied", RECURRENT_LAYERS, "return float(clip)", "return np.inf", TEST_RECURRENT),
    Mutant(
        "softmax-of-integers-is-integer",
        SOFTMAX,
        '    where = "sequence_softmax"\n    dtype = _reals_of(where, x.dtype)[1]',
        '    where = "sequence_softmax"\n    dtype = x.dtype',
        "tests/operators/test_operators.py -k softmax",
    ),
    Mutant(
        "logsumexp-keeps-its-level",
        SOFTMAX,
        '@operator(x=Nested, lod_rule=before("level"))\ndef sequence_logsumexp',
        "@operator(x=Nested)\ndef sequence_logsumexp",
        TEST_SOFTMAX,
    ),
    Mutant(
        "softmax-of-the-last-level",
        SOFTMAX,
        'kernels.softmax.softmax_rows, "ror", cells_of(values, work), below(lod, k), cells',
        ('kernels.softmax.softmax_rows, "ror", cells_of(values, work), below(lod, lod.num_levels - 1), cells'),
        "tests/operators/test_operators.py -k softmax",
    ),
    Mutant(
        "the-first-rows-of-a-last-step",
        "lodcore/ops/networks/states.py",
        "made[rank.order[start:stop]] = rows_of(element)[start:]",
        "made[rank.order[start:stop]] = rows_of(element)[: stop - start]",
        TEST_OPERATORS,
    ),
    Mutant(
        "near-keys-that-wrap",
        "lodcore/ops/order/group.py",
        "if keys.dtype == np.uint64 else",
        'if keys.dtype.kind in "iu" else',
        "tests/ops/order/test_group.py",
    ),
    Mutant(
        "sort-saves-no-order",
        "lodcore/ops/order/order.py",
        "if positions and target.size else None",
        "if positions and target.size > 1 else None",
        TEST_SOFTMAX,
    ),
    Mutant(
        "topk-level-of-the-last",
        SORT,
        'spec_rows(x), level_of("sequence_topk", x, level) + 1',
        'spec_rows(x), max(level_of("sequence_topk", x, level) + 1, x.num_levels)',
        "tests/operators/test_operators.py -k topk",
    ),
    Mutant(
        "topk-derivative-in-order",
        SORT,
        "below(lod, k), lod_body.offsets_view(positions.lod, k), places",
        "below(lod, k), lod_body.offsets_view(positions.lod, k), places * 0",
        TEST_SOFTMAX,
    ),
    Mutant(
        "freedom-not-taken-from-what-is-left",
        AXES,
        "    return choose(greater_than(count, 0), count, np.nan)",
        "    return choose(greater_than(total, 0), count, np.nan)",
        TEST_AXES,
    ),
    Mutant(
        "numbers-are-a-mask",
        AXES,
        "        if mask.dtype != np.bool_:\n",
        "        if mask.dtype.kind not in 'biuf':\n",
        TEST_AS_NUMPY,
    ),
    Mutant(
        "infinities-of-float16-are-filled",
        NANS,
        "        made = np.where(values == values, values, values.dtype.type(number))",
        "        made = np.nan_to_num(values, nan=number)",
        "tests/ops/reduce/test_nans.py",
    ),
    Mutant(
        "nan-is-filled-in-native-order-only",
        NANS,
        'np.require(given, given.dtype.newbyteorder("="), ["C", "A"])',
        'np.require(given, None, ["C", "A"])',
        "tests/operators/test_memory_layouts.py",
    ),
    Mutant(
        "gradient-of-the-mean-undivided",
        POOL,
        'over_sequences(kernels.pool.spread_rows, "so.r", given, offsets, DIVIDE[pool_type], rows)',
        'over_sequences(kernels.pool.spread_rows, "so.r", given, offsets, 0, rows)',
        TEST_POOL,
    ),
    Mutant(
        "pooling-ignores-finer-levels",
        POOL,
        "    offsets = below(lod, k)\n    row",
        "    offsets = lod_body.offsets_view(lod, k)\n    row",
        TEST_POOL,
    ),
    Mutant(
        "means-of-integers-are-integers",
        POOL,
        ('return (whole, dtype) if pool_type in ("max", "min") else (np.dtype(np.float64), np.dtype(np.float64))'),
        'return (whole, dtype) if pool_type in ("max", "min") else (np.dtype(np.float64), whole)',
        TEST_POOL,
    ),
    Mutant(
        "quantile-of-float16-is-float64",
        "lodcore/ops/reduce/quantiles.py",
        'kept = dtype.kind in "fmM" or method in TAKING',
        'kept = dtype.char in "fdmM" or method in TAKING',
        TEST_DTYPES,
    ),
    Mutant(
        "levels-kept-beside-axes-from-the-end",
        REDUCE_VALUES,
        "0 if 0 in chosen else x.num_levels",
        "0 if 0 in (axes or chosen) else x.num_levels",
        TEST_AXES,
    ),
    Mutant(
        "gradient-of-an-extreme-of-nothing",
        REDUCE_VALUES,
        "reshape(*[values.shape[axis] for axis in front], count)",
        "reshape(*[values.shape[axis] for axis in front], -1)",
        "tests/reference/test_cases.py",
    ),
    Mutant(
        "later-of-equal-extremes",
        REDUCE_VALUES,
        'place = INDEX[f"arg{name}"](values, -1, keepdims=True)',
        'place = values.shape[-1] - 1 - INDEX[f"arg{name}"](values[..., ::-1], -1, keepdims=True)',
        TEST_AXES,
    ),
    Mutant(
        "empty-sequence-has-a-maximum",
        REDUCE_VALUES,
        "        return sequence_pool(refuse_empty(x, name, level), name, level=level)",
        "        return sequence_pool(x, name, level=level)",
        TEST_NUMPY_PAGE,
    ),
    Mutant(
        "kept-axis-in-front",
        REDUCE_VALUES,
        "tuple(max(axis - 1, 0) for axis in axes)",
        "tuple(0 for axis in axes)",
        TEST_NUMPY_PAGE,
    ),
    Mutant(
        "variance-of-positions-of-the-wrong-axis",
        REDUCE_VALUES,
        "    for at in range(axis, last):\n",
        "    for at in range(x.num_levels - 1, last):\n",
        TEST_AS_NUMPY,
    ),
    Mutant(
        "empty-is-a-value-like-others",
        REDUCE_VALUES,
        "    if empty is not None:\n        return sequence_pool(x, name, empty, level)\n",
        "    initial = empty if initial is None else initial\n",
        "tests/operators/test_empty_sequences.py",
    ),
    Mutant(
        "windows-of-the-last-level",
        TOKENS,
        'lod_body.normalize_level(x.lod, level, "sequence_enumerate")',
        'lod_body.normalize_level(x.lod, -1, "sequence_enumerate")',
        ("tests/operators/test_operators.py::test_results_equal_the_oracle[lodcore.kernels-sequence_enumerate]"),
    ),
    Mutant(
        "pad-value-wraps-around",
        TOKENS,
        "    if not low <= number <= high:",
        "    if not low <= number:",
        TEST_OPERATORS,
    ),
    Mutant(
        "gradient-of-updates-not-summed",
        TOKENS,
        "else unbroadcast(taken, shape)",
        "else taken[:1].reshape(shape)",
        TEST_TOKENS,
    ),
    Mutant(
        "gradient-of-updates-of-the-first-line",
        TOKENS,
        "buffers.as_bytes(d_out)",
        "buffers.as_bytes(np.repeat(d_out[:1], len(d_out), 0))",
        TEST_TOKENS,
    ),
    Mutant(
        "counts-of-special-words-are-those-of-others",
        WORDS,
        "        met[known[known >= 0]] = counts[order][known >= 0]",
        "        met[known[known >= 0]] = counts[: len(order)][known >= 0]",
        TEST_WORDS,
    ),
    Mutant(
        "special-words-are-not-part-of-the-size",
        WORDS,
        '            kept = kept[: max(integer("Vocabulary.fit: max_size", max_size) - len(first), 0)]',
        ('            kept = kept[: max(integer("Vocabulary.fit: max_size", max_size) - (unknown is not None), 0)]'),
        TEST_WORDS,
    ),
    Mutant(
        "average-of-float16-is-float32",
        "lodcore/ops/windows/neighbours.py",
        "return float(alpha), _work(dtype), dtype",
        "return float(alpha), _work(dtype), _work(dtype)",
        TEST_DTYPES,
    ),
    Mutant(
        "a-rolling-std-spreads-nan-from-where-it-has-no-value",
        "lodcore/ops/windows/rolling.py",
        "            shares[constant], means[constant] = 0, 0",
        "            means[constant] = 0",
        "tests/operators/test_empty_sequences.py tests/ops/windows/test_rolling.py",
    ),
    Mutant(
        "useful-taps-end-one-early",
        WINDOW,
        "stop = max(min(length, longest - start), first)",
        "stop = max(min(length, longest - start - 1), first)",
        TEST_WINDOW,
    ),
    Mutant(
        "filter-gradient-of-the-last-block",
        WINDOW,
        "        d_filter += product",
        "        d_filter[...] = product",
        TEST_WINDOW,
    ),
    Mutant(
        "padding-gradient-of-the-wrong-end",
        WINDOW,
        "((sums[:before], 1 - length), (sums[before:], 0))",
        "((sums[:before], 0), (sums[before:], 1 - length))",
        "tests/operators/test_operators.py -k sequence_conv",
    ),
    Mutant(
        "conv-keeps-the-width",
        WINDOW,
        "return Spec((x.shape[0], weights.shape[1]), dtype)",
        "return Spec(x.shape, dtype)",
        TEST_OPERATORS,
    ),
    Mutant(
        "row-conv-of-the-last-level",
        WINDOW,
        'offsets = below(x.lod, lod_body.normalize_level(x.lod, level, "row_conv"))',
        'offsets = below(x.lod, lod_body.normalize_level(x.lod, -1, "row_conv"))',
        "tests/operators/test_operators.py::test_results_equal_the_oracle[lodcore.kernels-row_conv]",
    ),
]
