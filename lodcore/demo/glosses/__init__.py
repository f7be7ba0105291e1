"""The second act of the demo: classify dictionary entries by topic, from words to sentences to documents."""

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lodcore
from lodcore.demo.glosses import network
from lodcore.demo.glosses.agreement import differences, measure_padding
from lodcore.demo.glosses.data import Collection, Glosses, load
from lodcore.demo.glosses.network import SETTINGS, NaiveBayes, Parameters
from lodcore.demo.page import Glyphs, bar, describe, nested_padding_picture, print_heading

__all__ = ["play"]

SHOWN = (2758, 1159, 132, 3027)  # test documents whose weights are printed
NUM_CHECKED = 20  # documents that are also computed by hand
NUM_DRAWN = 10  # number of documents in the picture, with at most as many
DRAWN_SENTENCES, DRAWN_WORDS = 4, 17  # sentences, and at most as many words per sentence


def play(glyphs: Glyphs, num_seeds: int) -> None:
    """Play the act.

    Parameters
    ----------
    glyphs : Glyphs
        The characters to draw with.
    num_seeds : int
        The number of networks to train.
    """
    started = perf_counter()
    glosses = load()
    print_task(glosses, glyphs)
    baselines = measure_baselines(glosses)
    for name, accuracy in baselines.items():
        print(f"  {name:28}{describe(accuracy, len(glosses.test.topics))}", flush=True)
    accuracies, rates = [], []
    for seed in range(num_seeds):
        parameters, accuracy, rate = measure_network(glosses, seed)
        accuracies.append(accuracy)
        rates.append(rate)
    print_comparison(accuracies, baselines, glyphs)
    print_weights(glosses, parameters, glyphs)
    print_agreement(glosses.test, parameters, glyphs)
    print_padding(glosses.test, parameters, glyphs)
    print_speed(float(np.median(rates)), perf_counter() - started, glyphs)


def print_task(glosses: Collection, glyphs: Glyphs) -> None:
    """Print the data and the task."""
    parts = (glosses.train, glosses.dev, glosses.test)
    lengths = [np.concatenate([part.documents.lod.lengths(level) for part in parts]) for level in (0, 1)]
    print_heading("What is it about?", glyphs)
    print(f"  {len(lengths[0]):,} glosses of WordNet's nouns and verbs, definitions with examples:")
    print(f"  {lengths[0].min()} to {lengths[0].max()} sentences of {lengths[1].min()} to {lengths[1].max()} words.")
    print(f"  Learn from {len(glosses.train.topics):,}; say what another {len(glosses.test.topics):,} are about:")
    print(f"  {glosses.topics[2]}, {glosses.topics[-6]}, or another of {len(glosses.topics)} topics.")
    print("  Words are pooled to sentences; a softmax weighs the sentences of each gloss.")
    print("  All is learnt by gradients, through both levels. Nothing is padded.\n", flush=True)


def percent_right(scores: NDArray[Any], glosses: Glosses) -> float:
    """Return the share of documents, in percent, whose topic has the highest score."""
    return 100 * float(np.mean(scores.argmax(axis=1) == glosses.topics))


def measure_baselines(glosses: Collection) -> dict[str, float]:
    """Return the accuracy, in percent, of always choosing the most frequent topic, and of counting words."""
    commonest = np.bincount(glosses.train.topics).argmax()
    counts = NaiveBayes.fit(glosses.train, len(glosses.words), len(glosses.topics), SETTINGS.smoothing)
    return {
        f"always {glosses.topics[commonest]}": 100 * float(np.mean(glosses.test.topics == commonest)),
        "naive Bayes, no sentences": percent_right(counts.scores(glosses.test.documents), glosses.test),
    }


def measure_network(glosses: Collection, seed: int) -> tuple[Parameters, float, float]:
    """Train a network on one part, test it on another, and print its progress.

    Returns
    -------
    parameters : dict of ndarray
    accuracy : float
        In percent.
    rate : float
        Training speed in words per second.
    """
    generator = np.random.default_rng(seed)
    parameters = network.draw(len(glosses.words), len(glosses.topics), SETTINGS, generator)
    print(f"  seed {seed}   loss", end="", flush=True)
    started = perf_counter()
    for loss in network.learn(parameters, glosses.train, SETTINGS, generator):
        print(f" {loss:.2f}", end="", flush=True)
    seconds = perf_counter() - started
    accuracy = percent_right(network.scores(parameters, glosses.test.documents), glosses.test)
    print(f"{'':6}{describe(accuracy, len(glosses.test.topics))}   {seconds:4.1f} s", flush=True)
    return parameters, accuracy, SETTINGS.num_epochs * glosses.train.documents.num_rows / seconds


def print_comparison(accuracies: Sequence[float], baselines: Mapping[str, float], glyphs: Glyphs) -> None:
    """Print the error rates of this method and of others as bars."""
    average = float(np.mean(accuracies))
    print_heading("Mistakes", glyphs)
    print(f"  Average of the networks: {average:.2f} % right, ", end="")
    print(f"from {min(accuracies):.2f} to {max(accuracies):.2f}, deviation {np.std(accuracies):.2f}.\n")
    for name, accuracy in (("these networks", average), *reversed(list(baselines.items()))):
        print(f"  {name:30}{100 - accuracy:5.1f} %  {bar(0.4 * (100 - accuracy), glyphs)}")


def print_weights(glosses: Collection, parameters: Parameters, glyphs: Glyphs) -> None:
    """Print the weights of sentences."""
    _, weights = network.read(parameters, glosses.test.documents)
    shares = lodcore.sequence_pool(weights, "first")[:, 0] * glosses.test.documents.lengths
    print_heading("Which sentence says it", glyphs)
    print(f"  The first, which defines, weighs {np.mean(shares):.2f} times an equal share. Some glosses,")
    print("  what the last network says they are about, and what their sentences weigh:\n")
    for number in SHOWN:
        document, right = glosses.test.documents[number : number + 1], glosses.test.topics[number]
        found = network.scores(parameters, document)[0].argmax()
        print(f"  {glosses.topics[found]}{'' if found == right else f', but is {glosses.topics[right]}'}")
        for weight, sentence in zip(weights[number][:, 0], glosses.sentences(document[0]), strict=True):
            print(f"  {100 * weight:4.0f} %  {bar(10 * weight, glyphs):10} {sentence}")


def print_agreement(glosses: Glosses, parameters: Parameters, glyphs: Glyphs) -> None:
    """Print the differences between the network and plain Python loops."""
    documents, topics = glosses.documents[:NUM_CHECKED], glosses.topics[:NUM_CHECKED]
    found = differences(parameters, Glosses(documents, topics))
    print_heading("The same by hand", glyphs)
    print(f"  {NUM_CHECKED} glosses, word by word and number by number in plain Python loops:")
    for name, difference in found.items():
        print(f"  {name:12}differ by at most {difference:.0e}")


def print_padding(glosses: Glosses, parameters: Parameters, glyphs: Glyphs) -> None:
    """Print the size and the time of padded batches of the same documents."""
    found = measure_padding(parameters, glosses, SETTINGS.batch_size, 0)
    print_heading("What padding would have cost", glyphs)
    for line in nested_padding_picture(small_documents(glosses), glyphs):
        print(f"  {line}")
    print(f"\n  {glyphs.solid} word   {glyphs.padding} padding   (one line per gloss, from the smaller ones)\n")
    for name, num_words, seconds in (
        ("padded", found.num_padded, found.seconds_padded),
        ("as they are", found.num_words, found.seconds),
    ):
        ratios = num_words / found.num_words, seconds / found.seconds
        print(f"  {name:14}{num_words:9,} words {ratios[0]:6.2f} x {1000 * seconds:9.0f} ms {ratios[1]:6.2f} x")
    print(f"\n  From words to scores of all {len(glosses.topics):,}, {SETTINGS.batch_size} at a time, padded by NumPy,")
    print(f"  not counting the time to pad. The scores differ by at most {found.difference:.0e}.")


def small_documents(glosses: Glosses) -> list[list[int]]:
    """Return the numbers of words per sentence of documents for which a picture has room, most sentences first."""
    chosen: list[list[int]] = []
    for document in glosses.documents:
        lengths = [len(words) for words in document.tolist()]
        if len(lengths) <= DRAWN_SENTENCES and max(lengths) <= DRAWN_WORDS:
            chosen.append(lengths)
        if len(chosen) == NUM_DRAWN:
            break
    return sorted(chosen, key=lambda lengths: (len(lengths), max(lengths)), reverse=True)


def print_speed(rate: float, seconds: float, glyphs: Glyphs) -> None:
    """Print the training speed, and the total time."""
    print_heading("Speed", glyphs)
    print(f"  {rate:,.0f} words per second, forward and backward, in training")
    print(f"  {seconds:.1f} s in total\n")
