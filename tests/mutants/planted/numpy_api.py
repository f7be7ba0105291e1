"""Indexing, functions and methods as NumPy has them."""

from tests.mutants.mutant import Mutant

INDEXING = "lodcore/numpy_api/indexing.py"
PROTOCOLS = "lodcore/numpy_api/protocols.py"

TEST_AS_NUMPY = "tests/numpy_api/test_as_numpy.py"
TEST_INDEXING = "tests/numpy_api/test_indexing.py"
TEST_NUMPY_PAGE = "tests/numpy_api/test_numpy_page.py"
TEST_RECORDS = "tests/numpy_api/test_records.py"

MUTANTS = [
    Mutant(
        "array-equal-of-other-structures",
        "lodcore/numpy_api/functions.py",
        "or a1.lod != a2.lod:",
        "or a1.num_levels != a2.num_levels:",
        "tests/numpy_api/test_equal_structures.py",
    ),
    Mutant(
        "masks-of-another-length-beside-vectors",
        INDEXING,
        "    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (len(x),):",
        "    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.ndim != 1:",
        TEST_INDEXING,
    ),
    Mutant(
        "assigned-by-a-mask-of-another-structure",
        INDEXING,
        '    check_equal("assignment", x.lod, mask.lod, "mask"',
        '    check_equal("assignment", x.lod, x.lod, "mask"',
        TEST_INDEXING,
    ),
    Mutant(
        "assigned-structure-unchecked",
        INDEXING,
        ("    lod = None if isinstance(value, (int, float, np.generic)) else _kept(x.lod, chosen, count)\n"),
        "    lod = value.lod if isinstance(value, LoDTensor) else None\n",
        TEST_INDEXING,
    ),
    Mutant(
        "field-written-to-a-copy",
        INDEXING,
        "(lod_tensor_body.writable_values(found), found.lod)\n",
        "(found.values.copy(), found.lod)\n",
        TEST_RECORDS,
    ),
    Mutant(
        "masked-field-written-to-a-copy",
        INDEXING,
        "    rows, chosen = lod_tensor_body.writable_values(x), np.array",
        "    rows, chosen = np.array(x.values), np.array",
        TEST_RECORDS,
    ),
    Mutant(
        "clip-takes-the-lower-bound-last",
        "lodcore/numpy_api/number_by_number.py",
        (
            "    if low is not None:\n        a = ops.elementwise([a, low], np.maximum)\n"
            "    if high is not None:\n        a = ops.elementwise([a, high], np.minimum)\n"
        ),
        (
            "    if high is not None:\n        a = ops.elementwise([a, high], np.minimum)\n"
            "    if low is not None:\n        a = ops.elementwise([a, low], np.maximum)\n"
        ),
        TEST_AS_NUMPY,
    ),
    Mutant(
        "result-drops-the-structure",
        PROTOCOLS,
        "    if not isinstance(target, LoDTensor):\n",
        "    if target is None:\n",
        TEST_NUMPY_PAGE,
    ),
    Mutant(
        "all-values-by-default",
        PROTOCOLS,
        'return REDUCING[ufunc](*inputs, **{"axis": 0, **_without_defaults(kwargs)})',
        "return REDUCING[ufunc](*inputs, **_without_defaults(kwargs))",
        TEST_NUMPY_PAGE,
    ),
    Mutant(
        "one-side-of-a-comparison",
        PROTOCOLS,
        "    for one, other in ((x, y), (y, x)):\n        if type(other)",
        "    for one, other in ((x, y),):\n        if type(other)",
        "tests/testing/test_assertions.py",
    ),
    Mutant(
        "roll-along-several-axes-takes-the-first",
        "lodcore/numpy_api/shapes.py",
        'x = _moved(x, by, axis_of("roll", one, x.ndim), ',
        'x = _moved(x, shifts.ravel().tolist()[0], axis_of("roll", one, x.ndim), ',
        TEST_AS_NUMPY,
    ),
]
