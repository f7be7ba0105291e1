"""A corpus of any size, by repetition: `python -m asv_benchmarks.engines.corpus DIRECTORY --gigabytes 1`.

Its documents are WordNet's glosses and the verses of the King James Bible, shuffled in each repetition.
Debian has both: `wordnet-base` puts the glosses into `/usr/share/wordnet`, `bible-kjv` has a program that prints the
verses. The files are Parquet, uncompressed, with one column of text and row groups of `GROUP` documents.
"""

import argparse
import subprocess
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet

from lodcore import concat_batches, from_arrow, gather_sequences
from lodcore.demo.glosses import data

GROUP = 16384  # documents per row group, which are packed together
FILE = 1 << 27  # bytes of text per file


def glosses_of_demo():
    """Load the glosses of the package: a LoDTensor of documents of bytes."""
    collection = data.load()
    documents = collection.train.documents
    return from_arrow(pyarrow.array(["; ".join(collection.sentences(document)) for document in documents[:4000]]))


def glosses_of_wordnet(directory):
    """Read all glosses of WordNet's files."""
    found = []
    for part in ("adj", "adv", "noun", "verb"):
        for line in (Path(directory) / f"data.{part}").read_text(encoding="utf-8").splitlines():
            if not line.startswith("  "):  # the licence at the head of the file is indented
                found.append(line.partition("| ")[2].strip())
    return found


def verses(program):
    """Read all verses that the program `bible` prints, without their numbers."""
    command = [*program.split(), "-f", "-l100000", "gen1:1-rev22:21"]
    printed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    lines = [line.strip().partition(" ")[2] for line in printed.splitlines()]
    return [line for line in lines if line]


def write_corpus(directory, documents, num_bytes, file_bytes=FILE, group=GROUP, seed=0):
    """Write documents repeatedly, shuffled each time, until a number of bytes of text is reached.

    Parameters
    ----------
    directory : path
    documents : LoDTensor of uint8
        Sequences of bytes of UTF-8.
    num_bytes, file_bytes : int
        Bytes of text in total, and per file.
    group : int
        Documents per row group.
    seed : int

    Returns
    -------
    list of str
        The files.
    """
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    random, schema = np.random.default_rng(seed), pyarrow.schema([("text", pyarrow.string())])
    files, written, waiting = [], 0, []
    while written < num_bytes:
        path = directory / f"corpus-{len(files):04d}.parquet"
        files.append(str(path))
        with pyarrow.parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
            room = min(file_bytes, num_bytes - written)
            while room > 0:
                while sum(map(len, waiting)) < group:
                    waiting.append(gather_sequences(documents, random.permutation(len(documents))))
                shuffled = concat_batches(waiting) if len(waiting) > 1 else waiting[0]
                taken, waiting = shuffled[:group], [shuffled[group:]]
                text = pyarrow.array(taken, pyarrow.large_string()).cast(pyarrow.string())
                writer.write_table(pyarrow.table([text], schema), row_group_size=group)
                room -= taken.num_rows
                written += taken.num_rows
    return files


def main():
    """Write a corpus."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--wordnet", default="/usr/share/wordnet", help="the directory of WordNet's files")
    parser.add_argument("--bible", default="bible", help="the program that prints verses, with its options")
    chosen = parser.parse_args()
    documents = from_arrow(pyarrow.array([*glosses_of_wordnet(chosen.wordnet), *verses(chosen.bible)]))
    files = write_corpus(chosen.directory, documents, int(chosen.gigabytes * 1e9))
    size = sum(Path(file).stat().st_size for file in files)
    print(f"{len(documents):,} documents of {documents.num_rows:,} bytes, repeated: {len(files)} files, {size:,} bytes")


if __name__ == "__main__":
    main()
