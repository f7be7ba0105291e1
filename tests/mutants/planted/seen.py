"""Defects that survived once: of kinks, structures, dtypes, layouts, and of numbers that are printed."""

from tests.mutants.mutant import Mutant

MUTANTS = [
    Mutant(
        "texts-of-nine-bytes-are-keys",
        "lodcore/kernels/order.pyx",
        "size > (8 if unit == 1 else 12)",
        "size > 12",
        "tests/ops/test_order.py",
    ),
    Mutant(
        "ties-of-a-full-beam-are-skipped",
        "lodcore/kernels/beam_cells.h",
        "passes |= !(row[c + k] < worst);",
        "passes |= row[c + k] > worst;",
        "tests/kernels/test_beam.py",
    ),
    Mutant(
        "padded-batches-with-lengths-of-0",
        "lodcore/kernels/packing.h",
        "padded ? after > 0 && held + 1 > budget / after : after > budget",
        "padded ? after > 0 && held + 1 > budget / after + (length == 0) : after > budget",
        "tests/kernels/test_packing.py",
    ),
    Mutant(
        "words-that-begin-alike-are-one",
        "lodcore/kernels/words.pyx",
        "if load(one, size, limit) != load(other, size, other_limit):\n            return False",
        "if load(one, size, limit) != load(other, size, other_limit):\n            return True",
        "tests/kernels/test_words.py",
    ),
    Mutant(
        "gradient-of-a-product-forgets-the-rest",
        "lodcore/kernels/product.pyx",
        "for r in range(bounds[s + 1] - 1, bounds[s] - 1, -1):\n                    made[r * width +"
        " c] = made[r * width + c] * product * last[s * width + c]",
        "for r in range(bounds[s + 1] - 1, bounds[s] - 1, -1):\n                    made[r * width +"
        " c] = made[r * width + c] * product * last[s * width + c] if made[r * width + c] != 0 else"
        " 0",
        "tests/ops/test_kinks.py",
    ),
    Mutant(
        "slope-of-abs-at-0",
        "lodcore/ops/ufuncs.py",
        '"absolute": lambda d, x: d * np.sign(x),',
        '"absolute": lambda d, x: np.where(x < 0, -d, d),',
        "tests/ops/test_slopes_of_ufuncs.py",
    ),
    Mutant(
        "power-of-a-negative-base",
        "lodcore/ops/ufuncs.py",
        "d * out * np.log(np.where(np.greater(x, 0), x, 1))",
        "d * out * np.log(np.where(np.not_equal(x, 0), np.abs(x), 1))",
        "tests/ops/test_slopes_of_ufuncs.py",
    ),
    Mutant(
        "slope-of-fmax-at-a-tie",
        "lodcore/ops/ufuncs.py",
        '"fmax": lambda d, x, y: _to_winner(d, ~((x >= y) | np.isnan(y)))',
        '"fmax": lambda d, x, y: _to_winner(d, ~((x > y) | np.isnan(y)))',
        "tests/ops/test_slopes_of_ufuncs.py",
    ),
    Mutant(
        "average-of-float16-is-float32",
        "lodcore/ops/neighbours.py",
        "return float(alpha), _work(dtype), dtype",
        "return float(alpha), _work(dtype), _work(dtype)",
        "tests/ops/test_dtypes.py",
    ),
    Mutant(
        "quantile-of-float16-is-float64",
        "lodcore/ops/order.py",
        'kept = dtype.kind == "f" or method in TAKING',
        'kept = dtype.char in "fd" or method in TAKING',
        "tests/ops/test_dtypes.py",
    ),
    Mutant(
        "a-level-too-many",
        "lodcore/tensors/core.pyx",
        "if k < -self._num_levels or k >= self._num_levels:",
        "if k < -self._num_levels - 1 or k >= self._num_levels:",
        "tests/ops/test_levels.py",
    ),
    Mutant(
        "only-the-last-of-small-steps",
        "lodcore/graph/back.pyx",
        "        calls.rows += cnp.PyArray_DIM(d, 0)\n        if calls.rows >= MANY:",
        "        calls.rows += cnp.PyArray_DIM(d, 0)\n        if calls.rows > MANY and len(calls.oth"
        "ers) > 64:\n            del calls.others[0], calls.cotangents[0]\n        if calls.rows >= M"
        "ANY:",
        "tests/graph/test_steady.py",
    ),
    Mutant(
        "clones-share-what-was-not-written",
        "lodcore/tensors/tensor_array.py",
        "elements = {at: _copied(element) for at, element in self.known_elements().items()}",
        "elements = {at: _copied(element) if at in self._items else element for at, element in self"
        ".known_elements().items()}",
        "tests/tensors/test_tensor_array.py",
    ),
    Mutant(
        "sizes-along-ragged-axes",
        "lodcore/ops/array.py",
        "if not -len(shape) <= axis < len(shape) or shape[axis] is None:",
        "if not -len(shape) <= axis < len(shape):",
        "tests/tensors/test_tensor_array.py",
    ),
    Mutant(
        "clip-takes-the-lower-bound-last",
        "lodcore/numpy_api/protocols.py",
        "    if low is not None:\n        a = ops.elementwise([a, low], np.maximum)\n    if high is n"
        "ot None:\n        a = ops.elementwise([a, high], np.minimum)\n",
        "    if high is not None:\n        a = ops.elementwise([a, high], np.minimum)\n    if low is "
        "not None:\n        a = ops.elementwise([a, low], np.maximum)\n",
        "tests/numpy_api/test_as_numpy.py",
    ),
    Mutant(
        "array-equal-of-other-structures",
        "lodcore/numpy_api/functions.py",
        "or a1.lod != a2.lod:",
        "or a1.num_levels != a2.num_levels:",
        "tests/numpy_api/test_equal_structures.py",
    ),
    Mutant(
        "roll-along-several-axes-takes-the-first",
        "lodcore/numpy_api/shapes.py",
        'x = _rolled(x, by, axis_of("roll", one, x.ndim))',
        'x = _rolled(x, shifts.ravel().tolist()[0], axis_of("roll", one, x.ndim))',
        "tests/numpy_api/test_as_numpy.py",
    ),
    Mutant(
        "ids-of-what-is-not-there-are-checked",
        "lodcore/interop/arrow_in.py",
        "checked = ids if there is None else ids[there]",
        "checked = ids",
        "tests/interop/test_arrow.py",
    ),
    Mutant(
        "hidden-list-views-keep-their-size",
        "lodcore/interop/arrow_in.py",
        "        begins[~there], sizes[~there] = 0, 0",
        "        begins[~there] = 0",
        "tests/interop/test_arrow.py",
    ),
    Mutant(
        "best-seed-for-the-mean",
        "lodcore/demo/vowels/__init__.py",
        "average = float(np.mean(accuracies))",
        "average = float(np.max(accuracies))",
        "tests/demo/test_numbers.py",
    ),
    Mutant(
        "least-difference-for-the-greatest",
        "lodcore/demo/glosses/agreement.py",
        "return float(np.abs(np.subtract(found, expected)).max())",
        "return float(np.abs(np.subtract(found, expected)).min())",
        "tests/demo/test_numbers.py",
    ),
    Mutant(
        "wrong-end-of-a-recording",
        "lodcore/demo/vowels/reservoir.py",
        '"first" if is_backward else "last"',
        '"last" if is_backward else "first"',
        "tests/demo/test_numbers.py",
    ),
    Mutant(
        "variance-of-a-window-of-infinity",
        "lodcore/kernels/rolling.pyx",
        "one.squares = one.first - one.first  # 0, but nan of what is not finite",
        "one.squares = 0",
        "tests/ops/test_kinks.py",
    ),
    Mutant(
        "sigmoid-of-complex-numbers",
        "lodcore/ops/math.py",
        'if x.dtype.kind == "c":  # whose',
        'if x.dtype.kind == "V":  # whose',
        "tests/ops/test_dtypes.py",
    ),
    Mutant(
        "batches-of-other-dtypes-are-recorded",
        "lodcore/ops/gather.py",
        "        if (x.dtype, x.shape[1:]) != (xs[0].dtype, xs[0].shape[1:]):",
        "        if x.shape[1:] != xs[0].shape[1:]:",
        "tests/ops/test_dtypes.py",
    ),
    Mutant(
        "nan-is-filled-in-native-order-only",
        "lodcore/ops/nans.py",
        'np.require(given, given.dtype.newbyteorder("="), ["C", "A"])',
        'np.require(given, None, ["C", "A"])',
        "tests/ops/test_layouts.py",
    ),
    Mutant(
        "recorded-levels-are-not-checked",
        "lodcore/ops/lod_rules.py",
        "        if count:  # else",
        "        if not count:  # else",
        "tests/ops/test_levels.py",
    ),
    Mutant(
        "slope-of-a-sign-at-0",
        "lodcore/ops/ufuncs.py",
        "(d * np.sign(x) * np.copysign(1, y), None)",
        "(d * np.copysign(1, x) * np.copysign(1, y), None)",
        "tests/ops/test_slopes_of_ufuncs.py",
    ),
]
