"""Defects that would lose something silently, or give wrong advice."""

from tests.mutants.mutant import Mutant

ADVICE = "lodcore/numpy_api/advice.py"
ASSERTIONS = "lodcore/testing/assertions.py"
AXES = "lodcore/ops/reduce/axes.py"
AXES_OF_LEVELS = "lodcore/ops/reduce/reduce_values.py"
CALLER = "lodcore/base/caller.pyx"
DOORS = "lodcore/tensors/conversions.py"
INDEXING = "lodcore/numpy_api/indexing.py"
LOD = "lodcore/tensors/lod.py"
NESTED = "lodcore/tensors/nested.py"
NUMPY_API = "lodcore/numpy_api/protocols.py"
REDUCE = "lodcore/ops/reduce/reduce_values.py"
SEQUENCES = "lodcore/tensors/sequences.py"
TENSOR_CORE = "lodcore/tensors/lod_tensor_body.pyx"

MUTANTS = [
    Mutant(
        "records-compared-by-one-field",
        "lodcore/ops/elementwise/compare.py",
        "return operator.eq(np.asarray(x), np.asarray(y))",
        "return operator.eq(*[np.asarray(one)[np.asarray(one).dtype.names[0]] for one in (x, y)])",
        "tests/numpy_api/test_records.py",
    ),
    Mutant(
        "finite-numbers-become-infinite",
        "lodcore/operators/operands.py",
        'np.errstate(invalid="ignore", over="raise")',
        'np.errstate(invalid="ignore", over="ignore")',
        "tests/operators/test_empty_sequences.py",
    ),
    Mutant(
        "field-written-to-a-copy",
        INDEXING,
        "(lod_tensor_body.writable_values(found), found.lod)\n",
        "(found.values.copy(), found.lod)\n",
        "tests/numpy_api/test_records.py",
    ),
    Mutant(
        "masked-field-written-to-a-copy",
        INDEXING,
        "    rows, chosen = lod_tensor_body.writable_values(x), np.array",
        "    rows, chosen = np.array(x.values), np.array",
        "tests/numpy_api/test_records.py",
    ),
    Mutant(
        "field-that-is-not-looked-at-again",
        TENSOR_CORE,
        "            cnp.PyArray_CopyInto(self.array, self.field)\n",
        "            pass\n",
        "tests/numpy_api/test_records.py",
    ),
    Mutant(
        "last-sequence-that-differs",
        ASSERTIONS,
        "            s = int(np.argmax(differ))\n",
        "            s = int(np.flatnonzero(differ)[-1])\n",
        "tests/testing/test_assertions.py",
    ),
    Mutant(
        "place-of-the-sequence-before",
        ASSERTIONS,
        'above = int(np.searchsorted(offsets, at, "right")) - 1',
        'above = max(int(np.searchsorted(offsets, at, "left")) - 1, 0)',
        "tests/testing/test_assertions.py",
    ),
    Mutant(
        "empty-is-a-value-like-others",
        AXES_OF_LEVELS,
        "    if empty is not None:\n        return sequence_pool(x, name, empty, level)\n",
        "    initial = empty if initial is None else initial\n",
        "tests/operators/test_empty_sequences.py",
    ),
    Mutant(
        "a-billion-sequences",
        LOD,
        "count // FEW_ROWS > len(rows)",
        "count // FEW_ROWS > len(rows) * count",
        "tests/numpy_api/test_advice.py",
    ),
    Mutant(
        "path-of-a-value-backwards",
        NESTED,
        "for at in [j, *reversed(path)]",
        "for at in [*path, j]",
        "tests/numpy_api/test_advice.py",
    ),
    Mutant(
        "copy-that-counts-as-shared",
        NESTED,
        "    return buffers.bytes_between(rows, given) == 0 and rows.flags.writeable == given.flags.writeable\n",
        "    return True\n",
        "tests/numpy_api/test_advice.py",
    ),
    Mutant(
        "our-own-line-is-named",
        CALLER,
        'frozenset(("lodcore", "numpy", "contextlib", "functools"))',
        'frozenset(("numpy", "contextlib", "functools"))',
        "tests/numpy_api/test_warnings.py",
    ),
    Mutant(
        "setting-of-a-caller-forgotten",
        CALLER,
        "    if not asked or np.geterrcall() is not None:",
        "    if not asked:",
        "tests/numpy_api/test_warnings.py",
    ),
    Mutant(
        "setting-not-restored",
        CALLER,
        "        PyContextVar_Reset(SETTING, token)\n",
        "        pass\n",
        "tests/numpy_api/test_warnings.py",
    ),
    Mutant(
        "device-of-what-is-not-dense",
        DOORS,
        "class _NotDenseError(ShapeError, AttributeError):",
        "class _NotDenseError(ShapeError):",
        "tests/numpy_api/test_advice.py",
    ),
    Mutant(
        "neighbours-across-borders",
        "lodcore/base/other_names.py",
        '"trapezoid": "((x[:, 1:] + x[:, :-1]) / 2).sum(axis=1)"',
        '"trapezoid": "x.with_values((x.values[1:] + x.values[:-1]) / 2).sum(axis=1)"',
        "tests/numpy_api/test_advice.py",
    ),
    Mutant(
        "one-side-of-a-comparison",
        NUMPY_API,
        "    for one, other in ((x, y), (y, x)):\n        if type(other)",
        "    for one, other in ((x, y),):\n        if type(other)",
        "tests/testing/test_assertions.py",
    ),
]
