"""Each row of the tables of "Coming from": run in both libraries, on data with nan, ties and empty sequences."""

import re
from pathlib import Path

import numpy as np

import lodcore
from lodcore import LoDTensor, nn, ops
from tests.helpers.libraries import MARKS, imported
from tests.helpers.pages import code_of
from tests.helpers.tables import for_each

pandas, awkward, torch, tensorflow = (imported(name) for name in ("pandas", "awkward", "torch", "tensorflow"))
pytestmark = MARKS
ROOT = Path(__file__).resolve().parents[2]
NAMES = {name: getattr(ops, name) for name in ops.__all__}
NAMES |= {name: getattr(lodcore, name) for name in lodcore.__all__}
NAMES |= {"np": np, "ops": ops, "nn": nn, "lodcore": lodcore}


def rows_of(page):
    """Return the cells of each row of the tables of a page, without the names that lodcore does not have."""
    text = (ROOT / "docs/coming-from" / f"{page}.md").read_text(encoding="utf-8")
    lines = text.partition("## Names that lodcore does not have")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| ")]
    return [row for row in rows if "---" not in row[0]][1:]


def code(cell):
    """Return the calls of a cell, without what follows a semicolon."""
    return re.findall(r"`([^`]+)`", cell.partition(";")[0])


def plain(found):
    """Return what any of the libraries returns as nested lists, or as numbers."""
    if isinstance(found, tuple):
        return [plain(one) for one in found]
    if isinstance(found, awkward.Array):
        return plain(awkward.unzip(found)) if awkward.fields(found) else awkward.to_list(found)
    return found.tolist() if hasattr(found, "tolist") else found


# -- pandas

LISTS = [[1.0, np.nan, 3.0, 3.0], [2.0, 2.0, np.nan], [np.nan], [], [5.0, 1.0, 4.0, 1.0, 9.0]]
WHOLE = [[entry for entry in one if entry == entry] for one in LISTS]
#: What pandas does not call for a group without rows, or fails for.
OBSERVED = ("g.rolling", "g.ewm", "g.apply", "g.ffill", "g.bfill")


def table_of_pandas(lists, observed):
    names = [name for name, one in zip("abcde", lists, strict=True) for _ in one]
    frame = pandas.DataFrame({"user": pandas.Categorical(names, list("abcde")), "amount": np.concatenate(lists)})
    return frame.groupby("user", observed=observed)["amount"]


def numbers(found):
    """Return a result as one array of floats."""
    values = found.values if isinstance(found, (LoDTensor, pandas.Series)) else found
    return np.array([np.nan if entry is None else entry for entry in np.asarray(values).ravel().tolist()], float)


@for_each(("theirs", "ours", "shorter"), rows_of("pandas-groupby")[:26])
def test_rows_of_pandas(theirs, ours, shorter):
    for lists, cell in ((LISTS, ours), (WHOLE, ours), (WHOLE, shorter)):
        observed = theirs.strip("`").startswith(OBSERVED)
        some = [one for one in lists if len(one)] if theirs.strip("`").startswith("g.apply") else lists
        x = lodcore.array([np.array(one, float) for one in some])
        expected = eval(code(theirs)[0], {"g": table_of_pandas(lists, observed), "np": np, "list": list})
        found = eval(code(cell)[0], NAMES | {"x": x})
        if code(theirs) == ["g.apply(list)"]:
            assert repr(expected.tolist()) == repr(found)
        else:
            with np.errstate(invalid="ignore"):
                np.testing.assert_allclose(numbers(found), numbers(expected), rtol=1e-12, err_msg=str(lists))


def test_rows_of_pandas_that_are_about_tables():
    cells = {theirs: ours for theirs, ours, _ in rows_of("pandas-groupby")[26:]}
    joined, counted = '`pd.merge_asof(left, right, on="t", by="user")`', "`g.value_counts()`"
    assert list(cells) == ['`df.explode("list")`', '`df.merge(other, on="user")`', joined, counted]
    g = table_of_pandas(LISTS, True)
    values, counts = eval(code(cells[counted])[0], NAMES | {"x": lodcore.array([np.array(one) for one in LISTS])})
    wanted = sorted(((user, value), count) for (user, value), count in g.value_counts().items())
    users = np.repeat(list("abcde"), values.lengths).tolist()
    pairs = zip(users, values.values.tolist(), strict=True)
    assert sorted(zip(pairs, counts.values.tolist(), strict=True)) == wanted
    check_join_asof(code(cells[joined])[0])
    x = lodcore.array([[1, 2], [], [3]], dtype=float)
    exploded = pandas.DataFrame({"list": x.tolist()}).explode("list")["list"].dropna()
    assert exploded.tolist() == eval(code(cells['`df.explode("list")`'])[0], NAMES | {"x": x}).tolist()
    users, others, ages = np.array(["a", "b", "c"]), np.array(["c", "a", "z"]), np.array([30, 40, 50])
    left = pandas.DataFrame({"user": ["a", "a", "c"], "v": [1.0, 2.0, 3.0]})
    merged = left.merge(pandas.DataFrame({"user": others, "age": ages}), on="user")
    keys, values, found = eval(
        code(cells['`df.merge(other, on="user")`'])[0],
        NAMES | {"x": x, "ages": ages, "users": users, "users_of_ages": others},
    )
    repeated = np.repeat(found, values.lengths)
    rows = zip(np.repeat(keys, values.lengths).tolist(), values.values.tolist(), repeated.tolist(), strict=True)
    assert list(rows) == [tuple(row) for row in merged.itertuples(index=False)]


def check_join_asof(ours):
    """Compare with the rows of pandas, which sorts both tables by time."""
    left = pandas.DataFrame({"t": [1, 2, 5, 9], "user": ["a", "b", "a", "c"]})
    right = pandas.DataFrame({"t": [1, 3, 4, 5], "user": ["a", "a", "b", "a"], "v": [0.5, 1.5, 2.5, 3.5]})
    expected = pandas.merge_asof(left, right, on="t", by="user").sort_values(["user", "t"])["v"]
    users, t = lodcore.group_by(left["user"].to_numpy(str), left["t"].to_numpy())
    users_of_times, times, values = lodcore.group_by(right["user"].to_numpy(str), right["t"], right["v"])
    names = {"t": t, "times": times, "values": values, "users": users, "users_of_times": users_of_times}
    np.testing.assert_array_equal(eval(ours, NAMES | names).values, expected.to_numpy())


# -- awkward

FLAT = [[1.0, 3.0, 3.0], [2.0, 2.0], [], [5.0, 1.0, 4.0, 1.0]]
WITH_NAN = [[1.0, np.nan, 3.0, 3.0], [np.nan], [], [2.0]]
DEEP = [[[1.0, 2.0], []], [], [[3.0], [4.0, 5.0, 5.0], []]]
#: Rows that say what awkward does with nan, which is then something else.
APART = ("`ak.sort", "`ak.max")


@for_each(("theirs", "ours"), [row for row in rows_of("awkward") if "zip" not in row[0] and "parquet" not in row[0]])
def test_rows_of_awkward(theirs, ours):
    calls = code(theirs)
    answers = calls if ours == "the same" else code(ours)
    assert len(calls) == len(answers)
    for call, answer in zip(calls, answers, strict=True):
        worked = 0
        for lists in (FLAT, DEEP, WITH_NAN):
            others = {"index": [2, 0], "n": 2, "v": -1, "values": np.arange(5), "counts": [2, 0, 3], "lists": lists}
            a, x = awkward.Array(lists), lodcore.array(lists)
            try:
                expected = plain(eval(call, {"ak": awkward, "np": np, "x": a, "y": a} | others))
            except (ValueError, awkward.errors.AxisError):
                continue  # fewer levels than the call is about
            found = plain(eval(answer, NAMES | {"x": x, "y": x} | others))
            if theirs.startswith("`ak.max"):
                expected = [-np.inf if entry is None else entry for entry in expected] if lists is not DEEP else found
            same = repr(found) == repr(expected)
            assert same or (theirs.startswith(APART) and lists is WITH_NAN), (call, answer, expected, found)
            worked += same
        assert worked


def test_rows_of_awkward_about_records_and_files(tmp_path):
    pyarrow = imported("pyarrow.parquet")
    x, y = lodcore.array([[1, 2], [], [3]]), lodcore.array([[4, 5], [], [6]])
    records = LoDTensor(np.rec.fromarrays([x.values, y.values], names="a,b"), x.lod)
    zipped = awkward.zip({"a": awkward.Array(x.tolist()), "b": awkward.Array(y.tolist())})
    assert (records["a"].tolist(), records["b"].tolist()) == (zipped["a"].to_list(), zipped["b"].to_list())
    table = imported("pyarrow").table(lodcore.interop.ArrowTable({"x": x}))
    pyarrow.write_table(table, tmp_path / "x.parquet")
    assert awkward.from_parquet(tmp_path / "x.parquet")["x"].to_list() == x.tolist()


# -- torch

F = torch.nn.functional
RAGGED = [[1.0, 2.0], [3.0, 4.0, 4.0], [float("nan")]]
IDS = [[1, 2, 2], [], [7]]
TABLE = np.arange(20.0).reshape(10, 2) ** 2


def jagged(lists):
    return torch.nested.nested_tensor([torch.tensor(one) for one in lists], layout=torch.jagged)


def packed(lists):
    padded = torch.nn.utils.rnn.pad_sequence([torch.tensor(one) for one in lists], batch_first=True)
    return torch.nn.utils.rnn.pack_padded_sequence(padded, torch.tensor([len(one) for one in lists]), True, False)


def parts():
    x = lodcore.array(RAGGED)
    return [x.values.tolist(), x.offsets.tolist(), [one.tolist() for one in x.to_arrays()]]


def unbound(x):
    return [one.tolist() for one in x.unbind()]


def padded_back():
    rows = torch.nn.utils.rnn.pad_packed_sequence(packed(RAGGED), batch_first=True)[0]
    return [row[: len(one)].tolist() for row, one in zip(rows, RAGGED, strict=True)]


def stepped():
    steps, indices_map = lodcore.TensorArray.unpack(lodcore.array(RAGGED), 0)
    return steps, indices_map


def sums_of_a_gradient():
    weight = torch.tensor([2.0, 3.0], requires_grad=True)
    (weight * weight).sum().backward()
    return weight.grad.tolist()


def masked_softmax():
    x = torch.tensor([[1.0, 2.0, 0.0], [3.0, 0.0, 0.0]])
    mask = torch.tensor([[False, False, True], [False, True, True]])
    return x.masked_fill(mask, float("-inf")).softmax(-1)[~mask].tolist()


def run_of_torch(layer):
    """Run a recurrent layer of torch on packed sequences; return the sequences, the outputs and the last state."""
    rows = [torch.randn(n, 2) for n in (2, 4, 1)]
    pack = torch.nn.utils.rnn.pack_sequence(rows, enforce_sorted=False)
    outputs, last = layer(pack)
    made = torch.nn.utils.rnn.unpack_sequence(outputs)
    last = last[0] if isinstance(last, tuple) else last
    x = lodcore.array([one.numpy() for one in rows])
    return x, [one.detach().numpy() for one in made], last.detach().numpy()[0]


def functions_of_the_page():
    """Return the functions of the page that convert weights of recurrent layers."""
    names = {"np": np, "lodcore": lodcore}
    for example in code_of("docs/coming-from/torch.md"):
        if example.startswith("def "):
            exec(example, names)
    return names


def agrees(found, last, outputs, expected):
    np.testing.assert_allclose(last, expected, rtol=1e-5, atol=1e-6)
    for one, other in zip(found.to_arrays(), outputs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


#: By the first cell of a row: what each library gives.
ROWS_OF_TORCH = {
    "`torch.nested.nested_tensor(list, layout=torch.jagged)`": (
        lambda: unbound(jagged(RAGGED)), lambda: lodcore.array(RAGGED).tolist(),
    ),
    "`nested_tensor_from_jagged(values, offsets)`": (
        lambda: unbound(torch.nested.nested_tensor_from_jagged(torch.arange(5.0), torch.tensor([0, 2, 2, 5]))),
        lambda: LoDTensor.from_offsets(np.arange(5.0), [0, 2, 2, 5]).tolist(),
    ),
    "`nt.values()`, `nt.offsets()`, `nt.unbind()`": (
        lambda: [jagged(RAGGED).values().tolist(), jagged(RAGGED).offsets().tolist(), unbound(jagged(RAGGED))],
        parts,
    ),
    "`nested.to_padded_tensor(nt, 0.0)`": (
        lambda: torch.nested.to_padded_tensor(jagged(RAGGED), 0.0).tolist(),
        lambda: lodcore.array(RAGGED).to_padded(fill_value=0.0).tolist(),
    ),
    "`pad_sequence(list, batch_first=True)`": (
        lambda: torch.nn.utils.rnn.pad_sequence([torch.tensor(one) for one in RAGGED], batch_first=True).tolist(),
        lambda: lodcore.array(RAGGED).to_padded().tolist(),
    ),
    "`pack_padded_sequence(x, lengths, enforce_sorted=False)`": (
        lambda: packed(RAGGED).data.tolist(),
        lambda: np.concatenate([np.asarray(step) for step in stepped()[0]]).tolist(),
    ),
    "`pad_packed_sequence(y)`": (padded_back, lambda: (pair := stepped())[0].pack(0, pair[1]).tolist()),
    "`F.embedding_bag(ids, weight, offsets)`": (
        lambda: F.embedding_bag(torch.tensor([1, 2, 2, 7]), torch.tensor(TABLE), torch.tensor([0, 3, 3])).tolist(),
        lambda: lodcore.embedding_bag(TABLE, IDS, "mean").tolist(),
    ),
    "`x.masked_fill(mask, ...).softmax(-1)`": (
        masked_softmax, lambda: lodcore.sequence_softmax(lodcore.array([[1.0, 2.0], [3.0]])).values.tolist(),
    ),
    "`F.cross_entropy(logits, labels)`": (
        lambda: F.cross_entropy(torch.tensor(TABLE[:3]), torch.tensor([1, 0, 1])).item(),
        lambda: float(nn.cross_entropy(TABLE[:3], np.array([1, 0, 1])).mean()),
    ),
    "`loss.backward()`": (
        sums_of_a_gradient,
        lambda: lodcore.value_and_grad(lambda w: ops.sum(w * w))(np.array([2.0, 3.0]))[1].tolist(),
    ),
}  # fmt: skip


@for_each(("theirs", "ours"), rows_of("torch"))
def test_rows_of_torch(theirs, ours):
    if theirs == "`nn.LSTM(n, h)(packed)`":
        return  # below
    expected, found = (call() for call in ROWS_OF_TORCH[theirs])
    if "nan" in repr(expected):
        assert repr(expected) == repr(found)
    else:
        for one, other in zip(expected, found, strict=True) if isinstance(expected, list) else [(expected, found)]:
            np.testing.assert_allclose(one, other, rtol=1e-6)


def test_an_lstm_of_torch_on_packed_sequences():
    """The same recurrence with the same weights, whose gates have another order."""
    torch.manual_seed(0)
    layer = torch.nn.LSTM(2, 3)
    x, outputs, expected = run_of_torch(layer)
    found, (last, _) = nn.LSTM(2, 3)(functions_of_the_page()["lstm_of_torch"](layer), x)
    agrees(found, last, outputs, expected)


def test_a_gru_of_torch_is_a_function_for_dynamic_rnn():
    torch.manual_seed(0)
    layer, page = torch.nn.GRU(2, 3), functions_of_the_page()
    x, outputs, expected = run_of_torch(layer)
    weights = page["weights_of_torch"](layer)
    found, last = nn.dynamic_rnn(page["gru_of_torch"], weights, x, np.zeros((3, 3), np.float32))
    agrees(found, last, outputs, expected)


def test_a_gru_of_torch_whose_reset_gate_is_open_is_ours():
    """The only case in which it does not matter where the gate applies; the candidate may then have any bias."""
    torch.manual_seed(0)
    layer, page = torch.nn.GRU(2, 3), functions_of_the_page()
    with torch.no_grad():
        layer.bias_ih_l0[:3] = 60.0
    x, outputs, expected = run_of_torch(layer)
    w_x, w_h, b_x, b_h = (one.detach().numpy() for one in layer.all_weights[0])
    parameters = page["gru_with_reset_before"](w_x, w_h, b_x + b_h)
    agrees(*nn.GRU(2, 3, origin_mode=True)(parameters, x), outputs, expected)


# -- TensorFlow

NUMBERS, SPLITS = np.array([1.0, np.nan, 3.0, 3.0, 5.0]), [0, 3, 3, 5]
MATRIX = np.arange(6.0).reshape(2, 3)


def ragged():
    return tensorflow.ragged.constant([*RAGGED, []], dtype="float64", ragged_rank=1)


def nested():
    return lodcore.array([np.array(one, float) for one in [*RAGGED, []]])


def listed(x):
    return x.to_list() if isinstance(x, tensorflow.RaggedTensor) else x.numpy().tolist()


def gradient_of_a_tape():
    weight = tensorflow.Variable([2.0, 3.0])
    with tensorflow.GradientTape() as tape:
        loss = tensorflow.reduce_sum(weight * weight)
    return tape.gradient(loss, weight).numpy().tolist()


def written(array, read):
    for at, value in enumerate(([1.0, 2.0], [3.0, 4.0])):
        made = array.write(at, value)
        array = array if made is None else made
    return read(array)


def loop_of_lodcore():
    loop = lodcore.while_loop()
    with loop.loop():
        step, total = loop.loop_var(np.array(0)), loop.loop_var(np.array(0.0))
        loop.break_if(step >= 4)
        total.update(total + 2.0)
    return float(np.asarray(total.get()))


def embedded_sparsely():
    rows = tensorflow.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 2, 7], [3, 2])
    return tensorflow.nn.embedding_lookup_sparse(TABLE, rows, None, combiner="sum").numpy()[[0, 2]].tolist()


ROWS_OF_TENSORFLOW = {
    "`tf.ragged.constant(lists)`": (lambda: listed(ragged()), lambda: nested().tolist()),
    "`RaggedTensor.from_row_splits(values, splits)`": (
        lambda: listed(tensorflow.RaggedTensor.from_row_splits(NUMBERS, SPLITS)),
        lambda: LoDTensor.from_offsets(NUMBERS, SPLITS).tolist(),
    ),
    "`from_row_lengths`, `from_value_rowids`": (
        lambda: [listed(tensorflow.RaggedTensor.from_row_lengths(NUMBERS, [3, 0, 2])),
                 listed(tensorflow.RaggedTensor.from_value_rowids(NUMBERS, [0, 0, 0, 2, 2], nrows=4))],
        lambda: [LoDTensor.from_lengths(NUMBERS, [3, 0, 2]).tolist(),
                 LoDTensor.from_segment_ids(NUMBERS, [0, 0, 0, 2, 2], 4).tolist()],
    ),
    "`from_nested_row_splits(values, [a, b])`": (
        lambda: listed(tensorflow.RaggedTensor.from_nested_row_splits(NUMBERS, [[0, 2, 2, 3], SPLITS])),
        lambda: LoDTensor.from_offsets(NUMBERS, [0, 2, 2, 3], SPLITS).tolist(),
    ),
    "`rt.flat_values`, `rt.row_splits`, `rt.row_lengths()`": (
        lambda: [listed(one) for one in (ragged().flat_values, ragged().row_splits, ragged().row_lengths())],
        lambda: [one.tolist() for one in (nested().values, nested().offsets, nested().lengths)],
    ),
    "`rt.value_rowids()`": (lambda: listed(ragged().value_rowids()), lambda: nested().lod.segment_ids().tolist()),
    "`rt.to_tensor(default)`": (
        lambda: listed(ragged().to_tensor(-1)), lambda: nested().to_padded(fill_value=-1).tolist(),
    ),
    "`RaggedTensor.from_tensor(t, lengths=n)`": (
        lambda: listed(tensorflow.RaggedTensor.from_tensor(MATRIX, lengths=[2, 0])),
        lambda: LoDTensor.from_padded(MATRIX, lengths=[2, 0]).tolist(),
    ),
    "`tf.reduce_sum(rt, axis=1)`": (
        lambda: listed(tensorflow.reduce_sum(ragged(), axis=1)), lambda: nested().sum(axis=1).tolist(),
    ),
    "`tf.gather(rt, i)`": (
        lambda: [listed(tensorflow.gather(ragged(), [2, 0, 3]))] * 2,
        lambda: [nested()[[2, 0, 3]].tolist(), lodcore.gather_sequences(nested(), [2, 0, 3]).tolist()],
    ),
    "`tf.ragged.boolean_mask(rt, mask)`": (
        lambda: listed(tensorflow.ragged.boolean_mask(ragged(), ragged() > 2)), lambda: nested()[nested() > 2].tolist(),
    ),
    "`tf.concat([a, b], axis=1)`": (
        lambda: listed(tensorflow.concat([ragged(), ragged()], axis=1)),
        lambda: np.concatenate([nested(), nested()], axis=1).tolist(),
    ),
    "`tf.map_fn(f, rt)`": (
        lambda: listed(tensorflow.map_fn(lambda row: tensorflow.reduce_sum(row) * 2, ragged(),
                                         fn_output_signature="float64")),
        lambda: np.asarray(lodcore.graph.map_fn(lambda row: ops.sum(row) * 2, nested())).tolist(),
    ),
    "`tf.nn.embedding_lookup`, `..._sparse`": (
        lambda: [listed(tensorflow.nn.embedding_lookup(TABLE, tensorflow.ragged.constant(IDS))), embedded_sparsely()],
        lambda: [lodcore.lookup_table(TABLE, IDS).tolist(), lodcore.embedding_bag(TABLE, [[1, 2], [7]]).tolist()],
    ),
    "`tf.TensorArray`": (
        lambda: written(tensorflow.TensorArray("float32", 2), lambda array: listed(array.stack())),
        lambda: written(lodcore.TensorArray(), lambda array: np.asarray(array.stack()).tolist()),
    ),
    "`tf.cond`": (
        lambda: float(tensorflow.cond(tensorflow.constant(True), lambda: 1.0, lambda: 2.0)),
        lambda: float(lodcore.cond(np.array(True), lambda: 1.0, lambda: 2.0)),
    ),
    "`tf.while_loop`": (
        lambda: tensorflow.while_loop(lambda step, total: step < 4, lambda step, total: (step + 1, total + 2.0),
                                      (0, 0.0))[1].numpy().item(),
        loop_of_lodcore,
    ),
    "`tf.GradientTape`": (
        gradient_of_a_tape, lambda: lodcore.value_and_grad(lambda w: ops.sum(w * w))(np.array([2.0, 3.0]))[1].tolist(),
    ),
}  # fmt: skip


@for_each("theirs", [row[0] for row in rows_of("tensorflow-ragged")])
def test_rows_of_tensorflow(theirs):
    expected, found = (call() for call in ROWS_OF_TENSORFLOW[theirs])
    assert repr(expected) == repr(found)


# -- Paddle, which has removed what its table is about


@for_each(("page", "row"), [(page, row) for page in ("tensorflow-ragged", "paddle") for row in rows_of(page)])
def test_names_of_lodcore_in_tables_exist(page, row):
    """What a row names is there."""
    for call in code(row[-1]):
        name = re.match(r"[A-Za-z_.]+", call)
        if name and name[0].split(".")[0] not in ("x", "rt"):
            target = np if name[0].startswith("np.") else lodcore
            for part in name[0].removeprefix("lodcore.").removeprefix("np.").split("."):
                holders = (target, LoDTensor, lodcore.TensorArray, lodcore.IfElse)
                holder = next((one for one in holders if hasattr(one, part)), None)
                assert holder is not None, call
                target = getattr(holder, part)
