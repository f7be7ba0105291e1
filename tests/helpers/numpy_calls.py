"""Calls of NumPy's functions by their rules, and the same calls of NumPy itself."""

from typing import Any, NamedTuple

import numpy as np


class NumpyCall(NamedTuple):
    """A call of `numpy_call`.

    Parameters
    ----------
    name : str
    shapes : list
        The shapes of the operands; an operand that is no shape is given as it is.
    options : dict
    numpy : callable
        The same call of NumPy.
    """

    name: str
    shapes: list[Any]
    options: dict[str, Any]
    numpy: Any


def rows(name, shapes, numpy, *options):
    """Return calls of a function with several options; shapes are the same."""
    return [NumpyCall(name, shapes, one, lambda *x, one=one: numpy(*x, **one)) for one in options]


def reduced(function):
    return lambda x, q, axis, method, keepdims: function(x, q, axis=axis, method=method, keepdims=keepdims)


def part_of(name):
    return lambda *x, **options: tuple(getattr(np.linalg, name)(*x, **options))


INDEX = np.array([[0, 2, 1], [1, 1, 0]])
EACH = np.array([2, 0, 1])
BOTH = {"n": None, "axis": 1, "norm": None}
#: Calls whose results have real numbers, and derivatives that can be measured entry by entry.
SMOOTH = [
    *rows("transpose", [(2, 3, 4)], np.transpose, {"axes": (2, 0, 1)}, {"axes": (0, 2, 1)}),
    *rows("broadcast_to", [(1, 3)], np.broadcast_to, {"shape": (2, 4, 3)}, {"shape": (0, 3)}),
    *rows("tile", [(2, 3)], np.tile, {"reps": (1, 2)}, {"reps": (2, 3, 1)}, {"reps": (0, 1)}),
    *rows("repeat", [(2, 3)], np.repeat, {"repeats": 2, "axis": 1}, {"repeats": (1, 0, 2), "axis": 1}),
    NumpyCall("repeat", [(3, 2), EACH], {"repeats": None, "axis": 0}, lambda x, by: np.repeat(x, by, 0)),
    *rows("roll", [(2, 3)], np.roll, {"shift": 2, "axis": None}, {"shift": (1, -1), "axis": (0, 1)}),
    *[
        NumpyCall(
            "pad",
            [(2, 3)],
            {"widths": ((1, 0), (2, 1)), "mode": mode, "constants": 7},
            lambda x, mode=mode: np.pad(
                x, ((1, 0), (2, 1)), mode, **({"constant_values": 7} if mode == "constant" else {})
            ),
        )
        for mode in ("constant", "edge", "reflect", "symmetric", "wrap")
    ],
    *rows("diag", [(3,)], np.diag, {"k": 0}, {"k": -2}),
    *rows(
        "diagonal",
        [(3, 4, 2)],
        np.diagonal,
        {"offset": 1, "axis1": 0, "axis2": 1},
        {"offset": -1, "axis1": 1, "axis2": 2},
        {"offset": 9, "axis1": 0, "axis2": 1},
    ),
    *rows("tril", [(2, 3, 4)], np.tril, {"k": 0}, {"k": -1}),
    *rows("triu", [(3, 4)], np.triu, {"k": 1}),
    *[
        NumpyCall(
            "split",
            [(2, 5)],
            {"sections": sections, "axis": 1, "equal": False},
            lambda x, s=sections: tuple(np.array_split(x, s, 1)),
        )
        for sections in (2, (1, 3), (3, 2), (7,), (-2,))
    ],
    *rows(
        "of_length",
        [(2, 3)],
        lambda x, **options: x,
        {"axis": 1, "least": 2, "exactly": False, "where": "f: x"},
        {"axis": 0, "least": 2, "exactly": True, "where": "f: x"},
    ),
    *rows("take_along_axis", [(2, 3), INDEX], np.take_along_axis, {"axis": 1}),
    NumpyCall(
        "einsum",
        [(2, 3), (3, 4)],
        {"subscripts": "ij,jk->ki", "optimize": False},
        lambda x, y: np.einsum("ij,jk->ki", x, y),
    ),
    NumpyCall("einsum", [(3, 3)], {"subscripts": "aa->", "optimize": False}, lambda x: np.einsum("ii", x)),
    NumpyCall("einsum", [(3, 3, 2)], {"subscripts": "aab->a", "optimize": False}, lambda x: np.einsum("aab->a", x)),
    NumpyCall(
        "einsum",
        [(2, 1), (1, 3), (2, 3)],
        {"subscripts": "ab,ab,ab->b", "optimize": True},
        lambda x, y, z: np.einsum("ab,ab,ab->b", x, y, z),
    ),
    NumpyCall(
        "tensordot",
        [(2, 3, 4), (4, 5, 2)],
        {"axes_a": (2, 0), "axes_b": (0, 2)},
        lambda x, y: np.tensordot(x, y, ([2, 0], [0, 2])),
    ),
    NumpyCall("tensordot", [(2,), (3,)], {"axes_a": (), "axes_b": ()}, lambda x, y: np.tensordot(x, y, 0)),
    NumpyCall("outer", [(2,), (3,)], {}, np.outer),
    *[
        NumpyCall("convolve", [(a,), (v,)], {"mode": mode}, lambda x, y, mode=mode: np.convolve(x, y, mode))
        for mode in ("full", "same", "valid")
        for a, v in ((5, 2), (2, 4), (3, 3))
    ],
    NumpyCall("linalg.inv", [(2, 3, 3)], {}, np.linalg.inv),
    NumpyCall("linalg.det", [(2, 3, 3)], {}, np.linalg.det),
    NumpyCall("linalg.slogdet", [(3, 3)], {}, part_of("slogdet")),
    NumpyCall("linalg.solve", [(3, 3), (2, 3, 2)], {}, np.linalg.solve),
    NumpyCall("linalg.pinv", [(4, 2)], {"rcond": None}, lambda x, **_: np.linalg.pinv(x)),
    NumpyCall("linalg.pinv", [(2, 3)], {"rcond": None}, lambda x, **_: np.linalg.pinv(x)),
    *rows("linalg.svd", [(3, 3)], part_of("svd"), {"full_matrices": True}, {"full_matrices": False}),
    *rows("linalg.svd", [(4, 2)], part_of("svd"), {"full_matrices": False}),
    *rows("linalg.svd", [(2, 3)], part_of("svd"), {"full_matrices": False}),
    NumpyCall("linalg.qr", [(4, 3)], {}, part_of("qr")),
    *[
        NumpyCall(
            "linalg.norm",
            [(2, 3)],
            {"axis": axis, "keepdims": kept},
            lambda x, axis=axis, kept=kept: np.linalg.norm(x, axis=axis if len(axis) > 1 else axis[0], keepdims=kept),
        )
        for axis, kept in (((0, 1), False), ((1,), True))
    ],
    *rows("sort", [(3, 4)], np.sort, {"axis": 0}, {"axis": 1}),
    *rows("partition", [(3, 4)], lambda x, kth, axis: np.sort(x, axis), {"kth": 1, "axis": 1}),
    *rows(
        "quantile",
        [(3, 4, 2)],
        reduced(np.quantile),
        {"q": 0.3, "axis": (1,), "method": "linear", "keepdims": False},
        {"q": (0.0, 0.5, 0.9), "axis": (0, 2), "method": "weibull", "keepdims": True},
        {"q": 0.4, "axis": (0, 1, 2), "method": "nearest", "keepdims": False},
    ),
    *rows(
        "nanquantile",
        [(3, 4)],
        reduced(np.nanquantile),
        {"q": (0.2, 0.7), "axis": (0,), "method": "linear", "keepdims": False},
    ),
    *[
        NumpyCall(
            name,
            [(3, 4)],
            {"q": 0.5, "axis": (1,), "method": "linear", "keepdims": kept},
            lambda x, function=function, kept=kept: function(x, axis=1, keepdims=kept),
        )
        for name, function, kept in (("median", np.median, True), ("nanmedian", np.nanmedian, False))
    ],
    *rows("cumsum", [(2, 3)], np.cumsum, {"axis": 0}, {"axis": 1}),
    *rows("cumprod", [(2, 3)], np.cumprod, {"axis": 1}),
    *rows("maximum.accumulate", [(3, 4)], np.maximum.accumulate, {"axis": 0}),
    *rows("minimum.accumulate", [(3, 4)], np.minimum.accumulate, {"axis": 1}),
    NumpyCall("sinc", [(2, 3)], {}, np.sinc),
    *rows("nan_to_num", [(2, 3)], np.nan_to_num, {"nan": 0.5, "posinf": None, "neginf": None}),
    NumpyCall("real", [(2, 3)], {}, np.real),
]

#: Calls whose results are indices or complex numbers, or whose derivatives are symmetric.
OTHERS = [
    NumpyCall("imag", [(2, 3)], {}, lambda x: np.imag(x) * 1),
    *rows("round", [(2, 3)], np.round, {"decimals": 1}, {"decimals": -1}),
    *rows("argsort", [(3, 4)], np.argsort, {"axis": 0, "kind": "stable"}),
    *rows("argpartition", [(3, 4)], lambda x, kth, axis: np.argsort(x, axis), {"kth": (1, 2), "axis": 1}),
    *rows("fft.fft", [(2, 5)], np.fft.fft, BOTH, {**BOTH, "n": 3, "norm": "ortho"}, {**BOTH, "n": 6, "axis": 0}),
    *rows("fft.ifft", [(2, 4)], np.fft.ifft, BOTH, {**BOTH, "norm": "forward"}),
    *rows("fft.rfft", [(2, 5)], np.fft.rfft, BOTH, {**BOTH, "n": 4}, {**BOTH, "n": 7, "norm": "ortho"}),
    *rows("fft.irfft", [(2, 4)], np.fft.irfft, BOTH, {**BOTH, "n": 5}, {**BOTH, "n": 9, "norm": "forward"}),
    NumpyCall("linalg.cholesky", [np.array([[4.0, 1], [1, 3]])], {}, np.linalg.cholesky),
    NumpyCall("linalg.eig", [np.array([[4.0, 1], [1, 3]])], {}, lambda x: tuple(one + 0j for one in np.linalg.eig(x))),
    *rows("linalg.eigh", [np.array([[4.0, 1], [1, 3]])], part_of("eigh"), {"UPLO": "L"}),
]
