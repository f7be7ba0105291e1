"""arrow_batches with objects of pyarrow, and the pipeline without an engine."""

import functools
import pickle
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.compute
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from asv_benchmarks.engines import pipeline
from lodcore import LoDTensor
from lodcore.errors import BatchError
from lodcore.interop import arrow_batches
from tests.helpers.draw import lod_tensors
from tests.helpers.engines import GROUP, corpus, watched
from tests.helpers.libraries import MARKS

pytestmark = MARKS

PLACES = pyarrow.schema([("values", pyarrow.list_(pyarrow.float32())), ("row", pyarrow.int32())])


def table_of(count=6):
    """Make a table of lists, text, and the place of each row."""
    lists = [[float(k)] * (k % 3) for k in range(count)]
    text = [f"Ab{k}" for k in range(count)]
    paths = ["one.parquet" if k < count // 2 else "two.parquet" for k in range(count)]
    return pyarrow.table({"values": lists, "name": text, "path": paths, "row": np.arange(100, 100 + count)})


def double(values):
    return values * 2


def lower(name):
    return LoDTensor(name.values | 0x20, name.lod)


def refuse_four(values):
    if (values.values == 4).any():
        raise ValueError("four")
    return values


# -- kinds of batches ----------------------------------------------------------------------------------------------


@given(lod_tensors(1, 3, [np.dtype("i8"), np.dtype("f4")], [(), (2,)]), st.integers(1, 5))
def test_lists_of_any_depth_go_through(x, max_rows):
    table = pyarrow.table({"values": pyarrow.array(x), "row": np.arange(len(x))})
    made = arrow_batches(double, max_rows=max_rows)(table)
    again = lodcore.from_arrow(made)
    assert made.column_names == ["values", "row"]
    assert again["values"].equals(x * 2)
    assert again["values"].dtype == x.dtype
    assert again["row"].tolist() == list(range(len(x)))


def test_each_kind_comes_back():
    table, function = table_of(), arrow_batches(double)
    want = [[2 * float(k)] * (k % 3) for k in range(6)]
    made = function(table)
    assert isinstance(made, pyarrow.Table)
    assert made["values"].to_pylist() == want
    assert made.select(["name", "path", "row"]).equals(table.select(["name", "path", "row"]))
    (batch,) = table.to_batches()
    assert isinstance(function(batch), pyarrow.RecordBatch)
    assert function(batch)["values"].to_pylist() == want
    stream = function(iter(table.to_batches(max_chunksize=4)))
    assert next(stream).num_rows == 4  # nothing is read ahead
    assert next(stream)["values"].to_pylist() == want[4:]
    reader = pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=1))
    assert [found for batch in function(reader) for found in batch["values"].to_pylist()] == want
    assert list(function(iter([]))) == []
    assert function(lodcore.interop.ArrowTable({"values": lodcore.array([[1], []])}))["values"].to_pylist() == [[2], []]


def test_chunks_and_slices():
    table = pyarrow.concat_tables([table_of(4), table_of(5)]).slice(2, 6)
    assert arrow_batches(double)(table)["values"].to_pylist() == [
        [2 * v for v in row] for row in table["values"].to_pylist()
    ]


def test_columns_of_one_structure_share_one_lod():
    seen = []

    def look(a, b):
        seen.append(a.lod is b.lod)
        return a + b

    table = pyarrow.table({"a": [[1], [2, 3]], "b": [[10], [20, 30]]})
    assert arrow_batches(look)(table)["a"].to_pylist() == [[11], [22, 33]]
    assert seen == [True]


def test_functions_of_batches_see_the_memory_of_the_arrow_table():
    table = pyarrow.table({"values": [[1, 2], [3]]})
    addresses = []

    def look(values):
        addresses.append(values.values.ctypes.data)
        return {"same": values}

    made = arrow_batches(look)(table)
    where = table["values"].chunk(0).values.buffers()[1].address
    assert addresses == [where]
    assert made["same"].chunk(0).values.buffers()[1].address == where


# -- columns of the result -----------------------------------------------------------------------------------------


def test_text_comes_back_as_text():
    for kind in (pyarrow.string(), pyarrow.large_string()):
        table = pyarrow.table({"name": pyarrow.array(["AB", "", "C"], kind)})
        made = arrow_batches(lower)(table)
        assert made.schema.field("name").type == kind
        assert made["name"].to_pylist() == ["ab", "", "c"]
    nested = pyarrow.table({"name": [["AB", "C"], []]})
    assert arrow_batches(lower)(nested)["name"].to_pylist() == [["ab", "c"], []]


def test_arrow_batches_keeps_the_columns_that_are_named():
    table = table_of()
    assert arrow_batches(double, keep=False)(table).column_names == ["values"]
    assert arrow_batches(double, keep=["row"])(table).column_names == ["values", "row"]
    longest = arrow_batches(lambda values: values[:2])
    with pytest.raises(BatchError, match="returned 2 rows for 6, so 'name' cannot be passed on; keep=False"):
        longest(table)
    assert arrow_batches(lambda values: values[:2], keep=False)(table).num_rows == 2


def test_schema_says_order_and_types():
    made = arrow_batches(double, schema=PLACES)(table_of())
    assert made.schema == PLACES
    assert made["values"].to_pylist()[4] == [8.0]
    assert next(arrow_batches(double, schema=PLACES)(iter(table_of().to_batches()))).schema == PLACES
    with pytest.raises(BatchError, match="returned 'other'; schema has values, row"):
        arrow_batches(lambda values: {"other": values}, schema=PLACES)(table_of())
    lacking = pyarrow.schema([*PLACES, ("more", pyarrow.int8())])
    with pytest.raises(BatchError, match="returned no column 'more', which schema has"):
        arrow_batches(double, schema=lacking)(table_of())
    narrow = pyarrow.schema([("values", pyarrow.list_(pyarrow.int8()))])
    with pytest.raises(BatchError, match="ArrowInvalid"):  # a value that does not fit is not truncated
        arrow_batches(lambda values: values * 1000.5, keep=False, schema=narrow)(table_of())


def test_empty_batches():
    empty = table_of().slice(0, 0)
    assert arrow_batches(double)(empty).num_rows == 0
    calls = []
    function = arrow_batches(lambda values: calls.append(1), schema=PLACES)
    assert function(empty).equals(PLACES.empty_table())
    assert [batch.num_rows for batch in function(iter([empty.to_batches()[0]] if empty.to_batches() else []))] in (
        [],
        [0],
    )
    assert not calls


def test_arrow_batches_calls_the_function_with_at_most_max_rows():
    sizes = []

    def look(values):
        sizes.append(len(values))
        return values

    assert arrow_batches(look, max_rows=4)(table_of(10)).equals(arrow_batches(look)(table_of(10)))
    assert sizes == [4, 4, 2, 10]


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda values: [1, 2, 3], "returned list for column 'values'; a LoDTensor or array"),
        (lambda values: np.float64(3), "returned float64 for column 'values'"),
        (lambda values: values.astype(complex), "column 'values': has dtype complex128, which Arrow does not have"),
        (lambda values: np.array(3), "returned one number for column 'values'; one per row"),
        (lambda values: {"a": values, "b": values[:1]}, "returned 1 rows for 'b', 6 for 'a'"),
        (lambda values: np.array([None] * len(values)), "DTypeError"),
    ],
)
def test_wrong_results(function, says):
    with pytest.raises(BatchError, match=says):
        arrow_batches(function)(table_of())


def test_wrong_batches():
    with pytest.raises(lodcore.DTypeError, match="batches: is int; a Table, RecordBatch or iterator"):
        arrow_batches(double)(3)
    with pytest.raises(lodcore.DTypeError, match="batches: holds int; RecordBatches"):
        next(arrow_batches(double)(iter([3])))
    with pytest.raises(KeyError, match="'values' is not a column of the batch; other are"):
        arrow_batches(double)(pyarrow.table({"other": [1]}))
    with pytest.raises(KeyError, match="'more' is not a column"):
        arrow_batches(double, keep=["more"])(table_of())


# -- nulls ---------------------------------------------------------------------------------------------------------


def test_arrow_batches_refuses_or_fills_nulls():
    table = pyarrow.table({"values": [[1.0], None, [None]], "name": ["a", None, "c"]})
    with pytest.raises(BatchError, match=r"row 1 of the batch of rows 0 \.\. 2: LoDError: .*is null"):
        arrow_batches(double)(table.slice(0, 3).set_column(0, "values", pyarrow.array([[1.0], None, []])))
    made = arrow_batches(double, nulls=0.5)(table)
    assert made["values"].to_pylist() == [[2.0], [], [1.0]]
    assert made["name"].to_pylist() == ["a", None, "c"]  # columns that are passed on keep their nulls
    seen = []

    def look(values):
        x, (sequences, rows) = values
        seen.append((sequences.tolist(), rows.tolist()))
        return x

    arrow_batches(look, nulls="mask")(table)
    assert seen == [([True, False, True], [True, False])]
    both = arrow_batches(lambda values, name: values, nulls={"values": 0, "name": "empty"})
    assert both(table)["values"].to_pylist() == [[1.0], [], [0.0]]


# -- what fails ----------------------------------------------------------------------------------------------------


def test_a_row_that_fails_is_named_with_its_file():
    with pytest.raises(BatchError) as caught:
        arrow_batches(refuse_four)(table_of())
    assert str(caught.value) == (
        "arrow_batches: refuse_four: two.parquet, row 104 of the batch of rows 100 .. 105: ValueError: four"
    )
    assert (caught.value.path, caught.value.rows) == ("two.parquet", (104, 105))
    assert isinstance(caught.value.__cause__, ValueError)


@given(st.integers(1, 40), st.integers(1, 12), st.data())
def test_any_row_is_found_in_any_cut(count, size, draw):
    bad = draw.draw(st.integers(0, count - 1))

    def refuse(number):
        if (number == bad).any():
            raise ValueError("no")
        return number

    table = pyarrow.table({"number": np.arange(count)})
    with pytest.raises(BatchError, match=rf"row {bad}\b") as caught:
        list(arrow_batches(refuse)(iter(table.to_batches(max_chunksize=size))))
    assert caught.value.rows == (bad, bad + 1)
    with pytest.raises(BatchError, match=rf"row {bad}\b"):
        arrow_batches(refuse, max_rows=size)(table)


def test_a_batch_that_fails_as_a_whole_is_named_as_a_whole():
    def refuse(values):
        raise ValueError("never")

    with pytest.raises(BatchError, match=r"one\.parquet, rows 100 \.\. 105: ValueError: never"):
        arrow_batches(refuse)(table_of())

    def too_many(values):
        if len(values) > 3:
            raise MemoryError("too many")
        return values

    with pytest.raises(BatchError, match=r"rows 100 \.\. 105: MemoryError: too many"):
        arrow_batches(too_many)(table_of())


def test_threads_share_the_function():
    function, found = arrow_batches(double), {}

    def run(k):
        table = pyarrow.table({"values": [[k] * j for j in range(50)]})
        found[k] = [function(table)["values"].to_pylist() for _ in range(20)]

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[k] == [[[2 * k] * j for j in range(50)]] * 20 for k in range(4))


def test_a_function_that_was_sent_does_the_same():
    function = pickle.loads(pickle.dumps(arrow_batches(double, schema=PLACES)))
    assert function(table_of()).equals(arrow_batches(double, schema=PLACES)(table_of()))


# -- the pipeline, without an engine -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A corpus of several files, and its bins."""
    where = tmp_path_factory.mktemp("engines")
    directory, vocabulary = corpus(where / "corpus", 600_000, 250_000)
    units, pack = pipeline.list_units(directory), pipeline.PackUnits(vocabulary)
    pipeline.run_alone(units, where / "bins", pack)
    return units, vocabulary, where


def test_words_are_those_of_the_regular_expression():
    text = ["A small, fast 'test'!", "", "...", "ends", "é à l'école", "x"]
    words = pipeline.split_words(lodcore.from_arrow(pyarrow.array(text)))
    wanted = [re.findall(r"[a-zà-ÿ0-9']+", one.lower()) for one in text]
    assert lodcore.decode_utf8(words).tolist() == wanted


@given(st.lists(st.text(alphabet="aB1' .\n-", max_size=8), max_size=6))
def test_words_of_any_text(text):
    words = pipeline.split_words(lodcore.from_arrow(pyarrow.array(text, pyarrow.string())))
    found = [[bytes(word.tolist()).decode() for word in document] for document in words]
    assert found == [one.lower().replace(".", " ").replace("-", " ").split() for one in text]


def test_pipeline_packs_every_document_once(made):
    units, vocabulary, where = made
    bins = lodcore.from_arrow(pipeline.read_bins(where / "bins"))
    assert (bins["tokens"].lod.row_offsets(0)[1:] - bins["tokens"].lod.row_offsets(0)[:-1]).max() <= pipeline.BUDGET
    known, found = {}, {}
    for batch in pipeline.read_units([units]):
        for file, row, text in zip(*(batch.column(name).to_pylist() for name in ("file", "row", "text")), strict=True):
            words = pipeline.split_words(lodcore.from_arrow(pyarrow.array([text])))
            if words.num_rows and words.lod.num_sequences(1) >= pipeline.FEWEST:
                known[file, row] = lodcore.Vocabulary.load(vocabulary).encode(words).values.tolist()
        break
    first = bins["first_row"] == 0
    for place in np.flatnonzero(first & (bins["file"] == 0)):
        for row, tokens in zip(bins["rows"][place], bins["tokens"][place], strict=True):
            assert (0, int(row)) not in found
            found[0, int(row)] = tokens.tolist()
    assert found == known


@given(st.data())
def test_any_cut_of_the_units_gives_the_same_bins(made, draw):
    units, vocabulary, where = made
    order = draw.draw(st.permutations(range(units.num_rows)))
    cuts = sorted(draw.draw(st.sets(st.integers(1, units.num_rows - 1), max_size=4)))
    pack = pickle.loads(pickle.dumps(pipeline.PackUnits(vocabulary)))
    parts = [order[a:b] for a, b in zip([0, *cuts], [*cuts, units.num_rows], strict=True)]
    table = pyarrow.concat_tables([pack.table(units.take(part)) for part in parts])
    keys = [(name, "ascending") for name in ("file", "first_row", "bin")]
    assert table.sort_by(keys).equals(pipeline.read_bins(where / "bins"))


def test_a_part_of_the_units_is_sent_without_the_others(made):
    units, _, _ = made
    many = pyarrow.concat_tables([units] * 100)
    parts = pipeline.cut_units(many, 7)
    assert pyarrow.concat_tables(parts).equals(many)
    assert [part.num_rows for part in parts[:-1]] == [7] * (len(parts) - 1)
    assert max(len(pickle.dumps(part)) for part in parts) < len(pickle.dumps(many)) / 20


def test_the_checksum_does_not_depend_on_the_order_and_sees_every_change(made):
    _, _, where = made
    bins = pipeline.read_bins(where / "bins")
    want = pipeline.checksum(where / "bins")
    assert want["bins"] == bins.num_rows
    for name, changed, same in [
        ("reversed", bins.take(np.arange(bins.num_rows)[::-1]), True),
        ("one missing", bins.slice(1), False),
        ("one twice", pyarrow.concat_tables([bins, bins.slice(3, 1)]), False),
        ("exchanged", bins.set_column(2, "bin", bins["bin"].take(np.r_[1, 0, 2 : bins.num_rows])), False),
    ]:
        (where / name).mkdir()
        pyarrow.parquet.write_table(changed, where / name / "a.parquet")
        assert (pipeline.checksum(where / name) == want) is same, name


def test_a_unit_that_fails_is_named_with_its_file_and_row(made, tmp_path):
    units, vocabulary, _ = made
    function = functools.partial(watched, notes=str(tmp_path), fail_at=(1, GROUP + 7))
    path = units.filter(pyarrow.compute.equal(units["file"], 1))["path"][0].as_py()
    with pytest.raises(BatchError) as caught:
        pipeline.PackUnits(vocabulary, function=function).table(units)
    assert caught.value.path == path
    assert caught.value.rows == (GROUP + 7, GROUP + 8)
    assert f"{path}, row {GROUP + 7} of the batch of rows {GROUP} .. {2 * GROUP - 1}" in str(caught.value)


PEAK = """
import resource, sys
from asv_benchmarks.engines import pipeline
units, pack = pipeline.list_units(sys.argv[1]), pipeline.PackUnits(sys.argv[2])
pipeline.run_alone(units.slice(0, 4), sys.argv[3] + "/warm", pack)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
pipeline.run_alone(units, sys.argv[3] + "/all", pack)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_memory_is_bounded_by_the_batch_not_by_the_file(tmp_path):
    directory, vocabulary = corpus(tmp_path / "corpus", 32_000_000, 1 << 30, 4096)
    (file,) = directory.glob("*.parquet")
    command = [sys.executable, "-c", PEAK, directory, vocabulary, tmp_path]
    root = Path(__file__).parents[2]
    printed = subprocess.run(command, capture_output=True, check=True, text=True, cwd=root).stdout
    assert file.stat().st_size > 30_000_000
    assert int(printed) * 1024 < 20_000_000, f"{int(printed):,} KiB more for a file of {file.stat().st_size:,} bytes"
