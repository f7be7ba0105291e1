"""Training: the loss decreases, resuming continues with the same bits; and errors of wrong calls of `lodcore.nn`."""

import doctest
import inspect

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, LoDError, LoDTensor, ShapeError, SparseTensor, nn, tree_leaves
from tests.helpers.wrong_calls import assert_refused, things

pytestmark = pytest.mark.not_on_reference  # too many rows for plain loops


@pytest.mark.parametrize("name", nn.__all__)
def test_public_names_have_examples_that_run(name):
    found = inspect.unwrap(getattr(nn, name))
    (example,) = doctest.DocTestFinder(recurse=False).find(found, name)
    assert example.examples, f"{name} shows no example"
    assert doctest.DocTestRunner().run(example).failed == 0


# -- stop and resume ---------------------------------------------------------------------------------------------------

WORDS, NORM, ADDITIVE, OUT = nn.Embedding(20, 6), nn.LayerNorm(6), nn.AdditiveAttention(6, 6, 5), nn.Linear(6, 2)
LENGTHS = np.random.default_rng(0).integers(0, 7, 60)
DOCUMENTS = LoDTensor.from_lengths(np.random.default_rng(1).integers(0, 20, LENGTHS.sum()), LENGTHS)
LABELS = (DOCUMENTS == 7).any(axis=1).astype(np.int64)


def loss(parameters, documents, labels, rng):
    x = NORM(parameters["norm"], nn.dropout(WORDS(parameters["words"], documents), 0.2, rng))
    query = np.zeros((len(documents), 1), np.float32) + parameters["query"]
    context = nn.dot_attention(query, x)[0] + ADDITIVE(parameters["additive"], query, x)[0]
    return lodcore.mean(nn.cross_entropy(OUT(parameters["out"], context), labels, label_smoothing=0.1))


def begin(optimizer):
    rng = np.random.default_rng(5)
    layers = {"words": WORDS, "norm": NORM, "additive": ADDITIVE, "out": OUT}
    parameters = {name: layer.init(rng) for name, layer in layers.items()}
    parameters["query"] = np.ones(6, np.float32)
    return {"parameters": parameters, "state": optimizer.init(parameters), "rng": rng.bit_generator.state}


def epoch(optimizer, at):
    """Run an epoch from its initial state; return the final state, and the mean loss."""
    parameters, state, rng = at["parameters"], at["state"], np.random.default_rng()
    rng.bit_generator.state = at["rng"]
    losses = []
    for index in np.split(rng.permutation(60), 6):
        value, gradients = lodcore.value_and_grad(loss)(parameters, DOCUMENTS[index], LABELS[index], rng)
        gradients, _ = nn.clip_by_global_norm(gradients, 0.5)
        parameters, state = optimizer.step(parameters, gradients, state)
        losses.append(float(value))
    return {"parameters": parameters, "state": state, "rng": rng.bit_generator.state}, np.mean(losses)


def bits(at):
    return [x.tobytes() if isinstance(x, np.ndarray) else x for x in tree_leaves(at)]


OPTIMIZERS = {
    "sgd": nn.SGD(0.1, momentum=0.9),
    "adam": nn.Adam(0.01),
    "adamw": nn.AdamW(nn.cosine_schedule(0.05, 40, warmup_steps=5)),
}


@pytest.mark.parametrize("form", ["npz", "folder"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_resumed_from_a_checkpoint_has_the_same_bits(name, form, tmp_path):
    optimizer, file = OPTIMIZERS[name], tmp_path / "checkpoint"
    at, _ = epoch(optimizer, begin(optimizer))
    lodcore.save(file, at, form=form)
    again = lodcore.load(file)
    assert bits(again) == bits(at)
    assert again["state"]["step"] == 6
    for _ in range(2):
        at, again = epoch(optimizer, at)[0], epoch(optimizer, again)[0]
    assert bits(again) == bits(at)
    assert again["state"]["step"] == 18


def test_training_decreases_the_loss():
    optimizer, losses = nn.Adam(0.02), []
    at = begin(optimizer)
    for _ in range(20):
        at, mean = epoch(optimizer, at)
        losses.append(mean)
    assert losses[-1] < 0.6 * losses[0]


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64])
def test_states_of_all_generators_survive(kind, tmp_path):
    rng = np.random.Generator(kind(3))
    rng.random(5, np.float32)
    lodcore.save(tmp_path / "rng.npz", rng.bit_generator.state)
    other = np.random.Generator(kind(4))
    other.bit_generator.state = lodcore.load(tmp_path / "rng.npz")
    np.testing.assert_array_equal(other.random(9, np.float32), rng.random(9, np.float32))


# -- sparse tensors in files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["npz", "folder"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
def test_sparse_tensors_survive(form, dtype, tmp_path):
    sparse = SparseTensor([4, 1, 4], np.arange(6).astype(dtype).reshape(3, 2), 2**40)
    tree = {"gradients": [sparse, np.ones(2)], "none": SparseTensor([], np.ones((0, 3)), 7)}
    lodcore.save(tmp_path / "tree", tree, form=form)
    found = lodcore.load(tmp_path / "tree")
    for one, other in [(found["gradients"][0], sparse), (found["none"], tree["none"])]:
        assert type(one) is SparseTensor
        assert (one.height, one.dtype) == (other.height, other.dtype)
        assert one.indices.tolist() == other.indices.tolist()
        assert one.values.tobytes() == other.values.tobytes()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("0x5", "0x3"), "is not a valid SparseTensor: .*indices: is 4 at position 0; there are 3 rows"),
        (('"0x5"', "5"), "is not a valid SparseTensor"),
        (('"0x5"', '"-0x5"'), "is not a valid SparseTensor.*height"),
        (('"indices": "tree/indices"', '"indices": "tree/sparse"'), "is not a valid SparseTensor"),
        (('"indices": "tree/indices"', '"indices": 3'), "names the array 3"),
    ],
)
def test_damaged_sparse_tensors(change, says, tmp_path):
    import zipfile

    file, damaged = tmp_path / "tree.npz", tmp_path / "damaged.npz"
    lodcore.save(file, {"tree": SparseTensor([4, 1], np.ones((2, 3)), 5)})
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(damaged, "w") as other:
        for name in archive.namelist():
            data = archive.read(name)
            if name == "lodcore.json":
                assert change[0].encode() in data
                data = data.replace(change[0].encode(), change[1].encode())
            other.writestr(name, data)
    with pytest.raises(LoDError, match=says):
        lodcore.load(damaged)


# -- wrong calls -------------------------------------------------------------------------------------------------------

LINEAR = "nn.Linear(2, 3)({'weight': np.ones((2, 3)), 'bias': np.ones(3)}, "
ADDED = "nn.AdditiveAttention(2, 2, 3)(nn.AdditiveAttention(2, 2, 3).init(np.random.default_rng(0)), "
P = "{'w': np.ones(2)}"


def stepped(gradients, parameters=P, optimizer="nn.SGD(0.1)"):
    return f"{optimizer}.step({parameters}, {gradients}, {optimizer}.init({parameters}))"


WRONG = [
    ("nn.Linear(2.0, 3)", DTypeError, "Linear: n_in: is 2.0; an integer is needed"),
    ("nn.Linear(2, -1)", ValueError, "Linear: n_out: is -1; 0 or more is needed"),
    ("nn.Embedding(True, 1)", DTypeError, "Embedding: n_rows: is True"),
    ("nn.LayerNorm(2, eps=-1.0)", ValueError, "LayerNorm: eps: is -1.0; 0 or more is needed"),
    ("nn.AdditiveAttention(1, 2, 'a')", DTypeError, "AdditiveAttention: n_hidden: is 'a'"),
    ("nn.Linear(2, 3).init(0)", DTypeError, "Linear.init: rng: is int; a numpy.random.Generator is needed"),
    ("nn.Linear(2, 3).init(np.random.default_rng(0), int)", DTypeError, "dtype: is int64; float32 or float64"),
    ("nn.Linear(2, 3).init(np.random.default_rng(0), 'x')", DTypeError, "dtype: is 'x'"),
    (f"{LINEAR}np.ones((4, 3)))", ShapeError, r"Linear: x: has shape \(4, 3\); rows of 2 numbers are needed"),
    (f"{LINEAR}flat)", ShapeError, r"Linear: x: has shape \(5,\); rows of 2"),
    ("nn.Linear(2, 3)([], wide)", DTypeError, "Linear: parameters: is list; a dict of weight, bias is needed"),
    ("nn.Linear(2, 3)({'weight': 1}, wide)", KeyError, "Linear: parameters: has no 'bias'"),
    ("nn.Embedding(4, 3)({'table': dense}, flat)", ShapeError, r"table: has shape \(3, 4\); \(4, 3\) is needed"),
    ("nn.Embedding(3, 3)({'table': dense}, flat)", ShapeError, r"table: has shape \(3, 4\); \(3, 3\) is needed"),
    ("nn.Embedding(3, 4)({'table': dense[0]}, flat)", ShapeError, r"table: has shape \(4,\); \(3, 4\) is needed"),
    ("nn.LayerNorm(-1)", ValueError, "LayerNorm: width: is -1; 0 or more is needed"),
    ("nn.LayerNorm(2.0)", DTypeError, "LayerNorm: width: is 2.0; an integer is needed"),
    ("nn.Embedding(3, 4)({'table': dense}, flat)", IndexError, "ids: is 3 at position 2"),
    ("nn.LayerNorm(3)({'scale': np.ones(3), 'shift': np.ones(3)}, wide)", ShapeError, "LayerNorm: x: has shape"),
    ("nn.LayerNorm(2)({'scale': np.ones(3), 'shift': np.ones(2)}, wide)", ShapeError, r"scale: has shape \(3,\)"),
    (f"{ADDED}np.ones((3, 1)), wide)", ShapeError, "AdditiveAttention: query: has shape .*; rows of 2 numbers"),
    (f"{ADDED}np.ones((2, 2)), wide)", LoDError, "2 rows|3 sequences"),
    (f"{ADDED}np.ones((3, 2)), flat)", ShapeError, "AdditiveAttention.keys: memory: has shape"),
    (f"{ADDED}x.with_values(np.ones((6, 2))), wide)", LoDError, "query: has 2 levels; memory has 1"),
    ("nn.SGD('fast')", DTypeError, "SGD: learning_rate: is 'fast'; a number is needed"),
    ("nn.SGD(-0.1)", ValueError, "SGD: learning_rate: is -0.1; 0 or more is needed"),
    ("nn.SGD(0.1, momentum=2)", ValueError, "SGD: momentum: is 2; 0 .. 1 is valid"),
    ("nn.Adam(0.1, betas=0.9)", DTypeError, "Adam: betas: is 0.9; two numbers are needed"),
    ("nn.Adam(0.1, betas=(0.9, 0.99, 0.999))", DTypeError, r"Adam: betas: is \(0.9, 0.99, 0.999\); two numbers"),
    ("nn.Adam(0.1, betas=[0.9])", DTypeError, r"Adam: betas: is \[0.9\]; two numbers are needed"),
    ("nn.Adam(0.1, betas=(0.9, 1.0))", ValueError, r"Adam: betas\[1\]: is 1.0"),
    ("nn.AdamW(0.1, weight_decay=-1)", ValueError, "AdamW: weight_decay: is -1"),
    ("nn.SGD(lambda step: None).step({}, {}, {'step': 0})", DTypeError, "SGD.step: learning_rate: is None"),
    ("nn.SGD(lambda step: -1).step({}, {}, {'step': 0})", ValueError, "SGD.step: learning_rate: is -1"),
    ("nn.SGD(0.1).step({}, {}, {})", DTypeError, "SGD.step: state: is an empty dict; what `init` returns is needed"),
    (f"nn.Adam(0.1).step({P}, {P}, None)", DTypeError, "Adam.step: state: is NoneType"),
    (f"nn.Adam(0.1).step({P}, {P}, nn.SGD(0.1).init({P}))", DTypeError, "Adam.step: state: is a dict of step"),
    (stepped("{'v': np.ones(2)}"), ValueError, "SGD.step: gradients: is dict of 1; a dict with keys"),
    (stepped("[np.ones(2)]"), ValueError, "SGD.step: gradients: is list of 1"),
    (stepped("{'w': np.ones(3)}"), ShapeError, r"gradients\['w'\]: has shape \(3,\); the parameter has \(2,\)"),
    (stepped("{'w': flat}"), DTypeError, r"gradients\['w'\]: is LoDTensor; an ndarray or a SparseTensor is needed"),
    (stepped("{'w': 'flat'}"), DTypeError, r"gradients\['w'\]: is str; an ndarray or a SparseTensor is needed"),
    (stepped("{'w': np.array(['a', 'b'])}"), DTypeError, r"gradients\['w'\]: has dtype <U1; real numbers"),
    (stepped("{'w': np.ones(2)}", "{'w': np.ones(2, 'f2')}"), DTypeError, "parameter of dtype float16"),
    (stepped("{'w': np.ones(5)}", "{'w': flat}"), DTypeError, "parameter of LoDTensor"),
    (f"nn.Adam(0.1).step({P}, {P}, nn.Adam(0.1).init({{'w': np.ones(3)}}))", DTypeError, r"state of shape \(3,\)"),
    (f"nn.Adam(0.1).step({P}, {P}, nn.Adam(0.1).init([np.ones(2)]))", ValueError, r"state\['mean'\]: is list"),
    (
        "nn.SGD(0.1).step(np.broadcast_to(1.0, 2), np.ones(2), {'step': 0}, in_place=True)",
        ValueError,
        r"step: parameters.*: is read-only; in_place needs a writable array",
    ),
    *(
        (f"nn.Adam(0.1).step({P}, {P}, {{**nn.Adam(0.1).init({P}), 'mean': {{'w': {state}}}}})", DTypeError, says)
        for state, says in [
            ("np.ones(3)", r"has a state of shape \(3,\), float64; the parameter has shape \(2,\), float64"),
            ("np.ones(2, 'f4')", "has a state of shape .*, float32; the parameter"),
            ("[1.0, 1.0]", "state"),
            ("1.0", "has a state of float; the parameter"),
            ("None", "has a state of NoneType; the parameter"),
            ("flat", "has a state of LoDTensor; the parameter"),
        ]
    ),
    ("nn.clip_by_global_norm({}, 0)", ValueError, "clip_by_global_norm: limit: is 0; a number above 0 is needed"),
    ("nn.clip_by_global_norm({}, -1.0)", ValueError, "limit: is -1.0; a number above 0 is needed"),
    (
        f"nn.Adam(0.1).step({P}, {P}, {{**nn.Adam(0.1).init({P}), 'step': -1}})",
        ValueError,
        "Adam.step: state: has step -1; 0 or more is needed",
    ),
    ("nn.Adam(lr=0.1)", TypeError, "Adam: got an unexpected keyword argument 'lr'; use learning_rate="),
    ("nn.SGD(0.1, momentom=0.9)", TypeError, "SGD: got an unexpected keyword argument 'momentom'; use momentum="),
    ("nn.Linear(in_features=2)", TypeError, "Linear: got an unexpected keyword argument 'in_features'; use n_in="),
    ("nn.Linear(2, 3, bias=False)", TypeError, "Linear: .*'bias'; it always has one; leave it out"),
    ("nn.LSTM(2, hidden_size=3)", TypeError, "LSTM: .*'hidden_size'; use n_hidden="),
    ("nn.GRU(2, 3, num_layers=2)", TypeError, r"GRU: .*'num_layers'; lodcore.nn.Stacked\(layers\) runs several"),
    (
        "nn.LSTM(2, 3, bidirectional=True)",
        TypeError,
        r"'bidirectional'; lodcore.nn.Bidirectional\(layer\) runs both ways",
    ),
    ("nn.Embedding(2, 3, padding_idx=0)", TypeError, "Embedding: .*'padding_idx'; its arguments are n_rows, width"),
    ("nn.Dropout(p=0.1)", TypeError, "Dropout: .*'p'; use rate="),
    ("nn.clip_by_global_norm({}, 'a')", DTypeError, "limit: is 'a'; a number is needed"),
    ("nn.cosine_schedule(1.0, 3, warmup_steps=4)", ValueError, "cosine_schedule: warmup_steps: is 4; 0 .. 3 is valid"),
    ("nn.linear_schedule(None, 3)", DTypeError, "linear_schedule: peak: is None"),
    ("nn.inverse_root_schedule(1.0, 0)", ValueError, "warmup_steps: is 0; 1 or more is needed"),
    ("nn.step_schedule(1.0, -0.5, 3)", ValueError, "step_schedule: factor: is -0.5"),
    ("nn.nonsense", AttributeError, "nonsense"),
]


@pytest.mark.parametrize(("call", "error", "says"), WRONG, ids=[row[0] for row in WRONG])
def test_wrong_calls_of_nn_are_refused(call, error, says):
    assert_refused(call, things(), error, says)


def test_step_in_place_that_raises_leaves_parameters_and_state_unchanged():
    parameters = {"a": np.ones(2), "b": np.ones(3)}
    optimizer = nn.Adam(0.1)
    state = optimizer.init(parameters)
    with pytest.raises(ShapeError):
        optimizer.step(parameters, {"a": np.ones(2), "b": np.ones(2)}, state, in_place=True)
    assert all((x == 1).all() for x in parameters.values())
    assert not any(np.any(x) for x in tree_leaves(state))
