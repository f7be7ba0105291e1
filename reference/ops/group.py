"""Grouping of rows by key."""

from reference.case import cases
from reference.draw import DTYPES
from reference.draw_tensors import dense
from reference.tensors import Dense, Ragged

__all__ = ["group_rows", "match_keys"]


def known(key):
    """Return a key that compares equal to equal rows; nan does not equal itself."""
    return ("nan",) if key != key else (key,)


def runs(keys):
    """List the rows of each run of equal keys."""
    found = []
    for row, key in enumerate(keys):
        if row and known(key) == known(keys[row - 1]):
            found[-1].append(row)
        else:
            found.append([row])
    return found


def group_rows(keys, order):
    """Group rows by their keys: a key, and the list of its rows, for each group."""
    groups = {}
    for row, key in enumerate(keys):
        groups.setdefault(known(key), []).append(row)
    found = runs(keys) if order == "runs" else list(groups.values())
    if order == "sorted":
        found.sort(key=lambda rows: (known(keys[rows[0]]) == ("nan",), keys[rows[0]]))
    return [keys[rows[0]] for rows in found], found


def match_keys(x_keys, y_keys, how):
    """Find equal keys of two columns: return the keys, and their positions in both, -1 for none."""
    if how == "right":
        keys, y_places, x_places = match_keys(y_keys, x_keys, "left")
        return keys, x_places, y_places
    pairs = []
    for row, key in enumerate(x_keys):
        others = [place for place, other in enumerate(y_keys) if known(key) == known(other)]
        pairs += [(key, row, place) for place in others or ([-1] if how != "inner" else [])]
    if how == "outer":
        there = {known(key) for key in x_keys}
        pairs += [(key, -1, place) for place, key in enumerate(y_keys) if known(key) not in there]
    return tuple([pair[j] for pair in pairs] for j in range(3))


# -- cases -------------------------------------------------------------------------------------------------------------


@cases({*DTYPES, "nan", "ties"}, gradient=False, walked="key")
def draw_group_rows(source):
    key = dense(source, (source.integer(0, 9),), flavours=("quarters", "nan"))
    return {"key": key, "order": source.choice(["sorted", "first", "runs"])}


@draw_group_rows.expected
def _(key, order):
    keys, groups = group_rows(key.nested, order)
    return Dense(keys, (len(keys),), key.dtype), Ragged(groups, 1, (), "int64")


@cases({"float64", "int64", "nan"}, gradient=False, walked="x_keys")
def draw_match_keys(source):
    dtype = source.choice(DTYPES)
    sides = [dense(source, (source.integer(0, 6),), [dtype], ("quarters", "nan")) for _ in range(2)]
    return {"x_keys": sides[0], "y_keys": sides[1], "how": source.choice(["inner", "left", "right", "outer"])}


@draw_match_keys.expected
def _(x_keys, y_keys, how):
    keys, *places = match_keys(x_keys.nested, y_keys.nested, how)
    shape = (len(keys),)
    return Dense(keys, shape, x_keys.dtype), *(Dense(place, shape, "int64") for place in places)
