"""Lines of user code: the types that mypy and pyright infer, and the errors that they report; for `make types`."""

from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import lodcore
from lodcore import IndicesMap, LoD, LoDTensor, TensorArray

Array = npt.NDArray[Any]
Float = npt.NDArray[np.float32]
Truth = npt.NDArray[np.bool_]

x = lodcore.array([[1.0, 2.0], [], [3.0]])
f = lodcore.array([[1.0, 2.0], [], [3.0]], dtype=np.float32)
i = f.astype(np.int64)
w: npt.NDArray[np.float64] = np.ones(3)

# -- tensors of unknown dtype ------------------------------------------------------------------------------------------

assert_type(x, LoDTensor)
assert_type(x, LoDTensor[Any])
assert_type(x.lod, LoD)
assert_type(x.lengths, npt.NDArray[np.int64])
assert_type(x + 1, LoDTensor)
assert_type(1 - x, LoDTensor)
assert_type(x * w, LoDTensor)
assert_type(x > 1.0, LoDTensor[np.bool_])
assert_type(x == x, LoDTensor[np.bool_])
assert_type(-x, LoDTensor)
assert_type(x[0], LoDTensor | Array)
assert_type(x[0:2], LoDTensor)
assert_type(x.to_padded(), Array)
assert_type(x.to_padded(fill_value=-1, side="left", return_mask=True), tuple[Array, Truth])
assert_type(x.to_padded(min_length=4, mode="replicate", multiple_of=8), Array)
assert_type(x.tolist(), list[Any])
for sequence in x:
    assert_type(sequence, LoDTensor | Array)
assert_type(x.std(level=0), LoDTensor | Array)
assert_type(lodcore.ops.argmax(x, level=0, empty=-1), LoDTensor | Array)
assert_type(lodcore.group_by(["a", "b"], w), tuple[Array, LoDTensor])
assert_type(lodcore.group_by((["a"], [1]), w, x, order="first"), tuple[tuple[Array, ...], LoDTensor, LoDTensor])

assert_type(x.sum(), np.number[Any])
assert_type(x.mean(axis=1), LoDTensor | Array)
assert_type(x.sum(keepdims=True), LoDTensor | Array)
assert_type(x.argmax(axis=1), LoDTensor | Array)
assert_type(x.pool("mean"), LoDTensor | Array)

x.pool("avg")  # type: ignore[call-overload]
x.to_padded(side="middle")  # type: ignore[call-overload]
x.to_paded()  # type: ignore[attr-defined]

# -- tensors of a dtype --------------------------------------------------------------------------------------------

assert_type(f, LoDTensor[np.float32])
assert_type(f.dtype, np.dtype[np.float32])
assert_type(f.values, Float)
assert_type(LoDTensor(w, f.lod), LoDTensor[np.float64])
assert_type(LoDTensor.from_lengths(w, [2, 0, 1]), LoDTensor[np.float64])
assert_type(f + 1, LoDTensor[np.float32])
assert_type(1.5 * f, LoDTensor[np.float32])
assert_type(f * f, LoDTensor[np.float32])
assert_type(f * w, LoDTensor)  # float64 at run time, but the common dtype of two dtypes is not inferred
assert_type(f @ f.values, LoDTensor[np.float32])
assert_type(i + 1, LoDTensor[np.int64])
assert_type(i * 0.5, LoDTensor[np.float64])
assert_type(i / i, LoDTensor[np.float64])
assert_type(i & 1, LoDTensor[np.int64])
assert_type((f > 1) | (i == 2), LoDTensor[np.bool_])
assert_type(-f, LoDTensor[np.float32])
assert_type(f[0], LoDTensor[np.float32] | Float)
assert_type(f[0:2], LoDTensor[np.float32])
assert_type(f[f > 1], LoDTensor[np.float32])
assert_type(f.astype(np.float64), LoDTensor[np.float64])
assert_type(f.clone(), LoDTensor[np.float32])
assert_type(f.flatten(), LoDTensor[np.float32] | Float)
assert_type(f.to_padded(), Float)
assert_type(f.to_padded(return_mask=True), tuple[Float, Truth])
assert_type(f.to_regular(), Float)
for part in f:
    assert_type(part, LoDTensor[np.float32] | Float)


def halved(x: LoDTensor[np.floating[Any]]) -> LoDTensor[np.floating[Any]]:
    return x / 2


def any_dtype(x: LoDTensor) -> LoDTensor:
    return x * 2.0


halved(f)
halved(x)
any_dtype(i)
halved(i)  # type: ignore[arg-type]

# -- gradients -----------------------------------------------------------------------------------------------------


def doubled(x: LoDTensor[np.float32]) -> LoDTensor[np.float32]:
    return x * 2.0


def loss(w: npt.NDArray[np.float64], x: LoDTensor) -> float:
    return 0.0


y, pullback = lodcore.vjp(doubled, f)
assert_type(y, LoDTensor[np.float32])
assert_type(pullback(y), tuple[LoDTensor[np.float32]])
assert_type(lodcore.value_and_grad(loss)(w, x), tuple[float, npt.NDArray[np.float64]])
assert_type(lodcore.value_and_grad(loss, (0, 1))(w, x), tuple[float, tuple[Any, ...]])

score, pullback_of_both = lodcore.vjp(loss, w, x)  # where what f takes is not known in full, too
assert_type(score, float)
assert_type(pullback_of_both(1.0), tuple[npt.NDArray[np.float64], LoDTensor])
assert_type(lodcore.vjp(lambda a, b, c: a, w, w, w)[1](w), tuple[Any, ...])

lodcore.value_and_grad(loss)(x, w)  # type: ignore[arg-type]

# -- operators -----------------------------------------------------------------------------------------------------

assert_type(lodcore.sequence_pool(x, "sum"), LoDTensor | Array)
assert_type(lodcore.sequence_pool(f, "sum"), LoDTensor[np.float32] | Float)
assert_type(lodcore.sequence_pool(i, "mean"), LoDTensor | Array)
assert_type(lodcore.sequence_softmax(x), LoDTensor)
assert_type(lodcore.sequence_softmax(f), LoDTensor[np.float32])
assert_type(lodcore.gather_sequences(x, [1, 0]), LoDTensor)
assert_type(lodcore.gather_sequences(i, [1, 0]), LoDTensor[np.int64])
assert_type(lodcore.sequence_reverse(f[0]), LoDTensor[np.float32])
assert_type(lodcore.sequence_concat([f, f]), LoDTensor[np.float32])
assert_type(lodcore.tanh(x), LoDTensor)
assert_type(lodcore.tanh(f), LoDTensor[np.float32])
assert_type(lodcore.tanh(f.values), Float)
assert_type(lodcore.add(x, 1), LoDTensor)
assert_type(lodcore.add(1, x), LoDTensor)
assert_type(lodcore.greater_than(x, 1), LoDTensor[np.bool_])
assert_type(lodcore.ops.sum(x), np.number[Any])
assert_type(lodcore.ops.sum(x, axis=1), LoDTensor | Array)
assert_type(lodcore.sequence_topk(x, 1), tuple[LoDTensor, LoDTensor[np.int64]])
assert_type(lodcore.sequence_topk(f, 1), tuple[LoDTensor[np.float32], LoDTensor[np.int64]])
assert_type(lodcore.sequence_pad(f), tuple[Float, npt.NDArray[np.int64]])

assert_type(f.pool("sum"), LoDTensor[np.float32] | Float)
assert_type(f.softmax(), LoDTensor[np.float32])
assert_type(f.max(), np.float32)
assert_type(f.max(axis=1), LoDTensor[np.float32] | Float)
assert_type(f.with_values(w), LoDTensor[np.float64])
assert_type(lodcore.TensorArray.unpack(x, 0), tuple[TensorArray, IndicesMap])
assert_type(TensorArray().unstack(x), TensorArray)

lodcore.sequence_pol(x, "sum")  # type: ignore[attr-defined]
lodcore.sequence_pool(x, pool="sum")  # type: ignore[call-overload]
lodcore.sequence_pool(x, "avg")  # type: ignore[call-overload]
lodcore.gather_sequences(5, "a")  # type: ignore[arg-type]

# -- NumPy's functions: the types of its own stubs for objects with `__array__`; docs/numpy.md lists exact alternatives
# --

assert_type(np.tanh(f), Array)
np.add(f, 1)
np.sum(f, axis=1)
np.where(f > 1, f, 0.0)
assert_type(w * f.astype(np.float64), npt.NDArray[np.float64])  # in the other order it is a LoDTensor
