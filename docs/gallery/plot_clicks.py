"""
Clicks: sessions and a funnel
=============================

A shop has a log with one row per event: who, when, what. Most visitors leave a few rows, some leave thousands, so that
a table with one line per visitor would be mostly empty. Here each visitor is a sequence.
"""

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np

import lodcore

# %%
# Make a log of 20,000 visitors. It is ordered by time, and so the visitors are mixed.

rng = np.random.default_rng(0)
visits = np.minimum(1 + rng.pareto(1.1, 20_000), 500).astype(int)
visitor = np.repeat(np.arange(20_000), visits)
minute = np.cumsum(
    rng.choice([1.0, 4.0, 700.0], visitor.size, p=[0.5, 0.35, 0.15]) * rng.exponential(size=visitor.size)
)
minute -= np.repeat(minute[np.cumsum(visits) - visits], visits)
page = rng.choice(["home", "item", "cart", "pay"], visitor.size, p=[0.35, 0.4, 0.15, 0.1])
order = np.argsort(minute, kind="stable")
visitor, minute, page = visitor[order], minute[order], page[order]
print(f"{visitor.size:,} rows;", f"the last: visitor {visitor[-1]}, minute {minute[-1]:.0f}, {page[-1]}")

# %%
# One sequence per visitor: a group keeps the order of the log, that of time. The lengths have a heavy tail.

visitors, minutes, pages = lodcore.group_by(visitor, minute, page)
lodcore.plot_lengths(pages, unit="events")

# %%
# A session ends where nothing happened for half an hour. Cutting adds a level: visitors have sessions of events.

gaps = lodcore.sequence_gaps(minutes, 30)
sessions, times = lodcore.sequence_split(pages, gaps), lodcore.sequence_split(minutes, gaps)
duration = np.ptp(times, axis=2)
num_sessions = sessions.lod.num_sequences(1)
print(f"{len(sessions):,} visitors with {num_sessions:,} sessions")
print(f"median session: {np.median(duration.values):.1f} minutes, {np.median(sessions.lod.lengths(1)):.0f} events")

# %%
# The funnel: in how many sessions does each step happen after the step before it? The time of the first such event is a
# minimum over each session.

steps = ["home", "item", "cart", "pay"]
after, reached = None, []
for step in steps:
    counted = sessions == step if after is None else (sessions == step) & (times > times.per_sequence(after))
    after = np.where(counted, times, np.inf).min(axis=2)
    reached.append(int(np.isfinite(after.values).sum()))

figure, axes = plt.subplots()
bars = axes.barh(steps[::-1], reached[::-1], color="#4878a8")
axes.bar_label(bars, [f"{n:,} ({n / num_sessions:.0%})" for n in reached[::-1]], padding=4)
axes.set(title="Sessions that reach each step, in this order", xlim=(0, 1.35 * reached[0]), xlabel="sessions")
plt.show()
