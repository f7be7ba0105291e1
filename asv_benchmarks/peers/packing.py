"""Packing and batching compared with other packers, in one run: processor seconds of one thread, bins, and occupancy.

    python asv_benchmarks/peers/packing.py                                   # what is installed
    python asv_benchmarks/peers/packing.py --wheel trl=FILE --wheel axolotl=FILE --documents 1000000

Of trl and axolotl only the packers are run, extracted from the files of their wheels, so that nothing else of them is
needed (trl's needs pyarrow, axolotl's numba). Missing packers are reported and omitted. trl's packer also moves the
tokens, in the same function; they are bytes here. axolotl's searches for the first bin with room within groups of
100,000, its default.
"""

import argparse
import ast
import collections
import gc
import importlib
import os
import random
import time
import typing
import zipfile

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "ARROW_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402

BUDGET = 2048
MAX_TOKENS = 16384


def seconds(call, rounds=5):
    """Return the median processor time of a call, and its result; slow calls run once."""
    times = []
    while len(times) < rounds and sum(times) < 10:
        gc.collect()
        start = time.process_time()
        result = call()
        times.append(time.process_time() - start)
    return float(np.median(times)), result


def draw(count):
    lengths = np.random.default_rng(0).lognormal(np.log(300), 1.0, count)
    return lengths.astype(np.int64).clip(1, BUDGET)


def cut_out(wheel, path, names, space):
    """Run definitions from a file of a wheel in a namespace."""
    with zipfile.ZipFile(wheel) as archive:
        tree = ast.parse(archive.read(path))
    chosen = [node for node in tree.body if getattr(node, "name", None) in names]
    assert {node.name for node in chosen} == set(names), f"{path} has no {names}"
    exec(compile(ast.Module(chosen, []), path, "exec"), space)
    return space


# -- packers: a call on lengths that returns the number of bins and the number of tokens in them


def lodcore_packers():
    from lodcore.batching import pack_plan

    def packer(method):
        def call(lengths):
            plan = pack_plan(lengths, BUDGET, method)
            return lambda: (plan.num_bins, int(plan.sizes.sum()))

        return call

    return {f"lodcore {method}": packer(method) for method in ("histogram", "best_fit_decreasing", "next_fit")}


def binpacking_packer():
    binpacking = importlib.import_module("binpacking")

    def call(lengths):
        bins = binpacking.to_constant_volume(lengths.tolist(), BUDGET)
        return lambda: (len(bins), sum(map(sum, bins)))

    return {"binpacking (first 10,000)": lambda lengths: call(lengths[:10_000])}


def trl_packer(wheel):
    pa, pc = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.compute")
    space = {
        "pa": pa,
        "pyarrow": pa,
        "pc": pc,
        "np": np,
        "Literal": typing.Literal,
        "defaultdict": collections.defaultdict,
    }
    space["deque"] = collections.deque
    names = ["_check_if_columns_can_be_packed", "_SegmentTree", "_pack_bfd"]
    pack = cut_out(wheel, "trl/data_utils.py", names, space)["_pack_bfd"]

    def call(lengths):
        offsets = np.append(0, np.cumsum(lengths))
        tokens = pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(np.zeros(offsets[-1], np.int8)))
        table = pa.table({"ids": tokens})

        def run():
            packed = pack(table, BUDGET)
            return lambda: (len(packed), int(pc.sum(pc.list_value_length(packed["ids"])).as_py()))

        run.is_prepared = True
        return run

    return {"trl bfd, with the tokens": call}


def axolotl_packer(wheel):
    numba = importlib.import_module("numba")
    space = {"numba": numba, "np": np}
    pack = cut_out(wheel, "axolotl/utils/samplers/multipack.py", ["pack_group"], space)["pack_group"]
    pack(np.array([3, 2, 1]), 0, 4, 3, 3, True)  # compile before timing

    def call(lengths):
        bins = []
        for start in range(0, len(lengths), 100_000):
            group = lengths[start : start + 100_000]
            bins += pack(group, start, BUDGET, len(group), len(group), True)
        return lambda: (len(bins), int(sum(lengths[bin].sum() for bin in bins)))

    return {"axolotl pack_group, one process": call}


# -- batchers: a call on lengths that returns an iterator of batches


def lodcore_batches(lengths):
    from lodcore.batching import batches

    plan = batches(lengths, MAX_TOKENS)
    return iter(plan)


def lodcore_stream(lengths):
    from lodcore.batching import batch_stream

    return iter(batch_stream(enumerate(lengths.tolist()), MAX_TOKENS, length=lambda pair: pair[1]))


def torchtext_style(lengths):
    """The pool of torchtext's BucketIterator: a hundred batches are sorted by length, cut by their budget, shuffled."""
    sizes = lengths.tolist()

    def cut(indices):
        batch, longest = [], 0
        for index in indices:
            longest = max(longest, sizes[index])
            if longest * (len(batch) + 1) > MAX_TOKENS:
                yield batch
                batch, longest = [], sizes[index]
            batch.append(index)
        yield batch

    def run():
        order = list(range(len(sizes)))
        random.Random(0).shuffle(order)
        pool = 100 * MAX_TOKENS // 300
        for start in range(0, len(order), pool):
            found = list(cut(sorted(order[start : start + pool], key=sizes.__getitem__)))
            random.Random(start).shuffle(found)
            yield from found

    return run()


def lhotse_sampler(lengths):
    lhotse = importlib.import_module("lhotse")
    sampling = importlib.import_module("lhotse.dataset.sampling.dynamic_bucketing")
    testing = importlib.import_module("lhotse.testing.dummies")
    cuts = lhotse.CutSet.from_cuts(testing.dummy_cut(k, duration=float(one)) for k, one in enumerate(lengths.tolist()))
    sampler = sampling.DynamicBucketingSampler(cuts, max_duration=float(MAX_TOKENS), shuffle=True, num_buckets=30)
    return iter(sampler)


# -- tables


def packing_table(count, wheels):
    lengths = draw(count)
    packers = lodcore_packers()
    sources = {"trl": lambda: trl_packer(wheels["trl"]), "axolotl": lambda: axolotl_packer(wheels["axolotl"])}
    for name, make in {"binpacking": binpacking_packer, **sources}.items():
        try:
            packers |= make()
        except (ImportError, KeyError) as error:
            print(f"{name}: left out ({error})")
    print(f"\n{count:,} lengths, log-normal, into bins of {BUDGET}\n")
    print(f"{'':<34}{'seconds':>10}{'bins':>10}{'full':>9}")
    for name, packer in packers.items():
        run = (lambda packer=packer: packer(lengths)) if "trl" not in name else packer(lengths)
        took, result = seconds(run)
        bins, tokens = result()
        print(f"{name:<34}{took:>10.3f}{bins:>10,}{100 * tokens / (bins * BUDGET):>8.2f}%")


def batching_table(count):
    lengths = draw(count)
    print(f"\nbatches of {MAX_TOKENS} padded tokens of {count:,} sequences: until the first one, and 2,000 more\n")
    print(f"{'':<34}{'first, s':>10}{'next, us':>10}")
    for make in (lodcore_batches, lodcore_stream, torchtext_style, lhotse_sampler):
        given = lengths if make is not lhotse_sampler else lengths[:50_000]
        name = make.__name__ + (" (50,000)" if make is lhotse_sampler else "")
        try:
            first, more, number = run_batches(make, given)
        except ImportError as error:
            print(f"{name}: left out ({error})")
            continue
        print(f"{name:<34}{first:>10.3f}{1e6 * more / number:>10.1f}")


def run_batches(make, lengths):
    """Time the first batch, and 2,000 more: return both times, and how many more there were."""
    start = time.process_time()
    iterator = make(lengths)
    next(iterator)
    first = time.process_time()
    number = sum(1 for _ in zip(range(2000), iterator, strict=False))
    return first - start, time.process_time() - first, number


def apply_table(count):
    import lodcore
    from lodcore.batching import attention_inputs, cu_seqlens, pack_plan

    lengths = draw(count)
    x = lodcore.LoDTensor(np.arange(lengths.sum()), lodcore.LoD.from_lengths(lengths))
    plan = pack_plan(x, BUDGET)
    packed = plan.apply(x)
    calls = {
        "plan.apply": lambda: plan.apply(x),
        "gather_sequences": lambda: lodcore.gather_sequences(x, plan.documents),
        "plan.undo": lambda: plan.undo(packed),
        "copy": x.values.copy,
    }
    try:
        pa = importlib.import_module("pyarrow")
        array = pa.LargeListArray.from_arrays(pa.array(x.lod.offsets()), pa.array(x.values))
        index = pa.array(plan.documents)
        calls["Arrow's take"] = lambda: array.take(index)
    except ImportError as error:
        print(f"Arrow: left out ({error})")
    print(f"\n{count:,} documents, {x.num_rows:,} tokens of int64\n")
    for name, call in calls.items():
        print(f"{name:<34}{1e3 * seconds(call)[0]:>10.1f} ms")
    few = packed[:64]
    size = attention_inputs(few, BUDGET).input_ids.shape

    def fill():
        arrays = [np.empty(size, dtype) for dtype in (np.int64, np.int64, np.int64, np.int32, np.int32)]
        for array in arrays:
            array.fill(1)

    small = {
        "cu_seqlens, max_seqlen": lambda: cu_seqlens(few),
        "attention_inputs": lambda: attention_inputs(few, BUDGET),
        "attention_inputs, one row": lambda: attention_inputs(few),
        "the same arrays filled": fill,
    }
    print(f"\n64 bins, {few.num_rows:,} tokens\n")
    for name, call in small.items():
        print(f"{name:<34}{1e4 * seconds(lambda call=call: again(call), 9)[0]:>10.1f} us")


def again(call):
    """Call a hundred times, and discard the results."""
    for _ in range(100):
        call()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument(
        "--wheel", action="append", default=[], metavar="NAME=FILE", help="the wheel of trl, of axolotl"
    )
    chosen = parser.parse_args()
    packing_table(chosen.documents, dict(one.split("=", 1) for one in chosen.wheel))
    batching_table(chosen.documents)
    apply_table(min(chosen.documents, 100_000))


if __name__ == "__main__":
    main()
