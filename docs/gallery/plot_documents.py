"""
Documents: the words of a topic
===============================

27,296 glosses of WordNet come with the package: documents of sentences of words, each with a topic. Counts and scores
are reductions at one of the levels, and nothing is padded.
"""

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np

import lodcore
from lodcore.demo.glosses import data

glosses = data.load()
documents, topics = glosses.train
print(documents.lod)
print(glosses.topics[topics[10]] + ":", "; ".join(glosses.sentences(documents[10])))

# %%
# Three questions, one for each level.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
lodcore.plot_lengths(documents, level=0, axes=axes[0], unit="sentences")
lodcore.plot_lengths(documents, level=1, axes=axes[1], unit="words")

# %%
# In which part of the documents does a word occur? Without their inner level the documents are sequences of words;
# each counts once per document.

words = lodcore.sequence_unique(documents.flatten(1))
num_words = len(glosses.words)
frequency = np.bincount(words.values, minlength=num_words) / len(words)

# %%
# A word is typical of a topic if it occurs five times as often in its documents as elsewhere. All topics at once: the
# words of all documents of a topic are one sequence.

_, of_topic = lodcore.group_by(topics, words)
of_topic = of_topic.flatten(1)
topic = of_topic.lod.segment_ids()
counts = np.bincount(topic * num_words + of_topic.values, minlength=len(of_topic) * num_words)
counts = counts.reshape(len(of_topic), num_words)
share = counts / np.bincount(topics)[:, None]
score = np.where(share > 5 * frequency, share, 0)

chosen = [glosses.topics.index(name) for name in ("noun.food", "noun.animal", "noun.body", "verb.motion")]
figure, axes = plt.subplots(1, 4, figsize=(10, 3.4), layout="constrained")
for one, axis in zip(chosen, axes):
    best = np.argsort(-score[one])[:8][::-1]
    axis.barh([glosses.words[word] for word in best], score[one, best], color="#4878a8")
    axis.set(title=glosses.topics[one], xticks=[])
figure.suptitle("The words that tell most about a topic")
plt.show()
