"""Kernels with paths for several instruction sets: on each of them, in a process of its own, the bits are the same."""

from importlib import import_module

import pytest

from tests.helpers.paths import on_each_path

#: The files whose `digest` hashes the results of their kernels for many batches.
FILES = ("attention", "beam", "deviation", "embedding", "gates", "lod", "norm", "optimizers", "pool", "softmax", "sort")
FILES += ("window",)


@pytest.mark.beyond_the_rules
@pytest.mark.parametrize("name", FILES)
def test_kernels_have_the_same_bits_on_every_instruction_set(name):
    module = f"tests.kernels.test_{name}"
    assert set(on_each_path(module, "digest").values()) == {import_module(module).digest()}
