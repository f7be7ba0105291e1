"""
Packing: full rows for training
===============================

A model takes rows of 128 tokens; documents have from three to a hundred. Padded, most of each row is nothing. Packed,
several documents share a row, and a plan says which.
"""

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap

import lodcore
from lodcore.batching import pack_plan
from lodcore.demo.glosses import data

BUDGET = 128
documents = data.load().train.documents.flatten(1)
lodcore.plot_lengths(documents, unit="tokens")

# %%
# The plan depends on the lengths alone. Its report says how full the rows are, and whether anything was cut.

plan = pack_plan(documents, BUDGET)
print(plan.report())
packed = plan.apply(documents)
print(packed.lod)

# %%
# Forty rows, each document in a colour of its own: what a padded batch of 40 documents computes, and what a packed
# one does.


def picture(lengths_of_rows):
    """Number the documents of each row: 0 where there is none."""
    drawn = np.zeros((len(lengths_of_rows), BUDGET), int)
    for row, lengths in enumerate(lengths_of_rows):
        drawn[row, : sum(lengths)] = 1 + np.repeat(np.arange(len(lengths)), lengths) % 9
    return drawn


colors = ListedColormap(["#e6e6e6", *plt.get_cmap("tab10").colors[:9]])
padded = picture([[n] for n in documents.lengths[:40]])
full = picture(packed.num(1)[:: len(packed) // 40].tolist()[:40])
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
for axis, drawn, name in zip(axes, (padded, full), ("padded", "packed")):
    axis.imshow(drawn, cmap=colors, vmin=0, vmax=9, aspect="auto", interpolation="nearest")
    axis.set(title=f"{name}: {(drawn > 0).mean():.0%} of 40 rows are tokens", xlabel="token")
axes[0].set_ylabel("row")

# %%
# What a model computes for the packed tokens goes back to the documents with `undo`, bit for bit.

back = plan.undo(packed)
print("the same documents again:", lodcore.testing.assert_equal(back, documents) is None)

# %%
# How full the rows are, for every budget: the longer the rows, the more padding wastes, and the less packing does.

budgets = np.array([64, 96, 128, 192, 256, 384, 512])
fullness = [pack_plan(documents, int(budget), overflow="split").report().efficiency for budget in budgets]
figure, axes = plt.subplots()
axes.plot(budgets, 100 * np.array(fullness), "o-", label="packed")
axes.plot(budgets, 100 * documents.lengths.mean() / budgets, "o-", label="one document per row")
axes.set(xlabel="tokens per row", ylabel="filled, in %", ylim=(0, 105), title="How full rows are")
axes.legend()
plt.show()
