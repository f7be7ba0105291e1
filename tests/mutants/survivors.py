"""Random defects that no test finds: the file, its line before and after, and why it survives."""

SURVIVORS = [
    (
        "lodcore/graph/gradients/grad_check.py",
        "if not wrong <= worst:",
        "if not wrong < worst:",
        "of several entries that are equally wrong another one is named",
    ),
    (
        "lodcore/operators/results.py",
        "if rows.ndim == 0 or len(rows) != source.num_rows:",
        "if rows.ndim <= 0 or len(rows) != source.num_rows:",
        "the same: no array has fewer axes than none",
    ),
    (
        "lodcore/tensors/tensor.py",
        "Array = np.ndarray[Any, Any]",
        "Array = np.ndarray",
        "a name for type checkers",
    ),
    (
        "lodcore/graph/gradients/backward_pass.pyx",
        "return type(x) is cnp.ndarray or type(x) in NUMBER_TYPES or not (isinstance(x, LoDTensor) or is_holder(x))",
        "return (type(x) is cnp.ndarray) or (type(x) in NUMBER_TYPES)",
        "options are no arrays then, and the calls of several steps are not joined: the same results, in more time",
    ),
]
