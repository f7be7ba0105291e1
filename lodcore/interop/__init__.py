"""Conversions for other libraries and files; each library is imported when its conversion is used.

Every function is public as `lodcore.<name>`; those that convert a LoDTensor for a library are its methods, too.
"""

from typing import Any as _Any

from lodcore.kernels.loading import load as _load

#: The public names of each module.
DOORS = {
    "arrow.interface": ("ArrowTable", "arrow_c_array", "arrow_c_schema", "arrow_c_stream", "from_arrow", "to_arrow"),
    "dlpack": ("from_dlpack",),
    "jax": ("Segments", "from_jax", "to_jax"),
    "scipy": ("from_scipy", "to_scipy"),
    "tensorflow": ("from_tensorflow", "to_tensorflow"),
    "thinc": ("from_thinc", "to_thinc"),
    "awkward": ("from_awkward", "to_awkward"),
    "engines": ("ArrowBatches", "arrow_batches"),
    "plots": ("occupancy", "plot_lengths", "plot_occupancy"),
    "files.storage": ("append", "load", "save"),
    "hdf5_and_zarr": ("load_from_group", "save_to_group"),
    "files.shared_memory": ("Shared", "share"),
    "grouped": ("Groups",),
    "pandas": ("from_pandas", "to_pandas"),
    "polars": ("from_polars", "to_polars"),
    "torch": ("TorchBatch", "Varlen", "collate", "cu_seqlens", "from_torch", "to_torch"),
    "xarray": ("from_xarray", "to_xarray"),
}

_MODULES = {name: module for module, names in DOORS.items() for name in names}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> _Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'lodcore.interop' has no attribute {name!r}")
    found = getattr(_load(f"lodcore.interop.{_MODULES[name]}"), name)
    _load("lodcore.base.naming").make_public("lodcore.interop", found)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
