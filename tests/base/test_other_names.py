"""Names of other libraries: each says what to use here, which runs, is on the pages, and is no name of lodcore."""

import pickle
import re
import rlcompleter

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, nn
from lodcore.base.keywords import WITH_AXES, WITH_LEVELS
from lodcore.base.other_names import ATTRIBUTES, DENSE, FUNCTIONS, NAMES, NETWORKS
from lodcore.graph import Program, data, parameter
from tests.builds import other_names_pages as pages
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference


def names(folder):
    """Return what the expressions of the table may name."""
    x = lodcore.array([[3.0, 1.0], [], [2.0, 5.0, 4.0]])
    layer = nn.SimpleRNN(2, 2)
    steps, indices_map = lodcore.TensorArray.unpack(x, 0)
    return {
        "arrays": [np.ones(2), np.ones(3)],
        "bias": 1.0,
        "cell": layer.cell,
        "chosen": np.array([True, False, True]),
        "counts": [1, 1, 3],
        "deep": lodcore.array([[[1.0], []], [[2.0, 3.0]]]),
        "f": np.cumsum,
        "fill": 0.0,
        "file": folder / "file.npz",
        "ids": lodcore.array([[0, 1], [], [1]]),
        "index": [2, 0],
        "indices_map": indices_map,
        "keys": np.array([3, 1, 2]),
        "lengths": [2, 0, 3],
        "lists": [[1.0], []],
        "lodcore": lodcore,
        "loss": lambda x: (x * x).sum(),
        "mask": x > 2,
        "n": 2,
        "np": np,
        "offsets": [0, 2, 2, 5],
        "parameters": layer.init(np.random.default_rng(0), np.float64),
        "rows": [0, 0, 2, 2, 2],
        "state": np.zeros((3, 2)),
        "steps": steps,
        "table": np.ones((2, 3)),
        "times": np.sort(x, axis=1),
        "values": np.arange(5.0),
        "weight": np.ones((1, 2)),
        "x": x,
        "y": x + 1,
    }


#: Rows that need another library, an x of rows of two numbers, or keys of rows.
LIBRARIES = ("from_pandas", "pyarrow", "to_arrow", "to_torch")
WIDE = ("nn.dynamic_rnn", "nn.static_rnn", "fc")


@for_each("name", [("x", name) for name in ATTRIBUTES] + [("lodcore", name) for name in NAMES])
def test_the_replacement_named_for_an_unknown_name_runs(name, tmp_path):
    where, name = name
    instead, listed = (ATTRIBUTES if where == "x" else NAMES)[name]
    found = names(tmp_path)
    if any(one in instead or one == name for one in WIDE):
        found["x"] = LoDTensor(np.ones((5, 1 if name == "fc" else 2)), found["x"].lod)
        found["steps"] = np.ones((4, 3, 2))
    if "group_by" in instead:
        found["keys"] = np.array([1, 2, 1, 3, 1])
    code = instead.partition(";")[0]
    compile(code, name, "eval")
    if not any(one in code for one in LIBRARIES):
        eval(code, found)
    assert set(listed.split()) <= set(pages.PAGES)


#: A name, or a call, in what is said besides the expression.
NAMED = re.compile(r"\b(?:lodcore|np|x|steps)\.\w+(?:\.\w+)*(?:\([^()]*\))?")


@for_each("said", sorted({said for said, _ in [*ATTRIBUTES.values(), *NAMES.values()]} | {*FUNCTIONS.values()}))
def test_replacements_named_in_an_error_run(said, tmp_path):
    found = names(tmp_path) | {"steps": lodcore.TensorArray.unstack(np.ones((3, 2)))}
    for code in NAMED.findall(said.partition(";")[2]):
        if not any(one in code for one in LIBRARIES):
            eval(code, found)


@for_each("code", sorted({*WITH_AXES.values(), *(f"lodcore.{code}" for code in WITH_LEVELS.values())}))
def test_suggested_calls_for_unknown_keywords_run(code, tmp_path):
    eval(code, {**names(tmp_path), "q": 0.5})


@for_each("name", sorted(ATTRIBUTES))
def test_an_attribute_of_another_library_says_what_to_use(name):
    x = lodcore.array([[1.0], []])
    assert not hasattr(x, name)
    assert not hasattr(LoDTensor, name)
    with pytest.raises(AttributeError) as caught:
        getattr(x, name)
    assert str(caught.value) == f"'LoDTensor' object has no attribute '{name}'; use {ATTRIBUTES[name][0]}"
    assert (caught.value.name, caught.value.obj is x) == (name, True)


def test_an_error_that_an_attribute_of_a_subclass_raises_stays_what_it_is():
    """Also if another library has an attribute of this name."""

    class Odd(LoDTensor):
        @property
        def cat(self):
            raise AttributeError("this one has none")

    assert "cat" in ATTRIBUTES
    with pytest.raises(AttributeError, match=r"^this one has none$"):
        Odd(np.ones(1), lodcore.array([[1.0]]).lod).cat  # noqa: B018  it is read for its error


@for_each("name", sorted(NAMES))
def test_a_name_of_another_library_says_what_to_use(name):
    assert not hasattr(lodcore, name)
    with pytest.raises(AttributeError) as caught:
        getattr(lodcore, name)
    assert str(caught.value) == f"module 'lodcore' has no attribute '{name}'; use {NAMES[name][0]}"


def test_an_unknown_attribute_of_a_variable_says_what_to_use():
    with Program():
        v = data("v", (None,), "float64", num_levels=1)
        with pytest.raises(AttributeError, match=r"Variable v: has no 'median'; use lodcore\.sequence_median\("):
            v.median()
        with pytest.raises(AttributeError, match=r"Variable v: has no 'medain'; use an operator, or get\(\)"):
            v.medain()


@for_each("name", sorted({*DENSE, *ATTRIBUTES}))
def test_attributes_of_dense_variables_name_replacements_of_arrays(name, tmp_path):
    p = parameter(np.arange(6.0).reshape(2, 3))
    if hasattr(p, name):
        return
    with pytest.raises(AttributeError) as caught:
        getattr(p, name)
    said = str(caught.value).partition("; use ")[2]
    assert not re.search(r"sequence|lengths|offsets|padded|to_arrays|LoDTensor", said), said
    code = said.partition(", ")[0] if "get()" in said else said.partition(";")[0]
    if code != "an operator":
        x = np.arange(6.0).reshape(2, 3)
        found = names(tmp_path) | {"x": parameter(x), "y": x, "mask": x > 2, "shape": (3, 2), "loss": np.sum}
        found["index"] = [1, 0]
        eval(code, found)


def test_functions_of_numpy_say_what_to_use():
    x = lodcore.array([[1.0], []])
    for call, name in ((lambda: np.insert(x, 0, 1), "insert"), (lambda: np.corrcoef(x, x), "corrcoef")):
        with pytest.raises(TypeError) as caught:
            call()
        assert str(caught.value).endswith(f"use {FUNCTIONS[name]}")


@for_each("name", sorted(NETWORKS))
def test_names_of_layers_and_losses_of_torch_say_what_to_use(name):
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'; use ") as caught:
        getattr(lodcore.nn, name)
    assert callable(eval(str(caught.value).partition("; use ")[2], {"lodcore": lodcore}))


def test_completion_and_unlisted_names_behave_as_in_python():
    x = lodcore.array([[1.0], []])
    assert not set(ATTRIBUTES) & {*dir(x), *dir(LoDTensor)}
    assert rlcompleter.Completer({"x": x}).attr_matches("x.medi") == []
    assert not set(NAMES) & set(dir(lodcore))
    with pytest.raises(AttributeError, match=r"^'LoDTensor' object has no attribute 'medain'$") as caught:
        x.medain  # noqa: B018
    assert (caught.value.name, caught.value.obj is x) == ("medain", True)
    with pytest.raises(lodcore.ShapeError, match="not a dense array"):  # a property that raises
        x.__dlpack_device__  # noqa: B018

    class Mine(LoDTensor):
        median = property(lambda self: self.nothing)

    mine = Mine(x.values, x.lod)
    with pytest.raises(AttributeError, match="'Mine' object has no attribute 'nothing'"):
        mine.median  # noqa: B018
    assert pickle.loads(pickle.dumps(x)).equals(x)


@for_each("page", sorted(pages.PAGES))
def test_pages_show_the_table_of_other_names(page):
    path = pages.path_of(page)
    assert path.read_text(encoding="utf-8") == pages.page(page), "make pages writes it anew"


def test_files_of_operators_are_no_names_of_theirs():
    """A file is named by its family; the error names an operator."""
    instead = {"gather": "lodcore.gather_sequences(x, index)", "pool": "lodcore.sequence_pool", "pad": "x.to_padded()"}
    for name, said in instead.items():
        for module in (lodcore, lodcore.ops):
            with pytest.raises(AttributeError, match=f"has no attribute '{name}'; use {re.escape(said)}"):
                getattr(module, name)
    with pytest.raises(AttributeError, match=r"^module 'lodcore.ops' has no attribute 'medain'$"):
        _ = lodcore.ops.medain
