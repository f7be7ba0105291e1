"""Train a hierarchical GRU over words, sentences and documents of WordNet's glosses, and compare it with padding.

    python asv_benchmarks/peers/documents.py [DIRECTORY] [--epochs 5] [--batches 8] [--rounds 5] [--hidden 128]

DIRECTORY contains `data.noun`, `data.verb`, `data.adj` and `data.adv` of WordNet 3.0; the default, /usr/share/wordnet,
is where Debian's package wordnet-base installs them. Each gloss is a document; its topic is its lexicographer file, one
of 45. The md5 of its words determines whether it is for training or for the test.

First it trains without padding, and prints loss and test accuracy of each epoch (`--epochs 0` omits that). Then, if
torch is installed, the same steps (loss, gradients, Adam with sparse rows) on the same batches are timed in turns, by
lodcore and by torch padded on both levels, in one process, on one thread: medians of processor seconds.
"""

import argparse
import os
import statistics
import time
from collections import Counter
from pathlib import Path

for _library in ("OMP", "MKL", "OPENBLAS"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import numpy as np  # noqa: E402  after the variables that it reads

import lodcore  # noqa: E402
from lodcore import LoDTensor, nn  # noqa: E402
from lodcore.demo.glosses.data import Glosses  # noqa: E402
from lodcore.demo.glosses.hierarchical import Reader, ReaderSettings, percent_named  # noqa: E402
from lodcore.demo.glosses.make import part_of, read  # noqa: E402


def wordnet(directory):
    """Read all glosses: return those for training, those for the test, and the numbers of words and topics."""
    documents = [d for kind in ("noun", "verb", "adj", "adv") for d in read(directory / f"data.{kind}", 1)]
    parts = {"train": [], "dev": [], "test": []}
    for document in documents:
        parts[part_of(document)].append(document)
    counts = Counter(word for d in parts["train"] for words in d.sentences for word in words)
    number = {word: k + 1 for k, word in enumerate(sorted(word for word in counts if counts[word] > 1))}
    topics = {topic: k for k, topic in enumerate(sorted({d.topic for d in documents}))}

    def glosses(part):
        sentences = [words for d in part for words in d.sentences]
        lengths = [len(d.sentences) for d in part], [len(words) for words in sentences]
        ids = np.array([number.get(word, 0) for words in sentences for word in words])
        return Glosses(LoDTensor.from_lengths(ids, *lengths), np.array([topics[d.topic] for d in part]))

    return glosses(parts["train"]), glosses(parts["test"]), len(number) + 1, len(topics)


def train(reader, learnt_from, judged_on, seed):
    """Train, and print the progress."""
    rng = np.random.default_rng(seed)
    parameters = reader.init(rng)
    start, spent = time.process_time(), 0.0
    for epoch, loss in enumerate(reader.learn(parameters, learnt_from, rng), 1):
        spent += time.process_time() - start
        accuracy = percent_named(reader, parameters, judged_on)
        print(f"epoch {epoch}: loss {loss:.3f}, {accuracy:.2f} % of the test, {spent:.0f} s of training", flush=True)
        start = time.process_time()


def by_lodcore(reader, num_words, batches):
    """Make a call that runs one training step for each batch."""
    rng = np.random.default_rng(0)
    parameters, optimizer = reader.init(rng), nn.Adam(1e-3)
    state, loss_and_gradients = optimizer.init(parameters), lodcore.value_and_grad(reader.loss)

    def call():
        nonlocal state
        for documents, topics in batches:
            _, gradients = loss_and_gradients(parameters, documents, topics, rng)
            _, state = optimizer.step(parameters, gradients, state, in_place=True)

    return call


def by_torch(torch, settings, num_words, num_topics, batches):
    """Make the same call with torch, padded on both levels: ids of shape (documents, sentences, words)."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    hidden = settings.num_hidden
    table = torch.nn.Embedding(num_words, settings.width, sparse=True)
    words, sentences = torch.nn.GRU(settings.width, hidden), torch.nn.GRU(hidden, hidden)
    topics_of, dropout = torch.nn.Linear(hidden, num_topics), torch.nn.Dropout(settings.dropout)
    dense = [p for layer in (words, sentences, topics_of) for p in layer.parameters()]
    optimizers = [torch.optim.SparseAdam(table.parameters(), 1e-3), torch.optim.Adam(dense, 1e-3)]
    given = [padded(torch, documents, topics) for documents, topics in batches]

    def last(outputs, lengths):  # the row of (steps, n, hidden) at the last step of each, zeros if there is none
        found = outputs.gather(0, (lengths - 1).clamp(min=0)[None, :, None].expand(1, -1, hidden))[0]
        return found * (lengths > 0)[:, None]

    def call():
        for ids, num_sentences, num_words, topics in given:
            count, most, longest = ids.shape
            x = dropout(table(ids)).reshape(count * most, longest, -1).transpose(0, 1)
            of_sentence = last(words(x)[0], num_words.reshape(-1)).reshape(count, most, hidden)
            document = last(sentences(of_sentence.transpose(0, 1))[0], num_sentences)
            loss = torch.nn.functional.cross_entropy(topics_of(dropout(document)), topics)
            for optimizer in optimizers:
                optimizer.zero_grad()
            loss.backward()
            for optimizer in optimizers:
                optimizer.step()

    return call, sum(ids.numel() for ids, *_ in given)


def padded(torch, documents, topics):
    """Pad documents on both levels."""
    num_sentences, lengths = documents.lod.lengths(0), documents.lod.lengths(1)
    ids = np.zeros((len(documents), num_sentences.max(), lengths.max()), np.int64)
    num_words = np.zeros(ids.shape[:2], np.int64)
    num_words[np.arange(ids.shape[1]) < num_sentences[:, None]] = lengths
    ids[np.arange(ids.shape[2]) < num_words[:, :, None]] = documents.values
    return [torch.from_numpy(array) for array in (ids, num_sentences.copy(), num_words, topics)]


def compare(reader, learnt_from, num_words, num_topics, options):
    """Print the times of training steps, padded and not."""
    try:
        import torch
    except ImportError:
        print("torch is not installed: no comparison")
        return
    order = np.random.default_rng(1).permutation(len(learnt_from.topics))
    size = reader.settings.batch_size
    batches = [
        (learnt_from.documents[some], learnt_from.topics[some])
        for some in np.array_split(order[: size * options.batches], options.batches)
    ]
    others, num_padded = by_torch(torch, reader.settings, num_words, num_topics, batches)
    calls = {"lodcore": by_lodcore(reader, num_words, batches), "padded": others}
    found = {name: [] for name in calls}
    for _ in range(options.rounds + 1):
        for name, call in calls.items():
            start = time.process_time()
            call()
            found[name].append(time.process_time() - start)
    seconds = {name: statistics.median(times[1:]) for name, times in found.items()}
    num_real = sum(documents.num_rows for documents, _ in batches)
    filling = 1 - num_real / num_padded
    print(f"batches of {size} documents: {num_real:,} words; padded {num_padded:,}, {filling:.1%} filling")
    for name, each in seconds.items():
        print(f"{name:8} {1e3 * each / len(batches):7.1f} ms a step, {num_real / each:9,.0f} words a second")
    print(f"torch padded / lodcore: {seconds['padded'] / seconds['lodcore']:.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, nargs="?", default=Path("/usr/share/wordnet"))
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--batches", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    learnt_from, judged_on, num_words, num_topics = wordnet(options.directory)
    print(f"{len(learnt_from.topics):,} documents for training, {len(judged_on.topics):,} for the test, ", end="")
    print(f"{num_words:,} words, {num_topics} topics", flush=True)
    settings = ReaderSettings(width=options.hidden, num_hidden=options.hidden, num_epochs=options.epochs)
    reader = Reader(num_words, num_topics, settings)
    if options.epochs:
        train(reader, learnt_from, judged_on, options.seed)
    compare(reader, learnt_from, num_words, num_topics, options)


if __name__ == "__main__":
    main()
