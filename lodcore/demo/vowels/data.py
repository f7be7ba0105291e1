"""The Japanese Vowels recordings, stored losslessly in one small file.

Every number of the source has at most six decimals, so a million times a coefficient is an integer. The file
holds the differences between neighbouring frames, folded to 0, 1, 2, 3, ... for 0, -1, 1, -2, ..., split into
three byte planes and stored coefficient by coefficient, which deflate compresses best. Each part was made by::

    whole = np.rint(frames * 1e6).astype(np.int64)              # (num_frames, 12), recordings in order
    steps = np.diff(whole, axis=0, prepend=0)
    folded = np.where(steps < 0, -2 * steps - 1, 2 * steps)
    planes = np.stack([folded.T >> shift & 255 for shift in (0, 8, 16)]).astype(np.uint8)
    np.savez_compressed("japanese_vowels.npz", train_frames=planes, train_lengths=lengths, ...)

Authors, source and licence of the data are in ATTRIBUTION.md next to the file.
"""

from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lodcore import LoDTensor

__all__ = ["Recordings", "load"]


class Recordings(NamedTuple):
    """Recordings of different lengths, and their speakers.

    Parameters
    ----------
    frames : LoDTensor
        One sequence per recording, one row of 12 float64 cepstrum coefficients per frame.
    speakers : int64 ndarray, shape (num_recordings,)
        The speaker of each recording, 0 to 8.
    """

    frames: LoDTensor
    speakers: NDArray[np.int64]


def load() -> tuple[Recordings, Recordings]:
    """Load the 270 recordings for training and the 370 for the test.

    Returns
    -------
    train, test : Recordings
        The standard split of the data set.

    Examples
    --------
    >>> train, test = load()
    >>> len(train.frames), len(test.frames)
    (270, 370)
    >>> train.frames.values[0, :4].tolist()
    [1.860936, -0.207383, 0.261557, -0.214562]
    """
    file = files(__package__) / "japanese_vowels.npz"
    parts = []
    with file.open("rb") as opened, np.load(opened, allow_pickle=False) as arrays:
        for part in ("train", "test"):
            frames = LoDTensor.from_lengths(_unfold(arrays[f"{part}_frames"]), arrays[f"{part}_lengths"])
            parts.append(Recordings(frames, arrays[f"{part}_speakers"].astype(np.int64) - 1))
    return parts[0], parts[1]


def _unfold(planes: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Convert byte planes, shape (3, 12, num_frames), to frames, shape (num_frames, 12)."""
    low, middle, high = planes.astype(np.int64)
    folded = (low | middle << 8 | high << 16).T
    whole = np.cumsum(folded >> 1 ^ -(folded & 1), axis=0)
    return whole / 1e6
