"""Sampling by temperature: probabilities, no repetition before all sequences have been drawn, and resuming."""

import copy
import json
import pickle

import numpy as np
import pytest

from lodcore import DTypeError, LoDError
from lodcore.batching import sample_by_temperature

pytestmark = pytest.mark.not_on_reference


@pytest.mark.parametrize("temperature", [0.5, 1, 2.0, float("inf")])
def test_sample_by_temperature_draws_with_the_probabilities_of_its_sizes(temperature):
    sizes = np.array([1000, 0, 10, 100])
    sampler = sample_by_temperature(sizes, temperature, seed=2, num_samples=20_000)
    weights = np.where(sizes > 0, sizes ** (1 / temperature), 0)
    np.testing.assert_allclose(sampler.probabilities, weights / weights.sum())
    counts = np.bincount([source for source, _ in sampler], minlength=4) / 20_000
    np.testing.assert_allclose(counts, sampler.probabilities, atol=0.012)
    assert counts[1] == 0


def test_sample_by_temperature_uses_each_item_once_before_repeating():
    seen = [[], []]
    for source, number in sample_by_temperature([7, 5], 3, num_samples=200):
        seen[source].append(number)
    for size, numbers in zip((7, 5), seen, strict=True):
        turns = [tuple(numbers[start : start + size]) for start in range(0, len(numbers) - size, size)]
        assert all(sorted(turn) == list(range(size)) for turn in turns)
        assert len(set(turns)) > 1


@pytest.mark.parametrize("steps", [0, 1, 4095, 4096, 5000])
def test_a_sampler_goes_on_from_a_loaded_state(steps):
    sampler = sample_by_temperature([30, 5, 8], 2, seed=4)
    for _ in range(steps):
        next(sampler)
    fresh, begun = sample_by_temperature([30, 5, 8], 2), sample_by_temperature([30, 5, 8], 2, seed=99)
    for _ in range(7):
        next(begun)  # what it has drawn ahead belongs to another seed
    for other in (fresh, begun):
        other.load_state_dict(json.loads(json.dumps(sampler.state_dict())))
    copied = pickle.loads(pickle.dumps(sampler))
    for _ in range(50):
        pair = next(sampler)
        assert next(fresh) == next(begun) == next(copied) == pair
        assert [type(one) for one in pair] == [int, int]


def test_sample_by_temperature_repeats_no_stretch_of_its_draws():
    """For any size: no stretch of the draws repeats an earlier one, and other seeds draw differently."""
    drawn = np.array([source for source, _ in sample_by_temperature([50, 50], seed=1, num_samples=3 * 4096)])
    for apart in (256, 512, 1024, 2048, 4096, 8192):
        assert (drawn[apart:] != drawn[:-apart]).mean() > 0.4
    other = [source for source, _ in sample_by_temperature([50, 50], seed=2, num_samples=200)]
    assert drawn[:200].tolist() != other


def test_sample_by_temperature_ends_after_num_samples():
    assert len(list(sample_by_temperature([3], num_samples=5))) == 5
    assert list(sample_by_temperature([3], num_samples=0)) == []


def continued(sizes, entries, **named):
    sampler = sample_by_temperature(sizes, **named)
    sampler.load_state_dict(sampler.state_dict() | entries)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: sample_by_temperature([]), ValueError, "are all 0"),
        (lambda: sample_by_temperature([0, 0]), ValueError, "are all 0"),
        (lambda: sample_by_temperature([3, -1]), LoDError, "is -1 at position 1"),
        (lambda: sample_by_temperature([3.5]), DTypeError, "sizes"),
        (lambda: sample_by_temperature([3], 0), ValueError, "temperature: is 0; it must be above 0"),
        (lambda: sample_by_temperature([3], float("nan")), ValueError, "temperature: is nan"),
        (lambda: sample_by_temperature([3], "hot"), DTypeError, "temperature: is 'hot'"),
        (lambda: sample_by_temperature([3], num_samples=-1), ValueError, "num_samples: is -1"),
        (lambda: sample_by_temperature([3]).load_state_dict({}), ValueError, "position, seed, drawn, digest missing"),
        (
            lambda: continued([3], {"position": 2, "drawn": [1]}),
            ValueError,
            "has 1 of 1 sources; 2 of 1 are needed",
        ),
        (
            lambda: continued([3, 0], {"position": 2, "drawn": [1, 1]}),
            ValueError,
            "a source that is empty here",
        ),
    ],
)
def test_wrong_calls_of_sample_by_temperature_name_argument_and_value(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_temperatures_of_any_size():
    for temperature, want in (
        (5e-324, [0, 1, 0, 0]),
        (1e-300, [0, 1, 0, 0]),
        (1e-3, [0, 1, 0, 0]),
        (1e300, [1 / 3] * 3 + [0]),
        (np.float32(2), [0.25, 0.5, 0.25, 0]),
        (np.int8(1), [1 / 6, 4 / 6, 1 / 6, 0]),
    ):
        sampler = sample_by_temperature([100, 400, 100, 0], temperature)
        np.testing.assert_allclose(sampler.probabilities, want, atol=1e-7)
    for temperature in (True, False, np.True_, "1", None, [1.0]):
        with pytest.raises(DTypeError, match=r"temperature: is .*; a number is needed"):
            sample_by_temperature([3], temperature)
    for temperature in (0, -1, -np.inf, np.nan):
        with pytest.raises(ValueError, match=r"temperature: is .*; it must be above 0"):
            sample_by_temperature([3], temperature)


def test_sampler_copies_sizes_and_states():
    sizes, drawn = np.array([3, 5]), np.array([1, 1])
    sampler = sample_by_temperature(sizes, seed=1)
    state = sampler.state_dict()
    sampler.load_state_dict(state | {"position": 2, "drawn": drawn})
    sizes[:] = 1
    kept = sampler.state_dict()
    next(sampler)
    assert sampler.sizes.tolist() == [3, 5]
    assert (drawn.tolist(), state["drawn"], kept["drawn"]) == ([1, 1], [0, 0], [1, 1])
    drawn[:] = 0
    assert sum(sampler.state_dict()["drawn"]) == sampler.position == 3


def test_a_copied_sampler_draws_on_its_own():
    sampler = sample_by_temperature([3, 5], seed=1)
    wanted = list(zip(range(12), sample_by_temperature([3, 5], seed=1), strict=False))
    for at, pair in wanted:
        copies = [copy.copy(sampler), copy.deepcopy(sampler)]
        for other in copies:
            assert [next(other) for _ in range(12 - at)] == [one for _, one in wanted[at:]]
        assert (sampler.position, sum(sampler.state_dict()["drawn"])) == (at, at)
        assert next(sampler) == pair


def test_sampler_refuses_states_that_it_never_had():
    for state, says in (
        ({"position": 1, "drawn": [2, -1]}, "has 1 of 2 sources; 1 of 2 are needed"),
        ({"position": 2, "drawn": [2]}, "has 2 of 1 sources; 2 of 2 are needed"),
        ({"position": 2, "drawn": [1, 1, 0]}, "has 2 of 3 sources"),
        ({"position": 1, "drawn": [1, 1]}, "has 2 of 2 sources; 1 of 2"),
        ({"position": -1, "drawn": [0, 0]}, "position: is -1"),
        ({"position": 0, "drawn": [0, 0], "seed": -1}, "seed: is -1"),
    ):
        with pytest.raises(ValueError, match=says):
            continued([3, 5], state)


def test_load_state_dict_of_a_sampler_refuses_states_of_other_samplers():
    state = sample_by_temperature([3, 5], 2.0, seed=1).state_dict()
    for other in ([5, 3], 2.0), ([3, 6], 2.0), ([3, 5], 3.0), ([3, 5, 0], 2.0):
        with pytest.raises(ValueError, match="state: is that of a sampler with other sizes or another temperature"):
            sample_by_temperature(*other).load_state_dict(state)
    with pytest.raises(ValueError, match="position: is 3; num_samples is 2"):
        continued([3, 5], {"position": 3, "drawn": [1, 2]}, num_samples=2)
