"""Indexing, functions and methods as NumPy has them."""

DEFECTS = {
    ("lodcore/numpy_api/functions.py", "tests/numpy_api/test_equal_structures.py"): [
        ("array-equal-of-other-structures", "or a1.lod != a2.lod:", "or a1.num_levels != a2.num_levels:"),
    ],
    ("lodcore/numpy_api/indexing.py", "tests/numpy_api/test_indexing.py"): [
        (
            "masks-of-another-length-beside-vectors",
            "    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (len(x),):",
            "    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.ndim != 1:",
        ),
        (
            "assigned-by-a-mask-of-another-structure",
            '    check_equal("assignment", x.lod, mask.lod, "mask"',
            '    check_equal("assignment", x.lod, x.lod, "mask"',
        ),
        (
            "assigned-structure-unchecked",
            "    lod = None if isinstance(value, (int, float, np.generic)) else _kept(x.lod, chosen, count)\n",
            "    lod = value.lod if isinstance(value, LoDTensor) else None\n",
        ),
    ],
    ("lodcore/numpy_api/indexing.py", "tests/numpy_api/test_records.py"): [
        (
            "field-written-to-a-copy",
            "(lod_tensor_body.writable_values(found), found.lod)\n",
            "(found.values.copy(), found.lod)\n",
        ),
        (
            "masked-field-written-to-a-copy",
            "    rows, chosen = lod_tensor_body.writable_values(x), np.array",
            "    rows, chosen = np.array(x.values), np.array",
        ),
    ],
    ("lodcore/numpy_api/number_by_number.py", "tests/numpy_api/test_as_numpy.py"): [
        (
            "clip-takes-the-lower-bound-last",
            (
                "    if low is not None:\n"
                '        a = with_arguments({"x": "a", "y": "a_min"}, ops.elementwise, [a, low], np.maximum)\n'
                "    if high is not None:\n"
                '        a = with_arguments({"x": "a", "y": "a_max"}, ops.elementwise, [a, high], np.minimum)\n'
            ),
            (
                "    if high is not None:\n"
                '        a = with_arguments({"x": "a", "y": "a_max"}, ops.elementwise, [a, high], np.minimum)\n'
                "    if low is not None:\n"
                '        a = with_arguments({"x": "a", "y": "a_min"}, ops.elementwise, [a, low], np.maximum)\n'
            ),
        ),
    ],
    ("lodcore/numpy_api/protocols.py", "tests/numpy_api/test_numpy_page.py"): [
        ("result-drops-the-structure", "    if not isinstance(target, LoDTensor):\n", "    if target is None:\n"),
        (
            "all-values-by-default",
            'reduce, *inputs, **{"axis": 0, **_without_defaults(kwargs)})',
            "reduce, *inputs, **_without_defaults(kwargs))",
        ),
    ],
    ("lodcore/numpy_api/protocols.py", "tests/testing/test_assertions.py"): [
        (
            "one-side-of-a-comparison",
            "    for one, other in ((x, y), (y, x)):\n        if type(other)",
            "    for one, other in ((x, y),):\n        if type(other)",
        ),
    ],
    ("lodcore/numpy_api/shapes.py", "tests/numpy_api/test_as_numpy.py"): [
        (
            "roll-along-several-axes-takes-the-first",
            'x = _moved("roll: shift", x, by, axis_of("roll", one, x.ndim), ',
            'x = _moved("roll: shift", x, shifts.ravel().tolist()[0], axis_of("roll", one, x.ndim), ',
        ),
    ],
}
