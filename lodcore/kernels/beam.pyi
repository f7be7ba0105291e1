from typing import Any

import numpy as np
import numpy.typing as npt

def select_best(
    pre_ids: npt.NDArray[np.int64],
    pre_scores: npt.NDArray[Any],
    ids: npt.NDArray[np.int64] | None,
    scores: npt.NDArray[Any],
    offsets: npt.NDArray[np.int64],
    beam_size: int,
    end_id: int,
    out_ids: npt.NDArray[np.int64],
    out_scores: npt.NDArray[Any],
    out_parents: npt.NDArray[np.int32],
    out_offsets: npt.NDArray[np.int64],
) -> int: ...
def find_ends(
    scores: npt.NDArray[Any],
    offsets: npt.NDArray[np.int64],
    n_sources: int,
    beam_size: int,
    ends: npt.NDArray[np.int64],
    out_offsets: npt.NDArray[np.int64],
) -> int: ...
def measure_ways(
    ids: npt.NDArray[np.int64],
    parents: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    end_id: int,
    out_offsets: npt.NDArray[np.int64],
) -> None: ...
def write_ways(
    ids: npt.NDArray[np.int64],
    scores: npt.NDArray[Any] | None,
    parents: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    end_id: int,
    out_ids: npt.NDArray[np.int64],
    out_scores: npt.NDArray[Any] | None,
) -> None: ...
def note_best(
    scores: npt.NDArray[np.float64], sources: npt.NDArray[np.int64], best: npt.NDArray[np.float64]
) -> int: ...
