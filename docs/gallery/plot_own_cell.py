"""
A cell of one's own: a minimal gated unit
=========================================

A recurrent cell is a function of a step's input, the state before it and parameters. `nn.dynamic_rnn` runs it over
sequences of different lengths: at each step only over those that have not ended. Here a cell that no library has
learns to tell nine speakers apart, in a few seconds.
"""

import matplotlib.pyplot as plt
import numpy as np

import lodcore
from lodcore import nn
from lodcore.demo.vowels import data

train, test = data.load()
mean, spread = train.frames.values.mean(axis=0), train.frames.values.std(axis=0)
frames = [part.frames.with_values(((part.frames.values - mean) / spread).astype(np.float32)) for part in (train, test)]
HIDDEN = 32

# %%
# The cell: one gate, which decides how much is forgotten, and how much of it the candidate sees.


def cell(p, x, hidden):
    gate = lodcore.sigmoid(x @ p["x_gate"] + hidden @ p["h_gate"] + p["b_gate"])
    candidate = np.tanh(x @ p["x"] + (gate * hidden) @ p["h"] + p["b"])
    hidden = hidden + gate * (candidate - hidden)
    return hidden, hidden


rng = np.random.default_rng(0)


def weights(rows, columns):
    return (rng.normal(size=(rows, columns)) / np.sqrt(rows)).astype(np.float32)


parameters = {
    "cell": {
        "x_gate": weights(12, HIDDEN),
        "h_gate": weights(HIDDEN, HIDDEN),
        "b_gate": np.zeros(HIDDEN, np.float32),
        "x": weights(12, HIDDEN),
        "h": weights(HIDDEN, HIDDEN),
        "b": np.zeros(HIDDEN, np.float32),
    },
    "out": weights(HIDDEN, 9),
}

# %%
# The network: run the cell, average the states of each recording, and classify. The loss is a function of the
# parameters, and `value_and_grad` gives its gradients in the same tree.


def logits(parameters, x):
    states, _ = nn.dynamic_rnn(cell, parameters["cell"], x, np.zeros((len(x), HIDDEN), np.float32))
    return lodcore.sequence_pool(states, "mean") @ parameters["out"]


def loss(parameters, x, speakers):
    return lodcore.mean(nn.cross_entropy(logits(parameters, x), speakers))


optimizer = nn.Adam(0.01)
state, step = optimizer.init(parameters), lodcore.value_and_grad(loss)
losses, right = [], []
for _ in range(20):
    for index in np.split(rng.permutation(270), 9):
        value, gradients = step(parameters, frames[0][index], train.speakers[index])
        parameters, state = optimizer.step(parameters, gradients, state)
        losses.append(float(value))
    right.append((logits(parameters, frames[1]).argmax(axis=1) == test.speakers).mean())
print(f"{right[-1]:.1%} of 370 recordings that it has not seen are right")

figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
axes[0].plot(losses, color="#4878a8")
axes[0].set(title="loss", xlabel="step", yscale="log")
axes[1].plot(range(1, 21), 100 * np.array(right), "o-", color="#4878a8")
axes[1].set(title="recordings of the test that are right, in %", xlabel="epoch")

# %%
# How sure is it while it listens? The states are a batch of sequences, like the frames: the output for each of
# them is the answer to what was heard so far.

states, _ = nn.dynamic_rnn(cell, parameters["cell"], frames[1], np.zeros((370, HIDDEN), np.float32))
heard = states.with_values(np.cumsum(states, axis=1).values / (1 + states.positions().values[:, None]))
said = heard @ parameters["out"]
correct = said.with_values(said.values.argmax(axis=1)) == said.per_sequence(test.speakers)
unpacked = lodcore.sequence_resample(correct.astype(float), 20).to_regular()
figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
axes.plot(np.linspace(0, 100, 20), 100 * unpacked.mean(axis=0), color="#4878a8")
axes.set(title="right after a part of the recording, in %", xlabel="part heard, in %", ylim=(0, 102))
plt.show()
