"""Defects of dense math, of indices, of reductions over ragged axes, and of NumPy's interface."""

from tests.mutants.mutant import Mutant

INDEX = "lodcore/kernels/index.pyx"
POSITION = "lodcore/kernels/position.pyx"
PRODUCT = "lodcore/kernels/product.pyx"
ALIGNMENT = "lodcore/operators/alignment.py"
AXES = "lodcore/ops/reduce/axes.py"
AXES_OF_LEVELS = "lodcore/ops/reduce/reduce_values.py"
COMMON = "lodcore/operators/operands.py"
OPS_DENSE = "lodcore/ops/networks/matmul.py"
OPS_INDEX = "lodcore/ops/index/index.py"
OPS_MATH = "lodcore/ops/elementwise/math.py"
OPS_POSITION = "lodcore/ops/move/position.py"
OPS_REDUCE = "lodcore/ops/reduce/reduce_values.py"
INDEXING = "lodcore/numpy_api/indexing.py"
NUMPY_API = "lodcore/numpy_api/protocols.py"
ROLES = "lodcore/operators/roles.py"
GRADIENTS = "tests/operators/test_operators.py::test_gradients_are_derivatives"

MUTANTS = [
    # -- kernels
    Mutant(
        "slice-that-ends-before-it-begins",
        INDEX,
        "last = clip(stop, length, first, length)",
        "last = clip(stop, length, 0, length)",
        "tests/kernels/test_index.py",
    ),
    Mutant(
        "last-stride-forgotten",
        INDEX,
        "total += (last - first - 1) // step + 1",
        "total += (last - first) // step",
        "tests/kernels/test_index.py",
    ),
    Mutant(
        "one-too-far-is-picked",
        INDEX,
        "            if number < -length or number >= length:\n                bad = s",
        "            if number < -length or number > length:\n                bad = s",
        "tests/kernels/test_index.py",
    ),
    Mutant(
        "run-up-to-the-end-has-none",
        INDEX,
        "            places[k] = size\n",
        "            places[k] = size - 1\n",
        "tests/kernels/test_index.py",
    ),
    Mutant(
        "gradient-of-a-product-divides-by-itself",
        PRODUCT,
        "made[r * width + c] = made[r * width + c] * product * last[s * width + c]",
        "made[r * width + c] = product * last[s * width + c]",
        "tests/kernels/test_product.py",
    ),
    # -- operands and their gradients
    Mutant(
        "wider-operand-mixes-rows",
        ALIGNMENT,
        "if axis > count and shapes[j][axis] not in (1, None):",
        "if axis > count + 1 and shapes[j][axis] not in (1, None):",
        "tests/operators/test_alignment.py",
    ),
    Mutant(
        "other-structure-is-taken",
        ALIGNMENT,
        "        if own is not lod:\n",
        "        if own is None:\n",
        "tests/operators/test_operators.py::test_wrong_calls",
    ),
    Mutant(
        "gradient-of-a-stretched-row",
        COMMON,
        "stretched = tuple(axis for axis, size in enumerate(shape) if size == 1 and gradient.shape[axis] != 1)",
        "stretched = tuple(axis for axis, size in enumerate(shape) if size == 1 and gradient.shape[axis] > 2)",
        GRADIENTS + "[lodcore.kernels-add]",
    ),
    Mutant(
        "choice-goes-to-both",
        OPS_MATH,
        "np.where(condition, 0, d) if needs.y else None",
        "d if needs.y else None",
        GRADIENTS + "[lodcore.kernels-where]",
    ),
    Mutant(
        "matrix-of-each-row-unchecked",
        OPS_DENSE,
        "if nested and len(right) > len(left):",
        "if nested and len(right) > len(left) + 1:",
        "tests/operators/test_operators.py::test_wrong_calls",
    ),
    Mutant(
        "one-matrix-a-row",
        OPS_DENSE,
        "right[0] not in (1, None):",
        "right[0] not in (1, None, left[0]):",
        "tests/operators/test_alignment.py",
    ),
    # -- indices
    Mutant(
        "mask-of-another-structure",
        OPS_INDEX,
        '        check_equal(where, lod_body.slice_levels(x.lod, 0, axis), mask.lod, "mask")\n',
        "",
        "tests/operators/test_operators.py::test_wrong_calls",
    ),
    Mutant(
        "truncated-when-written",
        COMMON,
        "    if (exact or text) and not np.array_equal(made, whole):",
        "    if (exact or text) and made.shape != whole.shape:",
        "tests/test_errors.py",
    ),
    # -- axes
    Mutant(
        "sums-of-positions-begin-with-nothing",
        POSITION,
        "                for i in range(reached, size):\n                    sum_of[i] = row[i]",
        "                for i in range(reached, size):\n                    sum_of[i] = 0 + row[i]",
        "tests/kernels/test_position.py",
    ),
    Mutant(
        "only-the-first-group-has-positions",
        POSITION,
        "            sum_of = sums + firsts[g] * width\n            reached = 0",
        "            sum_of = sums\n            reached = 0",
        "tests/kernels/test_position.py",
    ),
    Mutant(
        "shorter-sequences-forget-how-far-it-was",
        POSITION,
        "                    best[i] = row[i]\n                reached = max(reached, size)",
        "                    best[i] = row[i]\n                reached = size",
        "tests/kernels/test_position.py",
    ),
    Mutant(
        "mean-of-positions-undivided-on-the-way-back",
        OPS_POSITION,
        "            given = given / places.astype(work)\n",
        "            given = given * 1\n",
        GRADIENTS + "[lodcore.kernels-pool_positions]",
    ),
    Mutant(
        "extremes-of-positions-give-to-all",
        OPS_POSITION,
        "rows.reshape(-1)[places.reshape(-1)] = given.reshape(-1)",
        "rows[:] = given.max()",
        GRADIENTS + "[lodcore.kernels-pool_positions]",
    ),
    Mutant(
        "later-of-equal-extremes",
        OPS_REDUCE,
        'place = INDEX[f"arg{name}"](values, -1, keepdims=True)',
        'place = values.shape[-1] - 1 - INDEX[f"arg{name}"](values[..., ::-1], -1, keepdims=True)',
        "tests/numpy_api/test_axes.py",
    ),
    Mutant(
        "all-of-nothing-is-false",
        PRODUCT,
        "                found = every\n",
        "                found = every and bounds[s] < bounds[s + 1]\n",
        "tests/kernels/test_product.py",
    ),
    Mutant(
        "empty-sequence-has-a-maximum",
        AXES_OF_LEVELS,
        "        return sequence_pool(refuse_empty(x, name, level), name, level=level)",
        "        return sequence_pool(x, name, level=level)",
        "tests/numpy_api/test_numpy_page.py",
    ),
    Mutant(
        "kept-axis-in-front",
        AXES_OF_LEVELS,
        "tuple(max(axis - 1, 0) for axis in axes)",
        "tuple(0 for axis in axes)",
        "tests/numpy_api/test_numpy_page.py",
    ),
    Mutant(
        "mask-of-rows-forgets-one",
        "lodcore/kernels/masks.pxd",
        "    for r in range(n_rows):\n        if k == size:\n",
        "    for r in range(1, n_rows):\n        if k == size:\n",
        "tests/kernels/test_index.py",
    ),
    # -- NumPy's protocols
    Mutant(
        "result-drops-the-structure",
        NUMPY_API,
        "    if not isinstance(target, LoDTensor):\n",
        "    if target is None:\n",
        "tests/numpy_api/test_numpy_page.py",
    ),
    Mutant(
        "all-values-by-default",
        NUMPY_API,
        'return REDUCING[ufunc](*inputs, **{"axis": 0, **_without_defaults(kwargs)})',
        "return REDUCING[ufunc](*inputs, **_without_defaults(kwargs))",
        "tests/numpy_api/test_numpy_page.py",
    ),
    # -- lists that are recorded
    Mutant(
        "lists-of-integers-become-arrays",
        ROLES,
        '"Index", _copied, _stays, ',
        '"Index", as_array, _stays, ',
        "tests/operators/test_recorded_lists.py",
    ),
    Mutant(
        "lists-are-shared-with-who-records",
        ROLES,
        "return [_copied(where, x) if isinstance(x, (list, tuple)) else x for x in given]",
        "return given",
        "tests/operators/test_recorded_lists.py",
    ),
    Mutant(
        "empty-lists-keep-their-levels",
        ROLES,
        "            deeper = made[j].num_levels < spec.num_levels\n",
        "            deeper = False\n",
        "tests/operators/test_recorded_lists.py",
    ),
    # -- numbers of reductions
    Mutant(
        "initial-of-any-shape",
        "lodcore/ops/reduce/axes.py",
        '    if kept.ndim:\n        raise DTypeError(f"{name}: initial',
        '    if kept.ndim > 1:\n        raise DTypeError(f"{name}: initial',
        "tests/numpy_api/test_as_numpy.py",
    ),
    Mutant(
        "numbers-are-a-mask",
        AXES,
        "        if mask.dtype != np.bool_:\n",
        "        if mask.dtype.kind not in 'biuf':\n",
        "tests/numpy_api/test_as_numpy.py",
    ),
    Mutant(
        "variance-of-positions-of-the-wrong-axis",
        AXES_OF_LEVELS,
        "    for at in range(axis, last):\n",
        "    for at in range(x.num_levels - 1, last):\n",
        "tests/numpy_api/test_as_numpy.py",
    ),
    # -- assignment
    Mutant(
        "assigned-by-a-mask-of-another-structure",
        INDEXING,
        '    check_equal("assignment", x.lod, mask.lod, "mask"',
        '    check_equal("assignment", x.lod, x.lod, "mask"',
        "tests/numpy_api/test_indexing.py",
    ),
    Mutant(
        "assigned-structure-unchecked",
        INDEXING,
        "    lod = None if isinstance(value, (int, float, np.generic)) else _kept(x.lod, chosen, count)\n",
        "    lod = value.lod if isinstance(value, LoDTensor) else None\n",
        "tests/numpy_api/test_indexing.py",
    ),
]
