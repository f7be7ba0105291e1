"""Groups: a table of grouped rows, as `from_pandas` and `from_polars` make it."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lodcore.base.articles import there_are, with_number
from lodcore.base.missing import refuse_missing
from lodcore.base.naming import call_named, described, with_arguments
from lodcore.base.other_names import ATTRIBUTES, explained
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.interop.grouped_names import GROUPS
from lodcore.interop.joined import columns_with_keys, entries_without_nulls, refuse_rounded, ways_of
from lodcore.interop.presence import checked_mask, every
from lodcore.operators.operands import check_equal, no_levels
from lodcore.ops import match_keys
from lodcore.tensors import lod_body
from lodcore.tensors.foreign_columns import zone_of
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import guarded_values

__all__ = ["Groups"]

Array = np.ndarray[Any, Any]


class _Keys(dict[str, Any]):
    """Keys by name. A call returns the names of all columns, as `dict(groups)` asks of whatever has `keys`."""

    __slots__ = ("table",)

    def __init__(self, table: Groups, keys: Mapping[str, Any]) -> None:
        super().__init__(keys)
        self.table = weakref.ref(table)  # a cycle would keep the memory of a table that nobody has

    def __call__(self) -> list[str]:
        table = self.table()
        return list(self if table is None else table)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)  # copied alone, they are those of no table


class Groups:
    """A table of grouped rows: columns that share one LoD, and the keys of the groups.

    `g["name"]` is a column, with one sequence per group, or a key or another array with one entry per group;
    `g[["name", "price"]]` is the table of these columns, with all keys. `g[g["price"] > 0]`, with a LoDTensor of bools,
    keeps rows of each group, or finer groups, if it has fewer levels; one of integers, as in
    `g[np.argsort(g["price"], axis=-1)]`, takes them by their numbers in the group, in this order. `g[g.lengths > 2]`,
    `g[:5]` and `g[[3, 1]]` choose groups. Results are new tables; nothing is grouped again.
    `len(g)` is the number of groups, and iteration is over the names, so that `dict(g)` has all columns.

    Parameters
    ----------
    columns : dict of str to LoDTensor
        The columns, which share one LoD with a level per key.
    keys : dict of str to ndarray
        The keys, coarse first, with one entry per sequence of their level; those beyond the last level have one per
        sequence of it.
    per_group : dict of str to ndarray, optional
        Arrays with one entry per outermost group.
    masks : dict of str to LoDTensor of bools, optional
        Where the columns read with ``nulls="mask"`` have values, with their structure; of records, by field.
    kept : dict of str to tuple, optional
        What dtypes cannot express: time zones, categories, and digits of decimals, for `to_pandas` and `to_polars`.
    lod : LoD, optional
        The structure of the groups; by default that of the columns.

    Raises
    ------
    DTypeError, LoDError, ValueError
        If a column is not a LoDTensor or has another structure, keys or other arrays have another number of entries,
        two have the same name, or a mask has another structure than its column.

    Examples
    --------
    >>> import lodcore
    >>> from lodcore.interop import Groups
    >>> user, price = lodcore.group_by(["b", "a", "b"], [1.5, 2.0, 2.5], order="first")
    >>> g = Groups({"price": price}, {"user": user})
    >>> g
    Groups(2 groups of 3 rows by 'user': 'price')
    >>> g["user"].tolist(), g.lengths.tolist(), g["price"].sum(axis=1).tolist()
    (['b', 'a'], [2, 1], [4.0, 2.0])
    >>> g[g["price"] < 2.2]["price"].tolist(), g[g.lengths > 1]["user"].tolist()
    ([[1.5], [2.0]], ['b'])
    """

    __module__ = "lodcore.interop"

    #: The advice if an array is needed: NumPy would make one of the names.
    instead_of_dense = "g['column'] is a column of it, lodcore.to_pandas(g) a table of pandas"

    def __init__(
        self,
        columns: Mapping[str, Any],
        keys: Mapping[str, Any],
        per_group: Mapping[str, Any] | None = None,
        masks: Mapping[str, Any] | None = None,
        kept: Mapping[str, tuple[Any, ...]] | None = None,
        lod: Any = None,
    ) -> None:
        self.columns: dict[str, Any] = _parts("columns", columns)
        made = {name: _entries(f"Groups: keys[{name!r}]", x) for name, x in _parts("keys", keys).items()}
        self.keys: dict[str, Any] = _Keys(self, made)
        given = _parts("per_group", per_group or {})
        self.per_group = {name: _entries(f"Groups: per_group[{name!r}]", x) for name, x in given.items()}
        self.masks: dict[str, Any] = _parts("masks", masks or {})
        zones = {name: ("zone", zone) for name, x in {**given, **keys}.items() if (zone := zone_of(x)) is not None}
        self.kept: dict[str, tuple[Any, ...]] = {**zones, **(kept or {})}
        self._lod = lod
        self._check()

    def _check(self) -> None:
        """Raise if columns have other structures, keys or arrays another number of entries, or names occur twice."""
        for name, x in self.columns.items():
            if not isinstance(x, LoDTensor):
                raise DTypeError(f"Groups: columns[{name!r}]: is {type(x).__name__}; a LoDTensor is needed")
        if self._lod is not None and not isinstance(self._lod, LoD):
            raise DTypeError(f"Groups: lod: is {type(self._lod).__name__}; a LoD is needed")
        other = repr(next(iter(self.columns), "")) if self._lod is None else "lod"
        lod: Any = self.lod if self.columns or self._lod is not None else None  # of keys alone nothing is known
        for name, x in self.columns.items():
            own = x.lod.prefix(lod.num_levels) if x.num_levels > lod.num_levels else x.lod
            check_equal("Groups", lod, own, f"columns[{name!r}]", other)
        for name, mask in self.masks.items():
            if name not in self.columns:
                raise LoDError(f"Groups: masks[{name!r}]: there is no such column")
            self.masks[name] = checked_mask(f"Groups: masks[{name!r}]", self.columns[name], mask)
        twice = [name for name in self.keys if name in self.columns or name in self.per_group]
        twice += [name for name in self.per_group if name in self.columns]
        if twice:
            raise ValueError(f"Groups: {twice[0]!r}: is the name of two columns")
        for what, given in (("keys", self.keys), ("per_group", self.per_group)):
            for level, (name, entries) in enumerate(given.items()):
                at = 0 if what == "per_group" or lod is None else min(level, lod.num_levels - 1)
                if lod is not None and len(entries) != (needed := lod.num_sequences(at)):
                    raise LoDError(
                        f"Groups: {what}[{name!r}]: has {len(entries)} entries; {there_are(needed, 'group')}"
                    )

    @property
    def lod(self) -> Any:
        """The LoD of the groups, with a level per key."""
        if self._lod is None:
            if not self.columns:
                raise LoDError("Groups: columns: are none, so that lod is needed")
            lod: Any = next(iter(self.columns.values())).lod
            depth = max(len(self.keys), 1)
            self._lod = lod if lod.num_levels <= depth else lod_body.slice_levels(lod, 0, depth)
        return self._lod

    @property
    def lengths(self) -> Array:
        """The lengths of the outermost groups: of rows, or with several keys of finer groups."""
        made: Array = self.lod.lengths()
        return made

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.keys = _Keys(self, self.keys)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        raise DTypeError(f"Groups: a table is no array; {self.instead_of_dense}")

    if not TYPE_CHECKING:  # a type checker knows all names

        def __getattr__(self, name: str) -> Any:
            """Raise the error of Python, with what to use instead of a name of another library."""
            try:
                return object.__getattribute__(self, name)
            except AttributeError as error:
                instead = GROUPS.get(name, "")
                if "masks" in self.__dict__ and name in self:  # not before it is made
                    instead = f"g[{name!r}]"
                elif not instead and name in ATTRIBUTES:
                    instead = f"{ATTRIBUTES[name][0]}, where x = g['column']"
                raise explained(error, self, name, instead) from None

    def __len__(self) -> int:
        return int(self.lod.num_sequences())

    def __iter__(self) -> Iterator[str]:
        return iter((*self.keys, *self.columns, *self.per_group))

    def __contains__(self, name: object) -> bool:
        return name in self.columns or name in self.per_group or name in self.keys

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            for part in (self.columns, self.per_group, self.keys):
                if key in part:
                    return part[key]
            raise KeyError(f"Groups: {key!r} is none of {', '.join(map(repr, self))}")
        if isinstance(key, list) and key and all(isinstance(name, str) for name in key):
            return self._with_names(key)
        if isinstance(key, LoDTensor):
            return self._with_rows(key)
        if not isinstance(key, slice):
            key = _index_of(key)
        return self._with_groups(key)

    def _with_names(self, names: list[str]) -> Groups:
        """Keep the columns, and the arrays per group, of these names, and all keys."""
        columns = {name: self[name] for name in names if name not in self.keys}
        per_group = {name: columns.pop(name) for name in names if name in self.per_group}
        masks, kept = ({name: part[name] for name in names if name in part} for part in (self.masks, self.kept))
        kept.update((name, self.kept[name]) for name in self.keys if name in self.kept)
        return Groups(columns, self.keys, per_group, masks, kept, self.lod)

    def _with_rows(self, index: LoDTensor) -> Groups:
        """Keep, or take in an order, the rows of each group, or the finer groups, that a mask or numbers choose."""
        if index.num_levels > self.lod.num_levels:
            raise no_levels("Groups", "index", index.num_levels, "the table", self.lod.num_levels)
        lod = call_named("Groups", with_arguments, {"x": "the table"}, self._lod_of, index)
        columns, masks = ({name: x[index] for name, x in part.items()} for part in (self.columns, self.masks))
        return Groups(columns, self._keys_of(index, index.num_levels), self.per_group, masks, self.kept, lod)

    def _with_groups(self, index: Any) -> Groups:
        """Choose outermost groups."""
        columns, masks, per_group = (
            {name: x[index] for name, x in part.items()} for part in (self.columns, self.masks, self.per_group)
        )
        return Groups(columns, self._keys_of(index, 0), per_group, masks, self.kept, self._lod_of(index))

    def _keys_of(self, index: Any, depth: int) -> dict[str, Any]:
        """Return the keys that belong to chosen groups; those of levels before `depth` stay."""
        keys, last = dict(self.keys), self.lod.num_levels - 1
        for level, (name, entries) in enumerate(self.keys.items()):
            at = min(level, last)
            if at >= depth:
                above: Any = lod_body.slice_levels(self.lod, 0, at) if at else None
                keys[name] = np.asarray(entries)[index] if above is None else LoDTensor(entries, above)[index].values
        return keys

    def _lod_of(self, index: Any) -> LoD:
        """Return the structure of chosen rows or groups."""
        rows: Any = LoDTensor(np.empty(self.lod.num_rows, np.bool_), self.lod)[index]
        return rows.lod  # type: ignore[no-any-return]

    def with_columns(self, /, **columns: Any) -> Groups:
        """Return a table with more columns, or with others under their names.

        Parameters
        ----------
        **columns : LoDTensor with the LoD of the table, or array_like with one entry per outermost group

        Returns
        -------
        Groups

        Raises
        ------
        LoDError, ShapeError, ValueError
            If a column has another structure, or another number of entries, or the name of a key.

        Examples
        --------
        >>> import lodcore
        >>> from lodcore.interop import Groups
        >>> g = Groups({"v": lodcore.array([[1, 2], [3]])}, {"k": [7, 8]})
        >>> g.with_columns(total=g["v"].sum(axis=1), twice=g["v"] * 2)
        Groups(2 groups of 3 rows by 'k': 'v', 'twice'; 'total')
        """
        made = Groups(self.columns, self.keys, self.per_group, self.masks, self.kept, self._lod)
        for name, given in columns.items():
            if name in self.keys:
                raise ValueError(f"Groups.with_columns: {name}: is a key of the groups; another name is needed")
            if isinstance(given, LoDTensor):
                if self.columns or self._lod is not None:
                    check_equal("Groups.with_columns", self.lod, given.lod, name, "the table")
                made.per_group.pop(name, None)
                made.columns[name] = given
                made.masks.pop(name, None)
                if made.kept.get(name, ("zone",))[0] != "zone":  # which fits any time
                    del made.kept[name]
                continue
            entries = _entries(f"Groups.with_columns: {name}", given)
            if len(entries) != len(self):
                raise ShapeError(
                    f"Groups.with_columns: {name}: has {len(entries)} entries; {there_are(len(self), 'group')}"
                )
            for part in (made.columns, made.masks, made.kept):
                part.pop(name, None)
            made.per_group[name] = entries
            zone = zone_of(given)
            if zone is not None:
                made.kept[name] = ("zone", zone)
        return made

    def join(self, other: Any, on: str | None = None, how: str = "left", *, nulls: Any = "error") -> Groups:
        """Join a table that has one row per key, such as users, to the groups.

        Parameters
        ----------
        other : mapping of str to array_like, or a table (pandas, Polars, or with Arrow's interface: DuckDB, pyarrow)
            Each key occurs once. Named levels of an index of pandas are columns, too. Rows of other keys, or of none,
            are left out. Floats equal the integers that they hold.
        on : str, optional
            The name of the outermost key in both tables, which is the default.
        how : {"left", "inner"}
            Whether a group without a partner is an error, or is left out.
        nulls : "error" or a fill value, or dict of these by column
            What happens to missing values of joined rows; nan and NaT stay, as in `from_pandas`.

        Returns
        -------
        Groups
            The columns of `other` are arrays with one entry per group. Time zones, categories and digits of decimals
            are kept for `to_pandas` and `to_polars`.

        Raises
        ------
        LoDError, DTypeError, KeyError, ValueError
            If a key occurs twice in `other`, a group has no partner, a value is missing, or an integer key among floats
            is one that they do not hold exactly; the message names it.

        Examples
        --------
        >>> import lodcore
        >>> from lodcore.interop import Groups
        >>> g = Groups({"v": lodcore.array([[1, 2], [3]])}, {"user": ["b", "a"]})
        >>> g.join({"user": ["a", "b", "c"], "age": [30, 40, 50]})["age"]
        array([40, 30])
        """
        where = "Groups.join"
        if how not in ("left", "inner"):
            raise ValueError(f"{where}: how: is {how!r}; 'left' or 'inner' is needed")
        name = next(iter(self.keys)) if on is None else on
        if name != next(iter(self.keys)):
            raise KeyError(f"{where}: on: is {name!r}; the outermost key is {next(iter(self.keys))!r}")
        columns = columns_with_keys(where, other)
        if name not in columns:
            raise KeyError(f"{where}: other: has no column {name!r}")
        for key in columns:
            if key != name and (key in self.columns or key in self.keys or key in self.per_group):
                raise ValueError(f"{where}: other[{key!r}]: is a column of the groups, too; another name is needed")
            if not isinstance(key, str):
                raise DTypeError(f"{where}: other[{key!r}]: has no text as its name")
        given = columns.pop(name)
        known = np.arange(len(given.values)) if given.present is None else np.flatnonzero(every(given.present))
        mine = np.asarray(self.keys[name])
        theirs = given.values[known] if len(known) else mine[:0]  # without a row, they may have any dtype
        mine = mine if len(mine) else theirs[:0]
        for key, column in columns.items():
            if len(column.values) != len(given.values):
                raise LoDError(
                    f"{where}: other[{key!r}]: has {len(column.values)} entries; {name!r} has {len(given.values)}"
                )
        ways = ways_of(where, columns, nulls)
        refuse_rounded(f"{where}: other[{name!r}]", mine, theirs, known)
        try:
            keys, found, places = match_keys(mine, theirs, "left")
        except (DTypeError, ShapeError) as error:
            text = str(error).replace("match_keys: y_keys", f"{where}: other[{name!r}]")
            raise type(error)(text.replace("x_keys has", "the groups have")) from None
        if len(keys) != len(mine):
            twice = keys[int(np.argmax(found[1:] == found[:-1]))]
            raise LoDError(f"{where}: other[{name!r}]: has {twice.item()!r} more than once; one row per key is needed")
        if how == "left" and (places < 0).any():
            at = int(np.argmax(places < 0))
            raise LoDError(
                f'{where}: group {at} ({mine.tolist()[at]!r}) has no row in other; how="inner" leaves it out'
            )
        kept = self if how == "left" else self[places >= 0]
        rows = known[places[places >= 0]]
        made = kept.with_columns(
            **{key: entries_without_nulls(where, key, column, ways[key], rows) for key, column in columns.items()}
        )
        made.kept.update((key, column.kept) for key, column in columns.items() if column.kept is not None)
        return made

    def __repr__(self) -> str:
        size = f"{with_number(len(self), 'group')} of {with_number(self.lod.num_rows, 'row')}"
        keys, columns, others = (", ".join(map(repr, part)) for part in (self.keys, self.columns, self.per_group))
        return f"Groups({size} by {keys}: {columns}{'; ' if others else ''}{others})"


def _entries(where: str, given: Any) -> Array:
    """Return keys, or entries per group, as an array through which nobody writes to the memory of the caller."""
    rows = guarded_values(where, given)
    rows.flags.writeable = False
    return rows


def _parts(name: str, given: Any) -> dict[str, Any]:
    """Return a part of a table by name."""
    if not isinstance(given, Mapping):
        raise DTypeError(f"Groups: {name}: is {type(given).__name__}; a dict is needed")
    return dict(given)


def _index_of(key: Any) -> Array:
    """Return a mask, or numbers, of groups as a vector."""
    refuse_missing("Groups: index", key)
    try:
        index = np.asarray(None if isinstance(key, tuple) else key)
    except ValueError:  # lists of different lengths
        index = np.asarray(None)
    if index.ndim != 1 or (index.dtype.kind not in "biu" and index.size):
        raise DTypeError(
            f"Groups: is indexed by {described(key)}; a name, a slice, a mask or an array of numbers is needed"
        )
    return index if index.size else index.astype(np.int64)
