"""
Trajectories: clean, resample, average
======================================

Recordings of nine speakers saying two vowels come with the package: sequences of 7 to 26 frames, with twelve numbers
per frame. To compare them, each is cleaned and interpolated at as many points as all others.
"""

# sphinx_gallery_thumbnail_number = 3
import matplotlib.pyplot as plt
import numpy as np

import lodcore
from lodcore.demo.vowels import data

recordings, speakers = data.load()[0]
print(recordings.lod)
track = recordings[..., 0]
lodcore.plot_lengths(track, unit="frames")

# %%
# Put some false measurements in, as instruments do, and find them again: they are far from the median of their
# neighbours. Windows of five frames around each, which end where a recording ends, are one call.

rng = np.random.default_rng(0)
false = rng.random(len(track.values)) < 0.01
broken = track.with_values(np.where(false, track.values + 4 * rng.choice([-1, 1], false.size), track.values))
smooth = lodcore.sequence_median(lodcore.windows_around(broken, 2, 2))
outlier = np.abs(broken - smooth) > 1
mended = np.where(outlier, smooth, broken)
print(f"{false.sum()} false, {np.count_nonzero(outlier.values)} found, {(outlier.values & false).sum()} of them right")

figure, axes = plt.subplots(figsize=(9, 3), layout="constrained")
some = int(np.flatnonzero(np.asarray(outlier.any(axis=1)))[0])
axes.plot(broken[some], "o-", color="#b06050", label="measured")
axes.plot(mended[some], "o-", color="#4878a8", label="mended")
axes.set(title=f"Recording {some}", xlabel="frame", ylabel="first coefficient")
axes.legend()

# %%
# A line is fitted to each recording; what is left when it is taken away is one subtraction.

frame = mended.with_values(mended.positions().astype(float))
intercept, slope, _, _ = lodcore.linear_fit(frame, mended, axis=1)
left = mended - (mended.per_sequence(intercept) + mended.per_sequence(slope) * frame)
print(f"standard deviation {mended.values.std():.3f}, without the lines {left.values.std():.3f}")

# %%
# Resampled at 25 points, all recordings have one length: a regular array, whose mean over the recordings of each
# speaker shows how he speaks.

regular = lodcore.sequence_resample(mended, 25).to_regular()
figure, axes = plt.subplots(3, 3, figsize=(9, 6), sharex=True, sharey=True, layout="constrained")
for speaker, axis in enumerate(axes.flat):
    mine = regular[speakers == speaker]
    axis.plot(np.linspace(0, 1, 25), mine.T, color="#4878a8", alpha=0.15, linewidth=0.8)
    axis.plot(np.linspace(0, 1, 25), mine.mean(axis=0), color="black")
    axis.set_title(f"speaker {speaker}", fontsize="medium")
figure.supxlabel("part of the recording")
figure.supylabel("first coefficient")
plt.show()
