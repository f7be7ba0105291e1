"""Steps of optimizers on a million parameters: dense, in place, and some rows of a table; clipping."""

import numpy as np

from lodcore import SparseTensor, nn

SEED = 7
OPTIMIZERS = {
    "sgd": nn.SGD(0.01),
    "momentum": nn.SGD(0.01, momentum=0.9),
    "adam": nn.Adam(0.001),
    "adamw": nn.AdamW(0.001),
}


class Steps:
    """Seconds of a step."""

    params = [list(OPTIMIZERS), ["dense", "dense in place", "2,000 rows in place", "many small arrays"]]
    param_names = ["optimizer", "gradient"]
    repeat = (3, 30, 0.3)
    rounds = 1
    warmup_time = 0.02

    def setup(self, optimizer, kind):
        random = np.random.default_rng(SEED)
        self.optimizer, self.in_place = OPTIMIZERS[optimizer], "in place" in kind
        self.parameters = {"table": random.standard_normal((15_625, 64), np.float32)}
        self.gradients = {"table": random.standard_normal((15_625, 64), np.float32)}
        if "rows" in kind:
            rows = random.standard_normal((2000, 64), np.float32)
            self.gradients = {"table": SparseTensor(random.integers(0, 15_625, 2000), rows, 15_625)}
        if "small" in kind:
            self.parameters = {str(k): np.ones(64, np.float32) for k in range(100)}
            self.gradients = self.parameters
        self.state = self.optimizer.init(self.parameters)

    def time_step(self, *parameters):
        self.optimizer.step(self.parameters, self.gradients, self.state, in_place=self.in_place)


class Clipping:
    """Seconds of clipping a million gradients."""

    params = [["clipped", "within the limit"]]
    param_names = ["limit"]
    repeat = (3, 30, 0.3)
    rounds = 1
    warmup_time = 0.02

    def setup(self, limit):
        self.gradients = {"table": np.random.default_rng(SEED).standard_normal((15_625, 64), np.float32)}
        self.limit = 1.0 if limit == "clipped" else 1e9

    def time_clip(self, limit):
        nn.clip_by_global_norm(self.gradients, self.limit)
