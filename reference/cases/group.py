"""Grouping of rows by key."""

from reference.case import cases
from reference.draw import DTYPES
from reference.draw_tensors import dense
from reference.ops import group as oracle
from reference.tensors import Dense, Ragged


@cases({*DTYPES, "nan", "ties"}, gradient=False, walked="key")
def group_rows(source):
    key = dense(source, (source.integer(0, 9),), flavours=("quarters", "nan"))
    return {"key": key, "order": source.choice(["sorted", "first", "runs"])}


@group_rows.expected
def _(key, order):
    keys, groups = oracle.group_rows(key.nested, order)
    return Dense(keys, (len(keys),), key.dtype), Ragged(groups, 1, (), "int64")


@cases({"float64", "int64", "nan"}, gradient=False, walked="x_keys")
def match_keys(source):
    dtype = source.choice(DTYPES)
    sides = [dense(source, (source.integer(0, 6),), [dtype], ("quarters", "nan")) for _ in range(2)]
    return {"x_keys": sides[0], "y_keys": sides[1], "how": source.choice(["inner", "left", "right", "outer"])}


@match_keys.expected
def _(x_keys, y_keys, how):
    keys, *places = oracle.match_keys(x_keys.nested, y_keys.nested, how)
    shape = (len(keys),)
    return Dense(keys, shape, x_keys.dtype), *(Dense(place, shape, "int64") for place in places)
