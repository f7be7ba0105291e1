"""Clean, tokenise and pack a corpus: the function that workers run, and one process without an engine.

The input is text, the output bins of numbered words. The content of a bin must not depend on how an engine partitions
its work, so the corpus determines which documents are packed together: those of a row group of a file, which is a
*unit*. Engines receive the list of units, partition it in any way, and distribute it over workers; a worker reads one
unit after the other.
"""

import functools
import os
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet

import lodcore
from lodcore import LoD, LoDTensor, Vocabulary
from lodcore.batching import pack_plan
from lodcore.interop import arrow_batches

BUDGET = 2048  # tokens per bin
FEWEST = 3  # the minimum number of words of a document

#: One row per bin. `file` and `first_row` identify the unit, `bin` the bin in it; `rows` are the positions of the
#: documents in their file, and `tokens` their words. Spark needs offsets of 32 bits.
BINS = pyarrow.schema(
    [
        ("file", pyarrow.int64()),
        ("first_row", pyarrow.int64()),
        ("bin", pyarrow.int64()),
        ("rows", pyarrow.list_(pyarrow.int64())),
        ("tokens", pyarrow.list_(pyarrow.list_(pyarrow.int32()))),
    ]
)
UNITS = pyarrow.schema(
    [
        ("file", pyarrow.int64()),
        ("path", pyarrow.string()),
        ("row_group", pyarrow.int64()),
        ("first_row", pyarrow.int64()),
        ("num_rows", pyarrow.int64()),
    ]
)

# The translation of bytes: letters, digits, apostrophes and all bytes beyond ASCII are kept, in lower case; others
# become 0.
KEPT = np.zeros(256, np.uint8)
KEPT[128:] = np.arange(128, 256)
for character in "abcdefghijklmnopqrstuvwxyz0123456789'":
    KEPT[ord(character)] = KEPT[ord(character.upper())] = ord(character)


# -- functions of LoDTensors -------------------------------------------------------------------------------------------


def split_words(text):
    """Split documents of bytes into words in lower case.

    Parameters
    ----------
    text : LoDTensor of uint8
        Documents of bytes.

    Returns
    -------
    LoDTensor of uint8
        Documents of words of bytes.
    """
    letters, bounds = KEPT[text.values], text.lod.offsets()
    edges = np.zeros(len(letters) + 1, bool)
    kept = letters != 0
    if len(letters):
        edges[0], edges[-1] = kept[0], kept[-1]
        np.not_equal(kept[1:], kept[:-1], out=edges[1:-1])
    begins = edges[:-1] & kept
    ends = edges[1:] & kept
    inner = bounds[:-1][np.diff(bounds) > 0]  # words begin and end where documents do
    begins[inner] = kept[inner]
    last = bounds[1:][np.diff(bounds) > 0] - 1
    ends[last] = kept[last]
    starts, stops = np.flatnonzero(begins), np.flatnonzero(ends) + 1
    words = LoDTensor.from_starts_stops(letters, starts, stops)
    documents = np.searchsorted(starts, bounds)
    return LoDTensor(words.values, LoD.from_offsets(documents, words.lod.offsets()))


@functools.lru_cache(maxsize=4)
def vocabulary_of(file):
    """Load a vocabulary, once per process."""
    return Vocabulary.load(file)


def tokenise(text, vocabulary):
    """Number the words of documents: a LoDTensor of int32.

    Parameters
    ----------
    text : LoDTensor of uint8
    vocabulary : str
        A file that `Vocabulary.save` wrote; each worker reads it once.
    """
    ids = vocabulary_of(vocabulary).encode(split_words(text))
    return LoDTensor(ids.values.astype(np.int32), ids.lod)


def clean_and_tokenise(text, vocabulary):
    """Return a column of tokens, and whether each document has enough words to be kept."""
    tokens = tokenise(text, vocabulary)
    return {"tokens": tokens, "is_kept": tokens.lengths >= FEWEST}


def pack_unit(text, row, file, vocabulary="", budget=BUDGET):
    """Clean, tokenise and pack the documents of one unit: columns of bins.

    Parameters
    ----------
    text : LoDTensor of uint8, shape (n, None)
    row, file : int64 ndarray, shape (n,)
        The position of each document in its file, and the number of the file.
    vocabulary : str
    budget : int
    """
    made = clean_and_tokenise(text, vocabulary)
    kept = np.flatnonzero(made["is_kept"])
    tokens = lodcore.gather_sequences(made["tokens"], kept)
    plan = pack_plan(tokens, budget, overflow="split")
    count = plan.num_bins
    return {
        "file": np.full(count, file[0] if count else 0),
        "first_row": np.full(count, row[0] if count else 0),
        "bin": np.arange(count),
        "rows": LoDTensor(row[kept][plan.documents], plan.bins),
        "tokens": plan.apply(tokens),
    }


# -- units -------------------------------------------------------------------------------------------------------------


def list_units(corpus, num_files=None):
    """List the row groups of the Parquet files of a directory as a table, reading only the footers."""
    columns = {name: [] for name in UNITS.names}
    for number, path in enumerate(sorted(Path(corpus).glob("*.parquet"))[:num_files]):
        footer, first = pyarrow.parquet.read_metadata(path), 0
        for group in range(footer.num_row_groups):
            count = footer.row_group(group).num_rows
            for name, entry in zip(UNITS.names, (number, str(path.resolve()), group, first, count), strict=True):
                columns[name].append(entry)
            first += count
    return pyarrow.table(columns, UNITS)


def cut_units(units, size):
    """Split a table of units into tables of a number of rows.

    Each has memory of its own: a slice would be sent to a worker together with the whole table.
    """
    starts = range(0, units.num_rows, size)
    return [units.take(np.arange(first, min(first + size, units.num_rows))) for first in starts]


def read_units(batches, columns=("text",)):
    """Read units, one record batch each, with the position of each row.

    Parameters
    ----------
    batches : iterable of RecordBatch or Table
        Rows of the result of `list_units`.
    columns : sequence of str

    Yields
    ------
    RecordBatch
        The columns, and `file`, `path` and `row`. No other part of the file is in memory.
    """
    opened, reader = None, None
    for batch in batches:
        for unit in batch.to_pylist():
            if opened != unit["path"]:
                if reader is not None:
                    reader.close()
                opened, reader = unit["path"], pyarrow.parquet.ParquetFile(unit["path"], pre_buffer=False)
            table = reader.read_row_group(unit["row_group"], columns=list(columns), use_threads=False)
            count = table.num_rows
            places = np.arange(unit["first_row"], unit["first_row"] + count)
            path = pyarrow.DictionaryArray.from_arrays(np.zeros(count, np.int32), [unit["path"]])
            for name, column in (("file", np.full(count, unit["file"])), ("path", path), ("row", places)):
                table = table.append_column(name, pyarrow.array(column))
            yield table.combine_chunks().to_batches()[0]
    if reader is not None:
        reader.close()


class PackUnits:
    """The function for engines, from record batches of units to record batches of bins.

    Parameters
    ----------
    vocabulary : str
        A file that `Vocabulary.save` wrote.
    budget : int
    function : callable, optional
        A replacement for `pack_unit`.
    """

    def __init__(self, vocabulary, budget=BUDGET, function=pack_unit):
        packed = functools.partial(function, vocabulary=vocabulary, budget=budget)
        self.pack = arrow_batches(packed, keep=False, schema=BINS)

    def __call__(self, batches):
        """Yield the bins of each unit of an iterator of record batches."""
        use_one_thread()
        return self.pack(read_units(batches))

    def table(self, units):
        """Return the bins of a table of units as a table."""
        return pyarrow.Table.from_batches(self([units]), BINS)

    def write(self, units, output):
        """Write the bins of a table of units to a file, which is named after the first unit.

        The file is renamed when it is complete, and replaces one of the same name: the partial output of a dead worker
        does not count, and repeated tasks write the same file. Only one unit is in memory.

        Returns
        -------
        pyarrow.Table
            One row: the file, and the numbers of rows read and bins written.
        """
        first = units.slice(0, 1).to_pylist()[0]
        path = Path(output) / f"bins-{first['file']:04d}-{first['row_group']:06d}.parquet"
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        with pyarrow.parquet.ParquetWriter(draft, BINS, compression="snappy", use_dictionary=False) as writer:
            bins = 0
            for batch in self([units]):
                writer.write_batch(batch)
                bins += batch.num_rows
        os.replace(draft, path)
        return pyarrow.table({"path": [str(path)], "rows": [sum(units["num_rows"].to_pylist())], "bins": [bins]})


def use_one_thread():
    """Compute in the calling thread: an engine has a worker for each processor."""
    lodcore.set_num_threads(1)
    pyarrow.set_cpu_count(1)
    pyarrow.set_io_thread_count(1)


# -- without an engine -------------------------------------------------------------------------------------------------


def fit_vocabulary(corpus, file, num_units=16, max_size=50_000):
    """Make a vocabulary from the first units of a corpus, and save it; return the file."""
    units = list_units(corpus).slice(0, num_units)
    texts = [split_words(lodcore.from_arrow(batch.column("text"))) for batch in read_units([units])]
    words = lodcore.concat_batches(texts) if texts else lodcore.encode_utf8([[]])
    Vocabulary.fit(words, max_size=max_size).save(file)
    return str(file)


def run_alone(units, output, pack, units_per_file=64):
    """Do the same in this process, without an engine: read, compute, write one file per number of units.

    Parameters
    ----------
    units : pyarrow.Table
    output : path
    pack : PackUnits
    units_per_file : int
    """
    Path(output).mkdir(parents=True, exist_ok=True)
    for start in range(0, units.num_rows, units_per_file):
        pack.write(units.slice(start, units_per_file), output)


# -- reading the output ------------------------------------------------------------------------------------------------


def parquet_files(output):
    """List the Parquet files of a directory and its subdirectories."""
    return sorted(str(path) for path in Path(output).rglob("*.parquet") if not path.name.startswith("."))


def read_bins(output):
    """Read all bins in the order of the corpus, with dtypes that do not depend on the writer."""
    tables = [pyarrow.parquet.ParquetFile(path).read().select(BINS.names) for path in parquet_files(output)]
    tables = [table.cast(BINS) for table in tables]
    return pyarrow.concat_tables([BINS.empty_table(), *tables]).sort_by(
        [(name, "ascending") for name in ("file", "first_row", "bin")]
    )


def checksum(output):
    """Summarise bins independently of their order, for more bins than fit into memory.

    Returns
    -------
    dict of str to int
        The numbers of bins, pieces of documents and tokens, and a sum over all of them modulo 2**64, to which every
        token contributes with its unit, bin, document and position.
    """
    totals = {"bins": 0, "documents": 0, "tokens": 0, "sum": 0}
    for path in parquet_files(output):
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(4096, use_threads=False):
                found = lodcore.from_arrow(batch.select(BINS.names))
                tokens, rows = found["tokens"], found["rows"]
                with np.errstate(over="ignore"):
                    unit = mixed(mixed(found["file"]) + found["first_row"].astype(np.uint64))
                    bins = mixed(unit + found["bin"].astype(np.uint64))
                    pieces = mixed(bins[rows.lod.segment_ids()] + rows.values.astype(np.uint64))
                    lod = tokens.lod.drop(0)
                    places = lod.positions().astype(np.uint64)
                    sums = mixed(
                        pieces[lod.segment_ids()] + (places << np.uint64(32)) + tokens.values.astype(np.uint64)
                    )
                totals["bins"] += len(tokens)
                totals["documents"] += len(rows.values)
                totals["tokens"] += len(tokens.values)
                totals["sum"] = (totals["sum"] + int(sums.sum(dtype=np.uint64))) % 2**64
    return totals


def mixed(keys):
    """Mix the bits of integers (the finalizer of splitmix64)."""
    keys = keys.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def share_path():
    """Let processes that an engine starts import the modules that this process can import."""
    root = str(Path(__file__).resolve().parents[2])
    others = os.environ.get("PYTHONPATH", "")
    if root not in others.split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join([root, others]) if others else root
