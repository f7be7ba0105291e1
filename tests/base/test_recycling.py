"""Recycled memory of freed results: what is kept, how much of it, and that results do not show it."""

import ctypes
import gc
import subprocess
import sys
import threading
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy._core.multiarray import get_handler_name

import lodcore
from lodcore import DTypeError, LoDTensor, gather_sequences, vjp
from lodcore.base import buffers
from lodcore.base.recycling import Recycled, kept_bytes, on_call_bytes
from lodcore.graph import while_loop
from tests.helpers.processes import environment

pytestmark = pytest.mark.not_on_reference  # independent of the kernels


@pytest.fixture(autouse=True)
def limit():
    """Begin with no kept memory, and a limit of 4 MiB."""
    before = lodcore.get_recycled_bytes()
    gc.collect()
    lodcore.set_recycled_bytes(0)
    lodcore.set_recycled_bytes(2**22)
    yield 2**22
    lodcore.set_recycled_bytes(before)


def new(count):
    with Recycled():
        return np.empty(count, np.uint8)


def handler_of(array):
    """Return the name of the memory handler of the array that owns the memory."""
    while isinstance(base := buffers.owner_of(array), np.ndarray):
        array = base
    return get_handler_name(array)


def room(array):
    """Return the number of usable bytes of an array of our handler, where the system reports it."""
    if sys.platform != "linux":
        return array.nbytes
    usable = ctypes.CDLL(None).malloc_usable_size
    usable.restype, usable.argtypes = ctypes.c_size_t, [ctypes.c_void_p]
    start = ctypes.c_void_p.from_address(array.ctypes.data - ctypes.sizeof(ctypes.c_void_p)).value
    return usable(start) - (array.ctypes.data - start)


def test_later_result_reuses_the_memory_of_a_freed_one():
    x = LoDTensor.from_lengths(np.ones((1000, 16)), [400, 600])
    first = gather_sequences(x, [1, 0])
    assert handler_of(first.values) == "lodcore"
    place = first.values.ctypes.data
    first.values[...] = np.nan
    del first
    again = gather_sequences(x, [1, 0])
    np.testing.assert_array_equal(again.values, 1)
    assert again.values.ctypes.data == place
    alive = gather_sequences(x, [1, 0])
    assert not np.may_share_memory(alive.values, again.values)


@given(st.integers(0, 70_000), st.integers(0, 70_000))
def test_memory_of_results_begins_at_a_line_of_the_cache(count, other):
    """Also after it was resized, with its content: no vector of the kernels lies in two lines."""
    with Recycled():
        made, zeros = np.arange(count, dtype=np.uint16), np.zeros(count, np.uint16)
    assert made.ctypes.data % 64 == zeros.ctypes.data % 64 == 0
    assert not zeros.any()
    made.resize(other, refcheck=False)
    assert made.ctypes.data % 64 == 0
    same = min(count, other)
    np.testing.assert_array_equal(made[:same], np.arange(same, dtype=np.uint16))


def test_small_results_and_foreign_arrays_are_not_recycled():
    x = LoDTensor.from_lengths(np.ones((10, 2)), [4, 6])
    assert handler_of(gather_sequences(x, [1]).values) == "default_allocator"
    with pytest.raises(ValueError, match="negative"), Recycled():
        np.empty(-1)
    assert get_handler_name(np.empty(5000)) == "default_allocator"
    with Recycled():
        with Recycled():
            pass
        assert get_handler_name(np.empty(5000)) == "lodcore"
    assert get_handler_name(np.empty(5000)) == "default_allocator"


def test_elementwise_results_and_products():
    x = LoDTensor.from_lengths(np.ones((10_000, 8)), [4000, 6000])
    for wide in (x + 1, x * x, lodcore.tanh(x), x @ np.ones((8, 8)), np.sqrt(x)):
        assert handler_of(wide.values) == "lodcore"
    with pytest.raises(lodcore.ShapeError):
        x + np.ones(7)
    assert get_handler_name(np.empty(5000)) == "default_allocator"
    assert handler_of((x[:1, :2] + 1).values) == "default_allocator"


class Handler(ctypes.Structure):
    """The PyDataMem_Handler of NumPy."""

    _fields_ = (("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("allocator", ctypes.c_void_p * 5))


def test_results_come_from_the_memory_handler_that_the_user_has_set():
    """NEP 49: locked, aligned or counted memory; results come from it, and so do those of loops."""
    from numpy._core._multiarray_umath import _ARRAY_API

    python = ctypes.pythonapi
    python.PyCapsule_GetPointer.restype, python.PyCapsule_GetPointer.argtypes = (
        ctypes.c_void_p,
        [ctypes.py_object, ctypes.c_char_p],
    )
    python.PyCapsule_New.restype = ctypes.py_object
    python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    functions = ctypes.cast(python.PyCapsule_GetPointer(_ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(functions[304])
    numpys = ctypes.PYFUNCTYPE(ctypes.py_object)(functions[305])()
    kind = b"mem_handler"
    own = Handler.from_buffer_copy(Handler.from_address(python.PyCapsule_GetPointer(numpys, kind)))
    own.name = b"own"
    x = LoDTensor.from_lengths(np.ones((1000, 16)), [400, 600])
    before = set_handler(python.PyCapsule_New(ctypes.addressof(own), kind, None))
    try:
        made = [gather_sequences(x, [1, 0]).values, new(5000)]
        with pytest.raises(ValueError, match="negative"), Recycled():
            np.empty(-1)
        made.append(np.empty(5000))
    finally:
        set_handler(before)
    assert [handler_of(one) for one in made] == ["own"] * 3
    assert get_handler_name(np.empty(5000)) == "default_allocator"
    del made
    assert kept_bytes() == 0


def test_loops_and_their_gradients_use_recycled_memory():
    names = []

    def f(x):
        loop = while_loop()
        with loop.loop():
            state = loop.loop_var(x)
            loop.break_if(lodcore.equal(loop.step(), 2))
            state.update(lodcore.tanh(state))
        return state

    value, pullback = vjp(f, np.ones((100, 8)))
    names += [get_handler_name(value), *map(get_handler_name, pullback(np.ones((100, 8))))]
    assert names == ["lodcore", "lodcore"]
    assert get_handler_name(np.empty(5000)) == "default_allocator"


@given(st.lists(st.integers(1, 2**21), min_size=1, max_size=30), st.randoms())
def test_arrays_of_any_sizes_are_allocated_and_freed_in_any_order(sizes, random):
    """Blocks have the requested size and do not overlap, and the kept memory stays below the limit."""
    alive = []
    for number, size in enumerate(sizes):
        made = new(size)
        assert room(made) >= size
        made[...] = number
        alive.append((number, made))
        if random.random() < 0.5:
            number, one = alive.pop(random.randrange(len(alive)))
            assert (one == number).all()
            del one
        del made
        assert kept_bytes() <= lodcore.get_recycled_bytes()
    for number, one in alive:
        assert (one == number).all()


def test_kept_bytes_counts_freed_blocks_and_is_0_without_recycling():
    lodcore.set_recycled_bytes(0)
    assert kept_bytes() == 0
    new(5000)
    assert kept_bytes() == 0
    lodcore.set_recycled_bytes(10_000)
    new(5000)
    assert kept_bytes() == 5120, "4096 and a quarter of it"
    made = new(4097)
    assert kept_bytes() == 0, "the same block"
    del made
    assert kept_bytes() == 5120
    new(6000)
    assert kept_bytes() == 6144, "both would be too much: the first has gone"
    new(20_000)
    assert kept_bytes() == 6144, "more than may be kept"
    lodcore.set_recycled_bytes(6143)
    assert kept_bytes() == 0
    new(1024)
    assert kept_bytes() == 0, "so little is not worth it"
    lodcore.set_recycled_bytes(2**14)
    alive = [new(size) for size in (1025, 1280, 1281, 2048, 2049)]
    before = kept_bytes()
    del alive
    assert kept_bytes() - before == 1280 + 1280 + 1536 + 2048 + 2560


def test_blocks_of_more_than_a_gibibyte_are_not_kept():
    """In a separate process, which has room for one; the process of the tests may have none left."""
    program = """if True:
        import numpy as np
        import lodcore
        from lodcore.base.recycling import Recycled, kept_bytes
        lodcore.set_recycled_bytes(2**31)
        for size in (2**30 + 1, 2**30):
            with Recycled():
                np.empty(size, np.uint8)
            print(kept_bytes())
    """
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", str(2**30)]


def test_zeros_in_recycled_memory_are_zeros():
    new(5000)[...] = 7
    with Recycled():
        made = np.zeros(5000, np.uint8)
        large = np.zeros((3, 2**25), np.uint8)
    assert not made.any()
    assert not large[:, :: 2**12].any()
    with pytest.raises((MemoryError, ValueError)), Recycled():
        np.zeros((2**31, 2**31))


@pytest.mark.parametrize("size", [1025, 1031, 1279, 1281, 2047, 4999, 5001, 9999, 65_537])
@pytest.mark.parametrize("dtype", ["u1", "?", "i2,u1", "S3", "f4"])
def test_zeros_of_odd_sizes_are_zeros(size, dtype):
    with Recycled():
        for _ in range(3):
            used = np.empty(size, dtype)
            used.view(np.uint8)[...] = 255
            address = used.ctypes.data
            del used
            made = np.zeros(size, dtype)
            assert made.ctypes.data == address
            assert not made.view(np.uint8).any()
            del made


def test_resize_of_arrays_in_recycled_memory_keeps_their_content():
    for sizes in ([5000, 9000, 100, 300_000, 0, 2000], [10, 2000, 10]):
        made = new(sizes[0])
        made[...] = 1
        for size in sizes[1:]:
            kept = min(size, len(made))
            made.resize(size, refcheck=False)
            assert (made[:kept] == 1).all()
            made[...] = 1
            others = [new(n) for n in sizes]
            for one in others:
                one[...] = 2
            assert (made == 1).all()
            del one, others
        del made
    made = new(5000)
    made.resize(9000, refcheck=False)
    del made
    assert room(new(10_240)) >= 10_240, "the block of 9000 bytes is as large as any in its list"


def test_memory_is_traced_as_that_of_other_arrays():
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        made = new(100_000)
        assert 100_000 <= tracemalloc.get_traced_memory()[0] - before < 102_000
        del made
        assert tracemalloc.get_traced_memory()[0] - before < 2000
    finally:
        tracemalloc.stop()


def test_threads_that_allocate_and_free_at_once_get_memory_of_their_own():
    wrong = []

    def work(number):
        rng = np.random.default_rng(number)
        alive = []
        for size in rng.integers(1000, 70_000, 300):
            made = new(size)
            made[...] = number
            alive.append(made)
            if len(alive) > 5:
                one = alive.pop(int(rng.integers(5)))
                if (one != number).any():
                    wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert kept_bytes() <= lodcore.get_recycled_bytes()


def test_how_much_is_kept_is_a_number_from_0():
    for n in (2.5, "1", None, True, np.float64(3)):
        with pytest.raises(DTypeError, match=r"set_recycled_bytes: n: is .*; an integer is needed"):
            lodcore.set_recycled_bytes(n)
    for n in (-1, 2**63):
        with pytest.raises(ValueError, match=rf"set_recycled_bytes: n: is {n}; 0 .. 2\*\*63 - 1 is valid"):
            lodcore.set_recycled_bytes(n)
    lodcore.set_recycled_bytes(np.int64(12))
    assert lodcore.get_recycled_bytes() == 12


def test_extended_rows_in_recycled_memory_end_with_zeros():
    rows = np.arange(6.0).reshape(3, 2)
    new(16 * 5000)[...] = 255
    made = buffers.extended(rows, 5000)
    np.testing.assert_array_equal(made[:3], rows)
    assert made.shape == (5000, 2)
    assert not made[3:].any()
    odd = np.zeros(17, np.uint8)[1:].view(np.float64)
    for one in (odd, odd.astype(">f8")):
        np.testing.assert_array_equal(buffers.extended(one, 3), [0.0] * 3)
        assert buffers.extended(one, 3).dtype == one.dtype
    for wrong in (rows[:, ::2], rows.T, np.array(1.0), np.array([None])):
        with pytest.raises(ValueError, match="extended: rows"):
            buffers.extended(wrong, 5)
    with pytest.raises(ValueError, match="extended: rows: have shape"):
        buffers.extended(rows, 2)


def test_large_blocks_beyond_the_limit_are_kept_on_call():
    first = new(2**23)  # twice the limit
    first[:] = 7
    place = first.ctypes.data
    del first
    assert kept_bytes() == 0
    if on_call_bytes() == 0:
        pytest.skip("this system does not take pages back, or a sanitizer watches them")
    assert on_call_bytes() == 2**23
    again = new(2**23)
    assert again.ctypes.data == place
    assert on_call_bytes() == 0
    again[:] = 9  # the memory works, whether or not its pages were taken
    assert int(again[0]) == int(again[-1]) == 9
    del again
    small = new(2**21)
    del small
    assert (kept_bytes(), on_call_bytes()) == (2**21, 2**23), "each is counted where it is kept"
    several = [new(2**24) for _ in range(3)]  # more than eight times the limit, with what is there
    del several
    assert on_call_bytes() <= 8 * 2**22
    lodcore.set_recycled_bytes(0)
    assert on_call_bytes() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="limits the room for addresses")
def test_kept_blocks_are_released_where_there_is_no_room_for_another():
    import resource

    lodcore.set_recycled_bytes(2**25)
    del [new(2**27)][:]  # allocated and freed alone, as all blocks of this size
    kept = on_call_bytes()
    with open("/proc/self/statm", encoding="ascii") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**22, before[1]))
    try:
        made = new(2**27 - 2**25) if kept else None  # of another size, and more than there is room for
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    assert made is None or (made.nbytes == 2**27 - 2**25 and on_call_bytes() == 0)
