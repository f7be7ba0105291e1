"""A TensorArray in every state, copied in every way: the same results as those of a plain list."""

import copy
import pickle

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, TensorArray
from lodcore.graph import VarArray, while_loop
from lodcore.tensors.tensor_array import ArrayVersion
from tests.helpers.tables import for_each

ROWS = np.arange(6, dtype=np.float32).reshape(3, 2)
NESTED = lodcore.array([[[1], [2, 3, 4]], [], [[5, 6]]])
HOLE = None


def made(*args, kind=TensorArray, **kwargs):
    """Make an array, and write the given elements by their numbers."""
    written = kwargs.pop("written", {})
    array = kind(*args, **kwargs)
    for at, element in written.items():
        array.write(at, element)
    return array


def filled(size, kind=TensorArray, **kwargs):
    """Fill an array of a size by unstack, possibly with fewer elements."""
    array = kind(size, **kwargs)
    array.unstack(ROWS)
    return array


def overwritten(array, at, element):
    """Write to an array that has elements."""
    array.write(at, element)
    return array


#: Each state: how it is made; the content of its slots, None for holes; the maximum number of slots.
STATES = {
    "new": (TensorArray, [], None),
    "no steps of a known element": (lambda: TensorArray.unstack(ROWS[:0]), [], None),
    "no steps of a known element, cloned": (lambda: TensorArray.unstack(ROWS[:0]).clone(), [], None),
    "no steps of sequences": (lambda: TensorArray.unstack(NESTED[:0]), [], None),
    "no steps of sequences, cloned": (lambda: TensorArray.unstack(NESTED[:0]).clone(), [], None),
    "holes": (lambda: TensorArray(2), [HOLE, HOLE], None),
    "one hole of a known element": (
        lambda: overwritten(TensorArray.unstack(ROWS[:0]).clone(), 1, ROWS[0]),
        [HOLE, ROWS[0]],
        None,
    ),
    "written": (lambda: made(written={0: ROWS[0], 1: ROWS[1]}), [ROWS[0], ROWS[1]], None),
    "written backwards": (lambda: made(written={1: ROWS[1], 0: ROWS[0]}), [ROWS[0], ROWS[1]], None),
    "of other lengths": (lambda: made(written={0: ROWS, 1: ROWS[:1]}), [ROWS, ROWS[:1]], None),
    "numbers": (lambda: made(written={0: np.float64(1.5), 1: np.float64(2.5)}), [np.array(1.5), np.array(2.5)], None),
    "partly written": (lambda: made(3, written={1: ROWS[0]}), [HOLE, ROWS[0], HOLE], None),
    "limited": (lambda: made(2, dynamic=False, written={0: ROWS[0]}), [ROWS[0], HOLE], 2),
    "limited, whole": (lambda: made(1, dynamic=False, written={0: ROWS[0]}), [ROWS[0]], 1),
    "unstacked": (lambda: TensorArray.unstack(ROWS), [*ROWS], None),
    "unstacked along axis 1": (lambda: TensorArray.unstack(ROWS, axis=1), [*ROWS.T], None),
    "unstacked into fewer than there are slots": (lambda: filled(5), [*ROWS, HOLE, HOLE], None),
    "unstacked from the beginning": (lambda: TensorArray(4, unstack_from=ROWS), [*ROWS, HOLE], None),
    "unstacked, limited": (lambda: TensorArray(4, False, unstack_from=ROWS), [*ROWS, HOLE], 4),
    "unstacked, behind the hole": (lambda: overwritten(filled(5), 4, ROWS[0]), [*ROWS, HOLE, ROWS[0]], None),
    "unstacked, no hole left": (lambda: overwritten(filled(4), 3, ROWS[0]), [*ROWS, ROWS[0]], None),
    "unstacked, overwritten": (
        lambda: overwritten(TensorArray.unstack(ROWS), 1, ROWS[0]),
        [ROWS[0], ROWS[0], ROWS[2]],
        None,
    ),
    "sequences": (lambda: made(written={0: NESTED, 1: NESTED[:1]}), [NESTED, NESTED[:1]], None),
    "unstacked sequences": (lambda: TensorArray.unstack(NESTED), [*NESTED], None),
    "steps": (lambda: TensorArray.unpack(lodcore.array([[1, 2], [], [3]]), 0)[0], [[1, 3], [2]], None),
    "steps in order": (
        lambda: TensorArray.unpack(lodcore.array([[1], [2, 3]]), 0, sort_by_length=False)[0],
        [[1, 2], [3]],
        None,
    ),
    "steps of sequences": (lambda: TensorArray.unpack(NESTED, 0)[0], [[[1], [5, 6]], [[2, 3, 4]]], None),
    "VarArray": (lambda: made(kind=VarArray, written={0: ROWS[0]}), [ROWS[0]], None),
    "VarArray, unstacked": (lambda: filled(4, VarArray), [*ROWS, HOLE], None),
    "VarArray, segmented": (lambda: VarArray().segment(lodcore.array([[1, 2], [], [3]])), [[1, 3], [2]], None),
}

WAYS = {
    **{f"pickle {p}": lambda a, p=p: pickle.loads(pickle.dumps(a, p)) for p in range(2, pickle.HIGHEST_PROTOCOL + 1)},
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "clone": lambda a: a.clone(),
    "snapshot": lambda a: a.snapshot(),
    "copy of a copy": lambda a: copy.deepcopy(pickle.loads(pickle.dumps(a)).clone()),
    "version": lambda a: ArrayVersion.of(a).snapshot() if type(a) is TensorArray else a.snapshot(),
    "become": lambda a: _become(type(a)(), a),
}


def _become(array, other):
    array.become(other)
    return array


def told(value):
    """Describe a value by its kind, dtype, structure and numbers."""
    if isinstance(value, (list, tuple)):
        return [told(one) for one in value]
    if isinstance(value, LoDTensor):
        return "LoDTensor", value.dtype.str, value.shape, value.tolist()
    if isinstance(value, (np.ndarray, np.generic)):
        return "ndarray", value.dtype.str, value.shape, value.tolist()
    return repr(value)


def answer(ask, array):
    """Return the result of a query, or its error."""
    try:
        return told(ask(array))
    except (TypeError, ValueError, IndexError, AttributeError) as error:
        return type(error).__name__, str(error)


def asked(array):
    """Run all queries on an array; those that write use a clone."""
    state = np.arange(12.0).reshape(-1, 4)
    questions = {
        **{name: lambda a, name=name: getattr(a, name)() for name in ("size", "stack", "concat", "sizes")},
        **{f"{name}, axis 1": lambda a, name=name: getattr(a, name)(1) for name in ("stack", "concat", "sizes")},
        **{f"{name}, axis -1": lambda a, name=name: getattr(a, name)(-1) for name in ("stack", "concat")},
        **{f"slot {at}": lambda a, at=at: a.read(at) for at in range(-1, array.size() + 2)},
        **{f"slot {at}, or": lambda a, at=at: a.read(at, np.zeros(2)) for at in range(array.size() + 1)},
        **{name: lambda a, name=name: getattr(a, name) for name in ("rank", "name", "num_slots", "grows", "level")},
        **{f"write {at}": lambda a, at=at: written_to(a.clone(), at) for at in range(array.size() + 2)},
        "len": len,
        "list": list,
        "repr": repr,
        "kind": type,
        "element": lambda a: [
            a.element_spec() and getattr(a.element_spec(), it) for it in ("dtype", "num_levels", "ndim")
        ],
        "boot": lambda a: a.boot(state),
        "rank of steps": lambda a: (a.rank.indices, a.rank.lengths) if a.rank is not None else None,
        "known": lambda a: sorted(a.known_elements()),
    }
    return {name: answer(ask, array) for name, ask in questions.items()}


def written_to(array, at):
    """Write to an array, and run all queries on it."""
    array.write(at, ROWS[2])
    return [repr(array), answer(lambda a: a.stack(), array), answer(lambda a: a.concat(), array)]


@pytest.mark.parametrize("way", WAYS)
@for_each("state", STATES)
def test_copied_array_behaves_as_the_array(state, way):
    array = STATES[state][0]()
    wanted = asked(array)
    found = asked(WAYS[way](array))
    assert {name: (found[name], wanted[name]) for name in wanted if found[name] != wanted[name]} == {}
    assert asked(array) == wanted, "the array is another one now"


def plain(element):
    return element.tolist() if hasattr(element, "tolist") else element


@pytest.mark.parametrize("state", STATES)
def test_an_array_answers_as_a_list(state):
    make, slots, limit = STATES[state]
    array = make()
    holes = [at for at, element in enumerate(slots) if element is HOLE]
    assert (len(array), array.size(), array.grows) == (len(slots), len(slots), limit is None)
    for at, element in enumerate(slots):
        if element is HOLE:
            with pytest.raises(IndexError, match=f"{at}, a hole"):
                array.read(at)
        else:
            assert array.read(at).tolist() == plain(element)
    for join in ("stack", "concat", "sizes") if holes else ():
        with pytest.raises(IndexError, match=f"is {holes[0]}, a hole; the size is {len(slots)}"):
            getattr(array, join)()
    if slots and not holes:
        lists = [plain(element) for element in slots]
        same = all(isinstance(array.read(at), LoDTensor) for at in range(len(slots)))
        if same or len({np.shape(array.read(at)) for at in range(len(slots))}) == 1:
            assert array.stack().tolist() == lists
        if isinstance(lists[0], list):
            assert array.concat().tolist() == [row for one in lists for row in one]
            assert array.sizes().tolist() == [len(one) for one in lists]
    if limit is not None:
        with pytest.raises(IndexError, match=f"fixed at {limit}"):
            array.write(limit, ROWS[0])


@pytest.mark.parametrize("state", STATES)
def test_writes_in_a_loop_equal_writes_without_one(state):
    make, slots, limit = STATES[state]
    for at in range(len(slots) + 2 if limit is None else limit):
        array, wanted = make(), make()
        loop = while_loop()
        with loop.loop():
            time = loop.step()
            loop.break_if(lodcore.greater_equal_than(time, 1))
            array.write(lodcore.add(time, at), lodcore.mul(ROWS[2], 1))
        wanted.write(at, ROWS[2])
        assert asked(array) == asked(wanted), at
