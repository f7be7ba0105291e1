"""Defects that once survived: kinks, structures, dtypes, layouts, and printed numbers."""

from tests.mutants.mutant import Mutant

MUTANTS = [
    Mutant(
        "texts-of-nine-bytes-are-keys",
        "lodcore/kernels/order.pyx",
        "size > (8 if unit == 1 else 12)",
        "size > 12",
        "tests/ops/order/test_ordering.py",
    ),
    Mutant(
        "ties-of-a-full-beam-are-skipped",
        "lodcore/kernels/beams.pxd",
        "passes |= not (row[c + k] < worst)",
        "passes |= row[c + k] > worst",
        "tests/kernels/test_beam.py",
    ),
    Mutant(
        "padded-batches-with-lengths-of-0",
        "lodcore/kernels/fits.pxd",
        "full = held >= most",
        "full = held >= most + (length == 0)",
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
        "tests/operators/test_kinks.py",
    ),
    Mutant(
        "derivative-of-abs-at-0",
        "lodcore/ops/elementwise/ufuncs.py",
        '"absolute": lambda d, x: d * _direction(x),',
        '"absolute": lambda d, x: np.where(x < 0, -d, d),',
        "tests/ops/elementwise/test_ufuncs.py",
    ),
    Mutant(
        "power-of-a-negative-base",
        "lodcore/ops/elementwise/ufuncs.py",
        "d * out * np.log(np.where(np.greater(x, 0), x, 1))",
        "d * out * np.log(np.where(np.not_equal(x, 0), np.abs(x), 1))",
        "tests/ops/elementwise/test_ufuncs.py",
    ),
    Mutant(
        "average-of-float16-is-float32",
        "lodcore/ops/windows/neighbours.py",
        "return float(alpha), _work(dtype), dtype",
        "return float(alpha), _work(dtype), _work(dtype)",
        "tests/operators/test_dtypes.py",
    ),
    Mutant(
        "quantile-of-float16-is-float64",
        "lodcore/ops/reduce/quantiles.py",
        'kept = dtype.kind in "fmM" or method in TAKING',
        'kept = dtype.char in "fdmM" or method in TAKING',
        "tests/operators/test_dtypes.py",
    ),
    Mutant(
        "a-level-too-many",
        "lodcore/tensors/lod_body.pyx",
        "if k < -self.n_levels or k >= self.n_levels:",
        "if k < -self.n_levels - 1 or k >= self.n_levels:",
        "tests/operators/test_levels.py",
    ),
    Mutant(
        "clones-share-what-was-not-written",
        "lodcore/tensors/tensor_array.py",
        "elements = {at: copied(element) for at, element in self.known_elements().items()}",
        "elements = {at: copied(element) if at in self._items else element for at, element in self"
        ".known_elements().items()}",
        "tests/tensors/test_tensor_array.py",
    ),
    Mutant(
        "clip-takes-the-lower-bound-last",
        "lodcore/numpy_api/number_by_number.py",
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
        'x = _moved(x, by, axis_of("roll", one, x.ndim), ',
        'x = _moved(x, shifts.ravel().tolist()[0], axis_of("roll", one, x.ndim), ',
        "tests/numpy_api/test_as_numpy.py",
    ),
    Mutant(
        "hidden-list-views-keep-their-size",
        "lodcore/interop/arrow/importing.py",
        "        begins[~there], sizes[~there] = 0, 0",
        "        begins[~there] = 0",
        "tests/interop/arrow/test_interface.py",
    ),
    Mutant(
        "best-seed-for-the-mean",
        "lodcore/demo/vowels/page.py",
        "average = float(np.mean(accuracies))",
        "average = float(np.max(accuracies))",
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
        "one.squares = one.first - one.first  # 0, but nan if x is not finite",
        "one.squares = 0",
        "tests/operators/test_kinks.py",
    ),
    Mutant(
        "sigmoid-of-complex-numbers",
        "lodcore/ops/elementwise/math.py",
        'if x.dtype.kind == "c":  # abs',
        'if x.dtype.kind == "V":  # whose',
        "tests/operators/test_dtypes.py",
    ),
    Mutant(
        "batches-of-other-dtypes-are-recorded",
        "lodcore/ops/move/gather.py",
        "        if (x.dtype, x.shape[1:]) != (xs[0].dtype, xs[0].shape[1:]):",
        "        if x.shape[1:] != xs[0].shape[1:]:",
        "tests/operators/test_dtypes.py",
    ),
    Mutant(
        "nan-is-filled-in-native-order-only",
        "lodcore/ops/reduce/nans.py",
        'np.require(given, given.dtype.newbyteorder("="), ["C", "A"])',
        'np.require(given, None, ["C", "A"])',
        "tests/operators/test_layouts.py",
    ),
    Mutant(
        "recorded-levels-are-not-checked",
        "lodcore/operators/lod_rules.py",
        "        if count:  # otherwise",
        "        if not count:  # else",
        "tests/operators/test_levels.py",
    ),
    Mutant(
        "derivative-of-a-sign-at-0",
        "lodcore/ops/elementwise/ufuncs.py",
        "(d * np.sign(x) * np.copysign(1, y), None)",
        "(d * np.copysign(1, x) * np.copysign(1, y), None)",
        "tests/ops/elementwise/test_ufuncs.py",
    ),
]
