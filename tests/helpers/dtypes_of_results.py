"""The dtypes of the results of each operator for each dtype of its arguments: computed, and inferred.

The calls are small; their float tensors are converted to another dtype, or their integers if there are no floats.
`python -m tests.helpers.dtypes_of_results`, a part of `make pages`, writes `table_of_dtypes.py`, which is reviewed
against NumPy's rules when it changes: a new operator gets a row; a changed row is a change for users.
"""

import textwrap
import warnings
from pathlib import Path

import numpy as np

from asv_benchmarks.benchmarks.operators import NUMBERS, WIDE, X
from lodcore import LoDTensor, TensorArray
from lodcore.operators.registry import OPS
from lodcore.ops.elementwise.ufuncs import UFUNC_RULES
from lodcore.testing.rules import described
from lodcore.testing.samples import Sample, elements_of, several, with_tensors
from tests.helpers import table_of_dtypes
from tests.samples import SAMPLES

__all__ = ["CALLS", "SAME_EVERYWHERE", "inferred", "operator_of", "run", "samples_of", "written"]

DTYPES = ["?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "F", "D", "U3", "M8"]
NAMES = {"M8": "M8[s]"}
#: The dtype of the first tensor, and that of all others.
PAIRS = ["f4/f8", "f8/f4", "f2/f4", "f4/f2", "f4/i8", "i8/f4", "i4/u4", "u8/i8", "?/f2", "i2/?", "F/f8", "f4/D"]

#: Ufuncs that have the same dtypes in every NumPy.
SAME_EVERYWHERE = sorted(UFUNC_RULES.keys() - {"floor", "ceil", "trunc"})
POOLS = ["sum", "mean", "sqrt", "max", "min", "first", "last"]
#: Calls of an operator that may differ from each other, besides the timed one.
MORE = {
    **{f"sequence_pool {name}": (X, name) for name in POOLS},
    **{f"pool_positions {name}": (X, name) for name in ["sum", "mean", "max", "min"]},
    **{f"sequence_rolling {name}": (X, 2, name) for name in ["sum", "mean", "max", "min", "var", "std", "median"]},
    **{f"sequence_accumulate {ufunc.__name__}": (X, ufunc) for ufunc in (np.add, np.multiply, np.minimum, np.hypot)},
    **{f"sequence_quantile {name}": (X, 0.5, name) for name in ["linear", "lower", "midpoint", "inverted_cdf"]},
    **{
        f"reduce_values {name}": (WIDE, name, (1,))
        for name in ["sum", "prod", "mean", "max", "min", "any", "all", "argmax", "argmin"]
    },
    **{f"elementwise {name}": ([X] * getattr(np, name).nin, getattr(np, name)) for name in SAME_EVERYWHERE},
    "sequence_place argmin": (X, "argmin"),
    "sequence_truth all": (X, "all"),
    "embedding_bag mean": (np.ones((5, 4)), NUMBERS, "mean"),
    "sequence_diff twice": (X, 2),
    "sequence_moving_average adjusted": (X, 0.5, False),
    "cast f4": (X, np.float32),
    "full_like f4": (X, 1, np.float32),
}
CALLS = {
    **{name: samples.small for name, samples in SAMPLES.items()},
    **{name: lambda given=given: Sample(given, {}) for name, given in MORE.items()},
}


def operator_of(name):
    """Return the operator of a call."""
    return OPS[name.partition(" ")[0]]


def _tensors(sample):
    found = []
    with_tensors(sample, lambda x: found.append(x) or x)
    return [x for x in found if isinstance(x, (np.ndarray, LoDTensor))]


def with_dtypes(sample, first, others):
    """Make the same call with other dtypes; None if there is no tensor to convert."""
    tensors = _tensors(sample)
    kinds = "fc" if any(x.dtype.kind in "fc" for x in tensors) else "iub"
    count = sum(x.dtype.kind in kinds for x in tensors)
    if count == 0 or (others is not None and count == 1):
        return None
    dtypes = iter([first, *[first if others is None else others] * (count - 1)])

    def change(x):
        if isinstance(x, TensorArray) or x.dtype.kind not in kinds:
            return x
        return LoDTensor(_cast(x.values, next(dtypes)), x.lod) if isinstance(x, LoDTensor) else _cast(x, next(dtypes))

    return with_tensors(sample, change)


def _cast(values, dtype):
    return values.astype(np.int64).astype(NAMES.get(dtype, dtype)) if dtype[0] in "MU" else values.astype(dtype)


def _text(x):
    if isinstance(x, TensorArray):
        return "+".join(sorted({_text(element) for element in elements_of(x)}))
    dtype = getattr(x, "dtype", None)
    return type(x).__name__ if dtype is None else dtype.str.lstrip("<>|=").partition("[")[0]


def run(name, sample):
    """Return the dtypes of the results of a call, "-" if it raises."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return ",".join(map(_text, several(operator_of(name)(*sample.args, **sample.kwargs))))
    except (TypeError, ValueError):
        return "-"


def inferred(name, sample):
    """Return the dtypes that the Spec rule infers, "-" if it raises."""
    op = operator_of(name)
    try:
        found = op.infer_arguments(described(op, sample)[0])
    except (TypeError, ValueError):
        return "-"
    return ",".join(map(_text, several(found)))


def samples_of(name):
    """Make a call with each dtype, and with each pair of dtypes: a dict, empty if there are no tensors."""
    made = {dtype: with_dtypes(CALLS[name](), dtype, None) for dtype in DTYPES}
    made |= {pair: with_dtypes(CALLS[name](), *pair.split("/")) for pair in PAIRS}
    return {key: sample for key, sample in made.items() if sample is not None}


def written():
    """Parse the table: the dtypes of results of each call, by dtype or pair of dtypes."""
    table, names, complete = {}, [], True
    for line in table_of_dtypes.TABLE.strip().splitlines():
        if line.startswith(" "):
            complete = True
            for name in names:
                table.setdefault(name, {}).update(entry.split(":") for entry in line.split())
        else:
            names = [line] if complete else [*names, line]
            complete = False
    return table


def main():
    """Regenerate the table: calls with equal results, and the results."""
    groups = {}
    for name in CALLS:
        row = tuple((key, run(name, sample)) for key, sample in samples_of(name).items())
        groups.setdefault(row, []).append(name)
    lines = []
    for row, names in groups.items():
        if row:
            lines += names
            for part in (row[: len(DTYPES)], row[len(DTYPES) :]):
                text = " ".join(f"{key}:{given}" for key, given in part)
                lines += textwrap.wrap(text, 116, initial_indent="    ", subsequent_indent="    ")
    path = Path(table_of_dtypes.__file__)
    head = path.read_text(encoding="utf-8").partition('TABLE = """')[0]
    path.write_text(head + 'TABLE = """\n' + "\n".join(lines) + '\n"""\n', encoding="utf-8")


if __name__ == "__main__":
    main()
