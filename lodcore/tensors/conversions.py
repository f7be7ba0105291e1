"""The methods of LoDTensor that convert it for other libraries, with bodies in `lodcore.interop`.

A body is given by name and looked up at first use, so that nothing here imports higher modules.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import numpy as np

from lodcore.base.articles import with_article
from lodcore.errors import DTypeError, ShapeError

__all__ = ["ConversionMethods", "for_caller", "no_sequences", "taken"]


def _door(name: str) -> Any:
    module, _, name = name.rpartition(".")
    return getattr(import_module(f"lodcore.interop.{module}" if module else "lodcore.interop"), name)


#: The functions that convert an object, by the library of its class or of a base class.
TAKERS = {
    "awkward": "from_awkward",
    "pandas": "from_pandas",
    "polars": "from_polars",
    "scipy": "scipy.records_of_scipy",
    "tensorflow": "from_tensorflow",
    "thinc": "from_thinc",
    "torch": "from_torch",
    "xarray": "from_xarray",
}


#: The advice for libraries that request a dense array.
ASKING = {
    "numpy.testing": "lodcore.testing.assert_equal and assert_allclose compare sequences",
    "pandas": "x.to_pandas() makes a Series, x.to_pandas(lists=True) one of lists",
    "polars": "x.to_polars() makes a Series",
    "pyarrow": "x.to_arrow() makes an array",
    "scipy": "x.to_scipy() makes a sparse matrix",
    "tensorflow": "x.to_tensorflow() makes a RaggedTensor",
    "torch": "x.to_torch() makes a tensor",
    "xarray": "x.to_xarray() makes a Dataset",
    "jax": "x.to_jax() makes segments",
}


def for_caller() -> str:
    """Return the advice for the library from which the current function was called, if it is a known one."""
    frame = sys._getframe(2)
    for _ in range(12):  # the depth of calls inside these libraries
        if frame is None:
            break
        name = str(frame.f_globals.get("__name__"))
        for library, instead in ASKING.items():
            if name == library or name.startswith(f"{library}."):
                return f"; {instead}"
        frame = frame.f_back  # type: ignore[assignment]
    return ""


def taken(obj: Any) -> Any:
    """Convert an object of another library.

    Parameters
    ----------
    obj : object

    Returns
    -------
    LoDTensor, or None if there is no conversion for such an object
    """
    if hasattr(obj, "to_lodtensor"):  # results of the conversions themselves
        return obj.to_lodtensor()
    name = _taker(obj)
    return None if name is None else _door(name)(obj)


def _taker(obj: Any) -> str | None:
    """Return the name of the function that converts an object of another library, if there is one."""
    for kind in type(obj).__mro__[:-1]:
        name = TAKERS.get(kind.__module__.partition(".")[0])
        if name:
            return name
    return "from_arrow" if hasattr(obj, "__arrow_c_array__") or hasattr(obj, "__arrow_c_stream__") else None


def no_sequences(where: str, obj: Any, found: Any) -> DTypeError:
    """Return the error for an object of another library that is a table, or one flat column."""
    name = _taker(obj)
    if isinstance(found, np.ndarray):
        way = "LoDTensor.from_lengths(obj, lengths) makes sequences of its rows"
    elif name in ("from_pandas", "from_polars", "from_arrow"):
        way = f"lodcore.{name}(obj, by='key') makes sequences of its rows, lodcore.{name}(obj) takes columns of lists"
    else:
        way = f"lodcore.{name}(obj) takes it"
    return DTypeError(f"{where}: is {with_article(type(obj).__name__)}, no array of sequences; {way}")


class _NotDenseError(ShapeError, AttributeError):
    """The error of a tensor that is not dense, an AttributeError for `hasattr`; shown as its base, which is public."""

    def __reduce__(self) -> tuple[Any, ...]:
        return ShapeError, self.args


_NotDenseError.__module__, _NotDenseError.__name__ = ShapeError.__module__, ShapeError.__name__
_NotDenseError.__qualname__ = ShapeError.__qualname__


class ConversionMethods:
    """The methods of LoDTensor that convert it for other libraries."""

    __slots__ = ()

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        capsules: tuple[Any, Any] = _door("arrow_c_array")(self, requested_schema)
        return capsules

    def __arrow_c_schema__(self) -> Any:
        return _door("arrow_c_schema")(self)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return _door("arrow_c_stream")(self, requested_schema)

    def __dlpack__(self, **options: Any) -> Any:
        """Return the values of a tensor without levels, for torch and others; raise an error for one with levels."""
        self._refuse_dlpack()
        return self.values.__dlpack__(**options)  # type: ignore[attr-defined]

    @property
    def __dlpack_device__(self) -> Any:
        """Return the device for `__dlpack__`; raise for a tensor with levels, so that callers use another way."""
        self._refuse_dlpack()
        return self.values.__dlpack_device__  # type: ignore[attr-defined]

    def _refuse_dlpack(self) -> None:
        if self.lod.num_levels:  # type: ignore[attr-defined]
            raise _NotDenseError(
                "LoDTensor: sequences of different lengths are not a dense array; use x.to_torch(), x.to_jax(), "
                "to_padded (padded), to_regular (all equally long) or .values (all rows)"
            )

    def to_arrow(self) -> Any:
        """Return a pyarrow array; see `lodcore.to_arrow`."""
        return _door("to_arrow")(self)

    def to_torch(self, layout: str = "jagged", copy: bool | None = None) -> Any:
        """Return a torch tensor; see `lodcore.to_torch`."""
        return _door("to_torch")(self, layout, copy)

    def to_awkward(self) -> Any:
        """Return an awkward array; see `lodcore.to_awkward`."""
        return _door("to_awkward")(self)

    def to_pandas(self, keys: Any = None, *, lists: bool = False) -> Any:
        """Return a pandas Series; see `lodcore.to_pandas`."""
        return _door("to_pandas")(self, keys, lists=lists)

    def to_polars(self, keys: Any = None, *, lists: bool = True) -> Any:
        """Return a Polars Series of lists, or a table of rows; see `lodcore.to_polars`."""
        return _door("to_polars")(self, keys, lists=lists)

    def to_xarray(self, per_sequence: Any = None, **names: str) -> Any:
        """Return an xarray Dataset; see `lodcore.to_xarray`."""
        return _door("to_xarray")(self, per_sequence, **names)

    def to_tensorflow(self) -> Any:
        """Return a TensorFlow RaggedTensor; see `lodcore.to_tensorflow`."""
        return _door("to_tensorflow")(self)

    def to_jax(self, size: int | None = None, level: int = -1) -> Any:
        """Return segments for JAX; see `lodcore.to_jax`."""
        return _door("to_jax")(self, size, level)

    def to_scipy(self, values: Any = None, num_columns: int | None = None) -> Any:
        """Return a sparse matrix with these column numbers; see `lodcore.to_scipy`."""
        return _door("to_scipy")(self, values, num_columns)

    def to_thinc(self) -> Any:
        """Return a thinc Ragged; see `lodcore.to_thinc`."""
        return _door("to_thinc")(self)

    def cu_seqlens(self, level: int = -1, dtype: Any = "int32") -> Any:
        """Return the offsets of a level in rows; see `lodcore.cu_seqlens`."""
        return _door("cu_seqlens")(self, level, dtype)
