"""Programs that run in a separate process: a crash is a failed test."""

import subprocess
import sys
from pathlib import Path

from tests.helpers import processes

ROOT = Path(__file__).parent.parent.parent
PRELUDE = """
import contextlib, copy, gc, sys, threading, time
import numpy as np
import lodcore
from lodcore import IndicesMap, LoD, LoDTensor, RankTable, SparseTensor, TensorArray, vjp
import warnings
warnings.simplefilter("ignore")

def tried(call):
    "Make a call that may raise, but nothing else."
    try:
        return call()
    except (ValueError, TypeError, IndexError, KeyError, MemoryError, AttributeError, BufferError, RuntimeError):
        return None

def beside(change, call, seconds=0.6):
    "Make a call again and again while another thread changes something."
    done = threading.Event()
    def run():
        while not done.is_set():
            tried(change)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    thread = threading.Thread(target=run)
    thread.start()
    try:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            tried(call)
    finally:
        done.set()
        thread.join()
        sys.setswitchinterval(before)

def collected(change, call, most=12):
    "Make a call under every small threshold of the garbage collector, whose finalizers change something."
    class Cycle:
        def __init__(self):
            self.me = self
        def __del__(self):
            tried(change)
    before = gc.get_threshold()
    for threshold in range(1, most):
        for _ in range(8):
            gc.disable()
            cycles = [Cycle() for _ in range(3)]
            del cycles
            gc.set_threshold(threshold)
            gc.enable()
            tried(call)
            gc.disable()
    gc.set_threshold(*before)
    gc.enable()

def turned(array, *shapes):
    "Give an array other shapes, one after the other, and its own again."
    before = array.shape
    for shape in shapes:
        array.shape = shape
    array.shape = before
"""


def survives(
    program: str,
    seconds: float = 600,
    *arguments: str,
    prelude: str = PRELUDE,
    environment: dict[str, str] | None = None,
) -> str:
    """Run a program, and return its output; raise if it crashed, or hangs: a busy machine may take minutes."""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", prelude + program, *arguments],
        cwd=ROOT,
        env=processes.environment(OPENBLAS_NUM_THREADS="1", **(environment or {})),
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout
