"""Training that is stopped, saved, loaded and continued after every step has the same bits as without a stop."""

import io
import itertools
import pickle

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, nn, ops, tree_leaves, tree_map
from lodcore.ops.networks.matrix import SharedMatrix

pytestmark = pytest.mark.not_on_reference  # too many rows for plain loops

WIDTH = 40  # wide enough for the kernels of large matrices
LENGTHS = np.random.default_rng(0).integers(0, 6, 24)
ROWS = np.random.default_rng(1).standard_normal((LENGTHS.sum(), WIDTH))
IDS = LoDTensor.from_lengths(np.random.default_rng(2).integers(0, 30, LENGTHS.sum()), LENGTHS)


def over(layer, looped=False):
    """Return a network of a recurrent layer, fused or looped."""

    def run(parameters, x):
        outputs, last = nn.dynamic_rnn(layer.cell, parameters, x) if looped else layer(parameters, x)
        return lodcore.mean(outputs.values * outputs.values) + sum(lodcore.mean(one) for one in tree_leaves(last))

    return layer, run


def square(y):
    y = y.values if hasattr(y, "lod") else y
    return lodcore.mean(y * y)


class Own:
    """A cell of one's own, of several products."""

    def init(self, rng, dtype=np.float32):
        names = {"x": (WIDTH, WIDTH), "h": (WIDTH, WIDTH), "b": (WIDTH,)}
        return {name: (rng.standard_normal(shape) * 0.2).astype(dtype) for name, shape in names.items()}

    def cell(self, parameters, x, h):
        h = np.tanh(x @ parameters["x"] + h @ parameters["h"] + parameters["b"])
        return h, h

    def loss(self, parameters, x):
        start = np.zeros((len(LENGTHS), WIDTH), parameters["x"].dtype.newbyteorder("="))
        outputs, last = nn.dynamic_rnn(self.cell, parameters, x, start)
        return square(outputs) + lodcore.mean(last)


class Attention:
    """Attention of both kinds."""

    def __init__(self):
        self.layer = nn.AdditiveAttention(WIDTH, WIDTH, WIDTH)

    def init(self, rng, dtype=np.float32):
        return {"layer": self.layer.init(rng, dtype), "query": rng.standard_normal((len(LENGTHS), WIDTH)).astype(dtype)}

    def loss(self, parameters, x):
        context, _ = self.layer(parameters["layer"], parameters["query"], x)
        return square(context) + square(nn.dot_attention(parameters["query"], x)[0])


NETWORKS = {
    "simple": over(nn.SimpleRNN(WIDTH, WIDTH)),
    "lstm": over(nn.LSTM(WIDTH, WIDTH)),
    "peepholes": over(nn.LSTM(WIDTH, WIDTH, peepholes=True, projection=33, clip=0.5)),
    "gru": over(nn.GRU(WIDTH, WIDTH)),
    "bidirectional": over(nn.Bidirectional(nn.GRU(WIDTH, 33))),
    "stacked": over(nn.Stacked([nn.LSTM(WIDTH, 34), nn.GRU(34, 33)])),
    "simple looped": over(nn.SimpleRNN(WIDTH, WIDTH), True),
    "lstm looped": over(nn.LSTM(WIDTH, WIDTH), True),
    "gru looped": over(nn.GRU(WIDTH, WIDTH), True),
    "own": (Own(), Own().loss),
    "linear": (nn.Linear(WIDTH, WIDTH), lambda p, x: square(nn.Linear(WIDTH, WIDTH)(p, x))),
    "matmul": (nn.Linear(WIDTH, WIDTH), lambda p, x: square(ops.matmul(x, p["weight"]) + p["bias"])),
    "norm": (nn.LayerNorm(WIDTH), lambda p, x: square(nn.LayerNorm(WIDTH)(p, x))),
    "embedding": (nn.Embedding(30, WIDTH), lambda p, x: square(nn.Embedding(30, WIDTH)(p, IDS))),
    "attention": (Attention(), lambda p, x: Attention().loss(p, x)),
}
#: Those with products that NumPy computes: before 2.3, their last bits depend on the strides of the operands.
BY_NUMPY = ("matmul", "attention")
OPTIMIZERS = [nn.SGD(0.1), nn.SGD(0.1, momentum=0.9), nn.Adam(0.01), nn.AdamW(nn.cosine_schedule(0.05, 40))]


def strided(x):
    return np.repeat(x, 2, axis=-1)[..., ::2]


def unaligned(x):
    memory = np.zeros(x.nbytes + 1, np.uint8)
    made = memory[1:].view(x.dtype).reshape(x.shape)
    made[...] = x
    return made


def strides_matter():
    """Return whether the last bits of NumPy's products depend on the strides of the operands."""
    square = ROWS.T @ ROWS
    return not np.array_equal(ROWS @ strided(square), ROWS @ square)


LAYOUTS = [np.array, np.asfortranarray, strided, unaligned]


def bits(tree):
    return [
        x.astype(x.dtype.newbyteorder("<")).tobytes() if isinstance(x, np.ndarray) else x for x in tree_leaves(tree)
    ]


def saved(tree, form):
    """Save and load a tree, in memory."""
    if form == "pickle":
        return pickle.loads(pickle.dumps(tree))
    file = io.BytesIO()
    lodcore.save(file, tree)
    file.seek(0)
    return lodcore.load(file)


def check_resuming(name, optimizer, in_place, dtype, layout, form, steps=3):
    layer, loss = NETWORKS[name]
    x = LoDTensor.from_lengths(ROWS.astype(np.dtype(dtype).newbyteorder("=")), LENGTHS)
    parameters = tree_map(lambda one: layout(one.astype(dtype)), layer.init(np.random.default_rng(5)))
    at = {"parameters": parameters, "state": optimizer.init(parameters)}
    other = saved(at, form)
    for step in range(steps):
        both = []
        for one in (at, other):
            value, gradients = lodcore.value_and_grad(loss)(one["parameters"], x)
            gradients, _ = nn.clip_by_global_norm(gradients, 0.5)
            made = optimizer.step(one["parameters"], gradients, one["state"], in_place=in_place)
            both.append((float(value), dict(zip(("parameters", "state"), made, strict=True))))
        (value, at), (again, other) = both
        assert value == again, f"the loss of step {step}"
        assert bits(at) == bits(other), f"after step {step}"
        other = saved(other, form)


#: Each byte order and dtype with each layout; what else varies is taken in turn.
FORMS = list(itertools.product(("<f4", ">f4", "<f8", ">f8"), LAYOUTS))


@pytest.mark.parametrize("name", NETWORKS)
def test_training_goes_on_with_the_same_bits(name):
    first = 3 * list(NETWORKS).index(name)
    for at in range(first, first + 8):
        dtype, layout = FORMS[at * 7 % 16]
        if name in BY_NUMPY and strides_matter():
            layout = np.array
        optimizer, form = OPTIMIZERS[at % 4], ("npz", "pickle")[at % 3 // 2]
        check_resuming(name, optimizer, at // 4 % 2 == 1, dtype, layout, form)


def test_the_kernel_does_not_depend_on_where_an_array_came_from(monkeypatch):
    """The products of a loop are those of packed matrices, also for dtypes that are equal but not the same object."""
    layer, loss = NETWORKS["lstm looped"]
    parameters = layer.init(np.random.default_rng(5))
    x, counts = LoDTensor.from_lengths(ROWS.astype(np.float32), LENGTHS), []
    multiply, run_steps = SharedMatrix.forward, lodcore.kernels.machine.run_steps

    def counted(self, rows):
        made = multiply(self, rows)
        counts[-1] += made is not None
        return made

    def counted_steps(arrays, weights, *rest):
        counts[-1] += len(weights) * (len(rest[3]) - 1)
        return run_steps(arrays, weights, *rest)

    monkeypatch.setattr(SharedMatrix, "forward", counted)
    monkeypatch.setattr(lodcore.kernels.machine, "run_steps", counted_steps)
    for change in (
        lambda one: one,
        lambda one: pickle.loads(pickle.dumps(one)),
        lambda one: one.astype(">f4"),
        lambda one: one.view(one.dtype.newbyteorder("=")),
        strided,
    ):
        counts.append(0)
        lodcore.value_and_grad(loss)(tree_map(change, parameters), x)
    assert len(set(counts)) == 1
    assert counts[0] or not lodcore.kernels.matrix.is_fast()
