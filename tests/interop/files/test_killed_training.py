"""A training that is killed, and goes on from its file with the same bits."""

import signal
import subprocess
import sys

import numpy as np

import lodcore
from tests.helpers.processes import environment

TRAINING = """
import os, signal, sys
import numpy as np
import lodcore
from lodcore import nn
from lodcore.batching import batches
from lodcore.graph import Executor, Program, append_backward, data, parameter

file, steps, dies = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rows = lodcore.LoDTensor.from_lengths(np.arange(24.0).reshape(12, 2) / 24, [1, 2, 0, 3, 4, 2])
plan, executor, rng = batches(rows, max_tokens=5, seed=1), Executor(), np.random.default_rng(7)
if os.path.exists(file):
    kept = lodcore.load(file)
    program, rng, done = kept["program"], kept["rng"], kept["done"]
    plan.load_state_dict(kept["batches"])
else:
    done = 0
    with Program() as program:
        x = data("x", (None, 2), "float64", num_levels=1)
        parameters = {"w": parameter(np.ones((2, 1)), "w")}
        y = nn.dropout(x, 0.5, np.random.default_rng(0)) @ parameters["w"]
        loss = lodcore.ops.sum(y * y)
        nn.Adam(nn.linear_schedule(0.1, 20)).step(parameters, append_backward(loss, parameters=parameters))
while done < steps:
    index = next(plan, None)
    if index is None:
        continue
    batch = lodcore.gather_sequences(rows, index)
    batch = batch.with_values(batch.values + rng.standard_normal(batch.values.shape))
    executor.run(program, feed={"x": batch})
    done += 1
    if done == dies:
        os.kill(os.getpid(), signal.SIGKILL)
    tree = {"program": program, "rng": rng, "batches": plan.state_dict(), "done": done}
    lodcore.save(file, tree, executor.scope)
"""


def test_training_that_is_killed_and_resumed_has_the_bits_of_one_without_interruption(tmp_path):
    """Three processes train, which takes seconds."""

    def train(name, dies, code):
        command = [sys.executable, "-c", TRAINING, str(tmp_path / name), "9", str(dies)]
        assert subprocess.run(command, env=environment(), cwd=tmp_path, check=False).returncode == code

    train("at_once.npz", 0, 0)
    train("killed.npz", 6, -signal.SIGKILL)
    assert lodcore.load(tmp_path / "killed.npz")["done"] == 5
    train("killed.npz", 0, 0)
    one, other = (lodcore.load(tmp_path / name) for name in ("at_once.npz", "killed.npz"))
    assert one["batches"] == other["batches"]
    assert one["rng"].bit_generator.state == other["rng"].bit_generator.state
    values = [{v.name: v.get().tobytes() for v in tree["program"].parameters} for tree in (one, other)]
    assert values[0] == values[1]
    assert not np.array_equal(one["program"].var("w").get(), np.ones((2, 1)))
