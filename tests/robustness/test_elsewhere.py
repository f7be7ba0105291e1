"""The environments that `make elsewhere` draws."""

from pathlib import Path

import pytest
from numpy._core import _multiarray_umath as umath

from tests.builds import places
from tests.builds.elsewhere import drawn

pytestmark = pytest.mark.not_on_reference


def test_a_number_draws_the_same_environment_again():
    environments = [drawn(number) for number in range(60)]
    assert environments == [drawn(number) for number in range(60)]
    assert len({tuple(one.values()) for one in environments}) == 60
    for name, values in places.PROPERTIES.items():
        assert {one[name] for one in environments} == set(values)


@pytest.mark.parametrize("level", ["avx512", "avx2", "none"])
def test_switches_of_instructions_have_the_names_of_numpy(level, tmp_path, monkeypatch):
    monkeypatch.setattr(places, "core_of_openblas", lambda environment: "")
    place = places.Place(Path(tmp_path), 0)
    places.instructions(place, level)
    off = place.environment.get("NPY_DISABLE_CPU_FEATURES", "").split()
    assert set(off) <= set(umath.__cpu_dispatch__)
    assert (
        place.notes
        or level != "none"
        or not [name for name in umath.__cpu_dispatch__ if name not in off and umath.__cpu_features__[name]]
    )
