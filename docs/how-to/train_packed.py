"""Train a tiny transformer of torch to continue WordNet's glosses, padded and packed side by side.

    python docs/how-to/train_packed.py --steps 100

Both start with the same weights and get the same documents in every step, so that their losses are equal up to
rounding. They differ in the amount of work: a padded batch has as many tokens as its longest gloss times the number of
glosses, a packed one hardly more than the glosses have. The table shows the loss of both, and how many words (not
padding) each processes per second.
"""

import argparse
import copy
import time
from importlib import import_module

import numpy as np

from lodcore import LoDTensor, gather_sequences
from lodcore.batching import attention_inputs, batches, pack_plan
from lodcore.demo.glosses import data

WIDTH, HEADS, LAYERS, BUDGET = 64, 4, 2, 128
DOCUMENTS = 64  # per step
WORDS = 2000  # the commonest ones; all others are word 0
IGNORED = -100


def glosses(lowest=3):
    """Load the words of each gloss, with its sentences joined: a LoDTensor of documents of words."""
    documents = data.load().train.documents
    common = np.argsort(-np.bincount(documents.values), kind="stable")[: WORDS - 1]
    numbers = np.zeros(documents.values.max() + 1, np.int64)
    numbers[common] = np.arange(1, WORDS)
    joined = LoDTensor(numbers[documents.values], documents.lod.drop(1))
    return gather_sequences(joined, np.flatnonzero(joined.lengths >= lowest))


def make_model(torch):
    """Make embeddings, encoder layers under a mask, and a product with the embeddings."""
    nn = torch.nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(BUDGET, WIDTH)
            nn.init.normal_(self.words.weight, std=0.05)
            layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout=0.0, batch_first=True)
            self.layers = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)

        def forward(self, inputs):
            x = self.words(inputs.input_ids) + self.places(inputs.position_ids)
            blocked = ~inputs.mask()
            x = self.layers(x, mask=blocked.repeat_interleave(HEADS, dim=0))
            wanted = inputs.labels != IGNORED  # logits only where there is a label
            logits = x[wanted] @ self.words.weight.T
            return nn.functional.cross_entropy(logits, inputs.labels[wanted])

    return Model()


def padded(documents):
    """Put one document into each row, as long as the longest."""
    rows = pack_plan(documents, max(documents.lengths), "in_order", max_items=1)
    return attention_inputs(rows.apply(documents), max(documents.lengths), shift_labels=True, library="torch")


def packed(documents):
    """Fill rows of the budget with documents."""
    plan = pack_plan(documents, BUDGET)
    return attention_inputs(plan.apply(documents), BUDGET, shift_labels=True, library="torch")


def main():
    """Train both, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch = import_module("torch")
    torch.manual_seed(chosen.seed)
    documents, model = glosses(), make_model(torch)
    ways = {"padded": padded, "packed": packed}
    models = {name: copy.deepcopy(model) for name in ways}
    optimizers = {name: torch.optim.Adam(one.parameters(), lr=1e-3) for name, one in models.items()}
    spent, rows, losses, tokens = dict.fromkeys(ways, 0.0), dict.fromkeys(ways, 0), {}, 0
    plan = batches(documents, 2**40, count="sum", max_items=DOCUMENTS, seed=chosen.seed)
    print(f"{len(documents):,} glosses of {documents.lengths.min()} to {documents.lengths.max()} words\n")
    print(f"{'step':>5}{'loss padded':>14}{'loss packed':>14}{'difference':>13}")
    for step, batch in zip(range(chosen.steps), plan, strict=False):
        chosen_documents = gather_sequences(documents, batch)
        tokens += chosen_documents.num_rows
        for name, way in ways.items():
            start = time.perf_counter()
            inputs = way(chosen_documents)
            loss = models[name](inputs)
            optimizers[name].zero_grad()
            loss.backward()
            optimizers[name].step()
            spent[name] += time.perf_counter() - start
            rows[name] += inputs.input_ids.numel()
            losses[name] = loss.item()
        if step % 10 == 0 or step == chosen.steps - 1:
            one, other = losses["padded"], losses["packed"]
            print(f"{step:>5}{one:>14.4f}{other:>14.4f}{abs(one - other):>13.1e}")
    print(f"\n{'':<8}{'words per second':>16}{'tokens computed':>17}{'words only':>15}")
    for name in ways:
        print(f"{name:<8}{tokens / spent[name]:>16,.0f}{rows[name]:>17,}{100 * tokens / rows[name]:>14.1f}%")


if __name__ == "__main__":
    main()
