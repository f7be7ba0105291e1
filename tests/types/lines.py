"""Lines of users: what mypy and pyright make of each, and what they refuse; `make types` checks this file."""

from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import lodcore
from lodcore import LoD, LoDTensor

Array = npt.NDArray[Any]

x = lodcore.array([[1.0, 2.0], [], [3.0]])
w: npt.NDArray[np.float64] = np.ones(3)

# -- tensors -------------------------------------------------------------------------------------------------------

assert_type(x, LoDTensor)
assert_type(x.lod, LoD)
assert_type(x.lengths, npt.NDArray[np.int64])
assert_type(x + 1, LoDTensor)
assert_type(1 - x, LoDTensor)
assert_type(x * w, LoDTensor)
assert_type(x > 1.0, LoDTensor)
assert_type(x == x, LoDTensor)
assert_type(-x, LoDTensor)
assert_type(x[0], LoDTensor | Array)
assert_type(x[0:2], LoDTensor)
assert_type(x.to_padded(), Array)
assert_type(x.to_padded(fill_value=-1, side="left", return_mask=True), tuple[Array, npt.NDArray[np.bool_]])
assert_type(x.tolist(), list[Any])
for sequence in x:
    assert_type(sequence, LoDTensor | Array)

x.to_padded(side="middle")  # type: ignore[call-overload]
x.to_paded()  # type: ignore[attr-defined]

# -- gradients -----------------------------------------------------------------------------------------------------


def doubled(x: LoDTensor) -> LoDTensor:
    return x * 2.0


def loss(w: npt.NDArray[np.float64], x: LoDTensor) -> float:
    return 0.0


y, pullback = lodcore.vjp(doubled, x)
assert_type(y, LoDTensor)
assert_type(pullback(y), tuple[LoDTensor])
assert_type(lodcore.value_and_grad(loss)(w, x), tuple[float, npt.NDArray[np.float64]])
assert_type(lodcore.value_and_grad(loss, (0, 1))(w, x), tuple[float, tuple[Any, ...]])

lodcore.value_and_grad(loss)(x, w)  # type: ignore[arg-type]

# -- operators -----------------------------------------------------------------------------------------------------

assert_type(lodcore.sequence_pool(x, "sum"), LoDTensor | Array)
assert_type(lodcore.sequence_softmax(x), LoDTensor)
assert_type(lodcore.gather_sequences(x, [1, 0]), LoDTensor)
assert_type(lodcore.tanh(x), LoDTensor)
assert_type(lodcore.add(x, 1), LoDTensor)
assert_type(lodcore.add(1, x), LoDTensor)
assert_type(lodcore.ops.sum(x), np.number[Any])
assert_type(lodcore.ops.sum(x, axis=1), LoDTensor | Array)
assert_type(lodcore.sequence_topk(x, 1), tuple[LoDTensor, LoDTensor])
assert_type(np.tanh(x), Array)  # what NumPy says of its ufuncs; of lodcore.tanh it is exact

lodcore.sequence_pol(x, "sum")  # type: ignore[attr-defined]
lodcore.sequence_pool(x, pool="sum")  # type: ignore[call-arg]
lodcore.sequence_pool(x, "avg")  # type: ignore[arg-type]
lodcore.gather_sequences(5, "a")  # type: ignore[arg-type]
