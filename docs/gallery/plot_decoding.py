"""
Decoding: how is it pronounced?
===============================

A network that reads the letters of an English word and says its phonemes comes with the package. Beam search keeps the
most probable beginnings of each word; finished ones leave, so that short words cost nothing while long ones go on.
"""

import matplotlib.pyplot as plt
import numpy as np

from lodcore.demo.glosses import data as glosses
from lodcore.demo.pronounce import model
from lodcore.demo.pronounce.data import PHONEMES, letters_of

speaker = model.load()
words = ["box", "knight", "banana", "colonel", "chrysanthemum"]
letters = letters_of(words)
print(letters.lod)

# %%
# Search with five branches for each word, and show the three best: words, pronunciations, phonemes.

said = speaker.say(letters, beam_size=5, num_results=3)
for word, pronunciations, scores in zip(words, said.phonemes.tolist(), said.scores.tolist()):
    for phonemes, score in zip(pronunciations, scores):
        print(f"{word:14} {np.exp(score):6.1%}  {' '.join(PHONEMES[one] for one in phonemes)}")

# %%
# Where does it look? The attention of each phoneme to each letter is a matrix per word, each of a size of its own.

best = speaker.say(letters, beam_size=5).phonemes.flatten(0)
attention = speaker.attention(letters, best)
figure, axes = plt.subplots(1, 3, figsize=(11, 4), layout="constrained")
for axis, at in zip(axes, (1, 3, 4)):
    weights = np.stack(attention[at].tolist())
    axis.imshow(weights, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    axis.set_xticks(range(len(words[at])), words[at])
    axis.set_yticks(range(len(weights)), [*(PHONEMES[one] for one in best[at]), "end"])
    axis.set_title(words[at])
figure.supylabel("phoneme")
figure.supxlabel("letter")

# %%
# What does a wider beam buy? For 200 words of WordNet's glosses: how many have a more probable pronunciation than the
# one that takes the most probable phoneme at each step?

vocabulary = [word for word in glosses.load().words if word.isascii() and word.isalpha() and len(word) > 3]
letters = letters_of(vocabulary[::40][:200])
sizes, found = [1, 2, 3, 4, 6], []
for size in sizes:
    found.append(speaker.say(letters, beam_size=size).scores.values)
better = [100 * (score > found[0] + 1e-4).mean() for score in found]
figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
axes.plot(sizes, better, "o-", color="#4878a8")
axes.set(title="words with a more probable pronunciation, in %", xlabel="branches per word", ylim=(0, None))
plt.show()
