"""Every function of NumPy that runs on LoDTensors: its calls, and each of its options with effective values."""

__all__ = ["CALLS", "REFUSED", "WITHOUT_EFFECT"]

AXIS = {"axis": ["a"]}
KEPT = {"keepdims": ["True"]}
MASK = {"where": ["m"]}
TYPE = {"dtype": ["'f8'", "'i2'", "'c8'"]}
FIRST = {"initial": ["3"]}
JOINED = {**AXIS, **TYPE, "casting": ["'unsafe'", "'no'"]}
LIKE = {**TYPE, "order": ["'C'"], "subok": ["False"], "device": ["'cpu'"]}
QUANTILE = {**AXIS, **KEPT, "method": ["'lower'", "'midpoint'"], "overwrite_input": ["True"]}
CLOSE = {"rtol": ["99"], "atol": ["9"], "equal_nan": ["True"]}

#: The function: its required arguments, in one or more ways, and its options with values. In the calls x, y and z are
#: tensors (n and p have nan, g is complex, in v all are different), m is a mask, i a matrix, a an axis.
CALLS = {
    **dict.fromkeys(["sum", "prod"], (["x"], {**AXIS, **TYPE, **KEPT, **FIRST, **MASK})),
    "mean": (["x"], {**AXIS, **TYPE, **KEPT, **MASK}),
    **dict.fromkeys(["max", "min", "amax", "amin"], (["x"], {**AXIS, **KEPT, "initial": ["9", "-9"], **MASK})),
    "any": (["x", "~m | (x > 9)"], {**AXIS, **KEPT, **MASK}),
    "all": (["x", "m | (x > 9)"], {**AXIS, **KEPT, **MASK}),
    **dict.fromkeys(["argmax", "argmin"], (["x"], {**AXIS, **KEPT})),
    **dict.fromkeys(["var", "std"], (["x"], {**AXIS, **TYPE, "ddof": ["1"], **KEPT, **MASK})),
    **dict.fromkeys(["nansum", "nanprod"], (["n"], {**AXIS, **TYPE, **KEPT, **FIRST, **MASK})),
    "nanmean": (["n"], {**AXIS, **TYPE, **KEPT, **MASK}),
    **dict.fromkeys(["nanvar", "nanstd"], (["n"], {**AXIS, **TYPE, "ddof": ["1"], **KEPT, **MASK})),
    **dict.fromkeys(["nanmax", "nanmin"], (["n"], {**AXIS, **KEPT, "initial": ["9", "-9"], **MASK})),
    **dict.fromkeys(["nanargmax", "nanargmin"], (["n"], {**AXIS, **KEPT})),
    "count_nonzero": (["x"], {**AXIS, **KEPT}),
    "median": (["x"], {**AXIS, **KEPT, "overwrite_input": ["True"]}),
    "nanmedian": (["n"], {**AXIS, **KEPT, "overwrite_input": ["True"]}),
    "quantile": (["x, 0.3"], QUANTILE),
    "nanquantile": (["n, 0.3"], QUANTILE),
    "percentile": (["x, 30"], QUANTILE),
    "nanpercentile": (["n, 30"], QUANTILE),
    "ptp": (["x"], {**AXIS, **KEPT}),
    "average": (["x"], {**AXIS, "weights": ["z", "z + 1"], "returned": ["True"], **KEPT}),
    **dict.fromkeys(["cumsum", "cumprod"], (["x"], {**AXIS, **TYPE})),
    **dict.fromkeys(["nancumsum", "nancumprod"], (["n"], {**AXIS, **TYPE})),
    "diff": (["x"], {**AXIS, "n": ["0", "2"], "prepend": ["7", "y"], "append": ["8"]}),
    "ediff1d": (["x"], {"to_end": ["[7, 8]"], "to_begin": ["5"]}),
    "sort": (["x"], {**AXIS, "kind": ["'stable'"], "stable": ["True"]}),
    "argsort": (["v"], {**AXIS, "kind": ["'stable'"], "stable": ["True"]}),
    "partition": (["v, (0, 1, 2)"], {**AXIS, "kind": ["'introselect'"]}),
    "argpartition": (["v, (0, 1, 2)"], {**AXIS, "kind": ["'introselect'"]}),
    "take": (["x, [1, 0]", "x, 0"], AXIS),
    "take_along_axis": (["x, v.argsort(axis=a)"], AXIS),
    "unique": (
        ["x"],
        {**AXIS, **{f"return_{part}": ["True"] for part in ("index", "inverse", "counts")}, "sorted": ["True"]},
    ),
    "searchsorted": (["[0, 0, 1], x"], {"side": ["'right'"], "sorter": ["[2, 1, 0]"]}),
    "interp": (["x, [0, 1], [5, 6]"], {"left": ["-7"], "right": ["8"], "period": ["1.5"]}),
    "isin": (["x, [0, 1]"], {"invert": ["True"], "assume_unique": ["False"], "kind": ["'sort'"]}),
    "isclose": (["x, z", "p, p"], CLOSE),
    "allclose": (["x, z", "p, p"], CLOSE),
    "array_equal": (["n, n", "x, x", "x, y"], {"equal_nan": ["True"]}),
    "nan_to_num": (["p"], {"nan": ["7"], "posinf": ["8"], "neginf": ["9"], "copy": ["True"]}),
    "angle": (["g"], {"deg": ["True"]}),
    **dict.fromkeys(["real", "imag", "iscomplexobj", "isrealobj"], (["g", "x"], {})),
    **dict.fromkeys(["isneginf", "isposinf"], (["p"], {})),
    "clip": (["x", "x, 0, 1"], {"a_min": ["0", "z"], "a_max": ["1", "z"], "min": ["0", "z"], "max": ["1", "z"]}),
    **dict.fromkeys(["round", "around"], (["x"], {"decimals": ["1", "-1"]})),
    "copy": (["x"], {"order": ["'C'"], "subok": ["True"]}),
    **dict.fromkeys(["zeros_like", "ones_like", "empty_like"], (["x"], LIKE)),
    "full_like": (["x, 3"], LIKE),
    "astype": (["x, np.int8", "x, x.dtype"], {"copy": ["False"], "device": ["'cpu'"]}),
    "concatenate": (["[x, y]"], JOINED),
    "stack": (["[x, y]"], JOINED),
    "where": (["m", "m, x, z", "x, 1, y"], {}),
    "expand_dims": (["x, a"], {}),
    "flip": (["x"], AXIS),
    "dot": (["x, x.dtype.type(3)", "x, i"], {}),
    "tensordot": (["x, i"], {"axes": ["1"]}),
    "vecdot": (["x, y"], AXIS),
    "size": (["x"], AXIS),
    **dict.fromkeys(["shape", "ndim", "argwhere", "nonzero"], (["x"], {})),
    "result_type": (["x", "x, 'f8'", "'f4', x, 3"], {}),
    "tile": (["x, 2", "x, (2, 1)", "x, (2, 3)"], {}),
    "repeat": (["x, 2", "x, [1, 2]"], AXIS),
    "roll": (["x, 1", "x, -2"], AXIS),
    "squeeze": (["x", "x[..., :1]", "x[..., :1][..., None]"], {"axis": ["a"]}),
    "transpose": (["x"], {"axes": ["(0, 2, 1)", "(1, 0, 2)", "(1, 2, 0)", "(0, 1, 3, 2)"]}),
    "swapaxes": (["x, 1, 2", "x, 0, -1"], {}),
    "moveaxis": (["x, 0, 2", "x, -1, 0", "x, (0, 2), (1, 0)", "x, (0, 1), (2, 1)", "x, (0, 2), (2, 1)"], {}),
    "matrix_transpose": (["x"], {}),
    "reshape": (["x, -1", "x, (*x.shape[:-1], 1, -1)"], {"order": ["'C'"], "copy": ["True"]}),
    "broadcast_arrays": (["x, 1", "x, z"], {"subok": ["False"]}),
    "broadcast_to": (["x[..., :1], x.shape"], {"subok": ["False"]}),
}

#: Options that are refused for any value: the result is a new tensor, in the order of its rows.
REFUSED = {
    **{f"{name}.out": "np.empty(3)" for name in CALLS},
    **{f"{name}.shape": "(3,)" for name in ("zeros_like", "ones_like", "empty_like", "full_like")},
    **{f"{name}.order": "'x'" for name in ("sort", "argsort", "partition", "argpartition")},
    **{f"{name}.{option}": "1" for name in ("var", "std", "nanvar", "nanstd") for option in ("mean", "correction")},
    **{f"{name}.weights": "y" for name in CALLS if name.endswith(("quantile", "percentile"))},
    "take.mode": "'clip'",
    "unique.equal_nan": "False",
}

#: Options without an effect here; some have no effect in NumPy either.
WITHOUT_EFFECT = {
    *("order", "subok", "device", "copy", "kind", "stable", "sorted", "overwrite_input", "assume_unique"),
}
