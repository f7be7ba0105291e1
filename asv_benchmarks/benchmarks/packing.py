"""Packing plans, batches by budget, and inputs of attention: lodcore compared with NumPy where possible."""

import numpy as np

from lodcore import LoD, LoDTensor, gather_sequences
from lodcore.batching import attention_inputs, batches, cu_seqlens, pack_plan

BUDGET = 2048
COUNTS = {"10 thousand": 10_000, "1 million": 1_000_000}


def draw(count):
    lengths = np.random.default_rng(7).lognormal(np.log(300), 1.0, count)
    return lengths.astype(np.int64).clip(1, BUDGET)


class Plan:
    """Plan bins for log-normal lengths."""

    params = [["histogram", "best_fit_decreasing", "first_fit_decreasing", "next_fit"], list(COUNTS)]
    param_names = ["method", "documents"]
    repeat = (3, 20, 1.0)
    warmup_time = 0.02

    def setup(self, method, documents):
        self.lengths = draw(COUNTS[documents])

    def time_plan(self, method, documents):
        pack_plan(self.lengths, BUDGET, method)

    def track_full(self, method, documents):
        return pack_plan(self.lengths, BUDGET, method).report().efficiency


class Packed:
    """Apply a plan of 10 thousand documents, and undo it; compared with gather_sequences and a plain copy."""

    params = ["apply", "undo", "gather", "copy"]
    param_names = ["way"]
    repeat = (5, 30, 1.0)

    def setup(self, way):
        lengths = draw(10_000)
        x = LoDTensor(np.arange(int(lengths.sum())), LoD.from_lengths(lengths))
        plan = pack_plan(x, BUDGET)
        packed, documents = plan.apply(x), plan.documents
        self.call = {
            "apply": lambda: plan.apply(x),
            "undo": lambda: plan.undo(packed),
            "gather": lambda: gather_sequences(x, documents),
            "copy": x.values.copy,
        }[way]

    def time_call(self, way):
        self.call()


class Attention:
    """Compute the inputs of attention of 64 bins, compared with arrays of the same size that are filled."""

    params = ["cu_seqlens", "rows", "one row", "filled"]
    param_names = ["way"]
    repeat = (5, 50, 0.5)

    def setup(self, way):
        lengths = draw(1000)
        x = LoDTensor(np.arange(int(lengths.sum())), LoD.from_lengths(lengths))
        packed = pack_plan(x, BUDGET).apply(x)[:64]

        def fill():
            arrays = [np.empty((64, BUDGET), dtype) for dtype in (np.int64, np.int64, np.int64, np.int32, np.int32)]
            for array in arrays:
                array.fill(1)

        self.call = {
            "cu_seqlens": lambda: cu_seqlens(packed),
            "rows": lambda: attention_inputs(packed, BUDGET),
            "one row": lambda: attention_inputs(packed),
            "filled": fill,
        }[way]

    def time_call(self, way):
        self.call()


class Batches:
    """Plan batches of a budget of padded tokens."""

    params = list(COUNTS)
    param_names = ["sequences"]
    repeat = (3, 20, 1.0)

    def setup(self, sequences):
        self.lengths = draw(COUNTS[sequences])
        self.plan = batches(self.lengths, 8 * BUDGET)
        self.state = self.plan.state_dict()
        len(self.plan)

    def time_epoch(self, sequences):
        len(batches(self.lengths, 8 * BUDGET))

    def time_next_hundred(self, sequences):
        self.plan.seek(0)
        for _ in range(100):
            next(self.plan)

    def time_resume(self, sequences):
        self.plan.load_state_dict(self.state)
        next(self.plan)
