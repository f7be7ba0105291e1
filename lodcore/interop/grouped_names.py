"""What to use instead of attributes of data frames that tables of groups do not have."""

from __future__ import annotations

__all__ = ["GROUPS"]

_FILTER = "g[g['column'] > 0]; g[g.lengths > 1] chooses groups"
_SORT = "g[np.argsort(g['column'], axis=-1)]; g[np.argsort(g['key'])] sorts the groups"
_BY = "lodcore.from_pandas(frame, by=['key', 'other']); or group_by(keys, values)"

#: By the name of the attribute: an expression that runs for a table `g`, and after a semicolon what else there is.
GROUPS = {
    "agg": "g['column'].mean(axis=-1); and g['column'].sum(axis=-1) and the like",
    "aggregate": "g['column'].mean(axis=-1); and g['column'].sum(axis=-1) and the like",
    "apply": "lodcore.map_sequences(f, g['column'])",
    "assign": "g.with_columns(new=g['column'] * 2)",
    "count": "g.lengths",
    "drop": "g[['column']]; the names of the columns that stay",
    "explode": "lodcore.to_pandas(g)",
    "filter": _FILTER,
    "first": "g['column'].pool('first')",
    "get_group": "g[g['key'] == 'a']",
    "group_by": _BY,
    "groupby": _BY,
    "head": "g[g['column'].positions(-1) < n]; g[:n] chooses groups",
    "iloc": "g[[0, 1]]",
    "items": "dict(g).items()",
    "last": "g['column'].pool('last')",
    "loc": "g[g['key'] == 'a']",
    "max": "g['column'].max(axis=-1, empty=0)",
    "mean": "g['column'].mean(axis=-1)",
    "merge": "g.join(other)",
    "min": "g['column'].min(axis=-1, empty=0)",
    "ngroups": "len(g)",
    "query": _FILTER,
    "rename": "g.with_columns(new=g['column'])[['new', 'other']]",
    "select": "g[['column', 'other']]",
    "shape": "(len(g), g.lod.num_rows)",
    "size": "g.lengths",
    "sort": _SORT,
    "sort_values": _SORT,
    "std": "g['column'].std(axis=-1)",
    "sum": "g['column'].sum(axis=-1)",
    "to_arrow": "lodcore.to_arrow(g)",
    "to_dict": "dict(g)",
    "to_pandas": "lodcore.to_pandas(g)",
    "to_polars": "lodcore.to_polars(g)",
    "transform": "g['column'].per_sequence(g['column'].mean(axis=-1))",
    "values": "[g[name] for name in g]",
}
