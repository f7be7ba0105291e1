"""Kernels with paths for several instruction sets: on each of them, in a separate process, the bits are the same."""

from importlib import import_module

import pytest

from tests.helpers.compiled import modules_with, variants
from tests.helpers.paths import FILES, on_each_path

OTHERS = ("matrix",)  # products are not fused without wider registers: its own tests say what is equal


@pytest.mark.beyond_the_rules
@pytest.mark.parametrize("name", FILES)
def test_kernels_have_the_same_bits_on_every_instruction_set(name):
    module = f"tests.kernels.test_{name}"
    assert set(on_each_path(module, "digest").values()) == {import_module(module).digest()}


@pytest.mark.not_on_reference
def test_every_file_with_variants_has_a_digest():
    """Of a file of loops, one that takes them."""
    for path, name, _ in variants():
        assert {one.stem for one in modules_with(path)} & {*FILES, *OTHERS}, (path.name, name)
        assert path.suffix == ".pxd" or path.stem in FILES, (path.name, name)
