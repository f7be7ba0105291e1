"""A classifier of speakers by a reservoir: a random recurrent network with a trained linear readout.

A frame is the input of a thousand leaky units, which are connected to each other and forget at different rates:
the state is a memory of the recording so far. One reservoir reads a recording forwards, a second one backwards.
Four numbers per unit and recording (mean, maximum, minimum and final state) are classified by ridge regression.
Nothing else is trained, so there are no gradients.

Recordings are never padded. ``TensorArray.unpack`` cuts them into steps: step *t* is a matrix of frame *t* of
all recordings that are long enough, longest first, so the batch of states only loses its last rows. Backwards,
the same steps run from the last to the first, and a recording joins the batch, with a state of zeros, at its
last frame: nothing is reversed. ``pack`` restores the states to the order of their frames.

References
----------
H. Jaeger, M. Lukosevicius, D. Popovici, U. Siewert, "Optimization and applications of echo state networks
with leaky-integrator neurons", Neural Networks 20 (3), 2007. It applies such networks to this task.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lodcore
from lodcore import IndicesMap, LoDTensor, TensorArray

__all__ = ["BASELINE_RIDGE", "SETTINGS", "Network", "Readout", "Settings", "mean_and_deviation"]

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]
NUM_SPEAKERS = 9


@dataclass(frozen=True)
class Settings:
    """All choices of the method.

    They were chosen by cross-validation on the 270 training recordings alone, before the 370 were used. There, the
    mean error of ten networks is 0.55 % in five random folds (drawn ten times), 1.0 % in five folds of neighbouring
    recordings, and 2.3 % if one third is used to classify the other two. The choice is not critical: most similar
    settings are equally good within a fifth, and among equals the larger network and the stronger penalty were taken.
    """

    num_units: int = 1000  # in each direction
    spectral_radius: float = 0.8  # strength of the connections between units
    slowest_leak: float = 0.1  # the leak is the new share of a unit's state at each frame;
    fastest_leak: float = 1.0  # those of units are log-uniform between these two
    input_scale: float = 0.35  # standard deviation of the weights from coefficients to units
    bias_scale: float = 1.5  # standard deviation of the units' biases
    whitening: float = 0.5  # a coefficient is divided by this power of its standard deviation
    ridge: float = 0.2  # penalty, in units of the mean squared length of the standardised features


SETTINGS = Settings()
BASELINE_RIDGE = 0.01  # as good as any up to 0.3 on the 270; best for the baseline on the 370


@dataclass(frozen=True)
class Reservoir:
    """A recurrent network with fixed random weights and leaky units.

    Parameters
    ----------
    input_weight : float32 ndarray, shape (12, num_units)
    bias, leak : float32 ndarray, shape (num_units,)
    recurrent_weight : float32 ndarray, shape (num_units, num_units)
    """

    input_weight: Float32
    bias: Float32
    recurrent_weight: Float32
    leak: Float32

    @classmethod
    def draw(cls, width: int, settings: Settings, generator: np.random.Generator) -> "Reservoir":
        """Draw the weights.

        Normal entries with standard deviation r / sqrt(n) have a spectral radius near r if n is large (the circular
        law), so no eigenvalue needs to be computed.
        """
        num_units = settings.num_units
        slowest, fastest = np.log([settings.slowest_leak, settings.fastest_leak])
        recurrent_weight = generator.standard_normal((num_units, num_units), np.float32)
        recurrent_weight *= np.float32(settings.spectral_radius / np.sqrt(num_units))
        return cls(
            np.float32(settings.input_scale) * generator.standard_normal((width, num_units), np.float32),
            np.float32(settings.bias_scale) * generator.standard_normal(num_units, np.float32),
            recurrent_weight,
            np.exp(generator.uniform(slowest, fastest, num_units)).astype(np.float32),
        )

    def listen(self, x: LoDTensor) -> tuple[TensorArray, IndicesMap]:
        """Compute the inputs of the units from the frames of `x` by one product, and cut them into steps."""
        heard = x.values @ self.input_weight
        heard += self.bias
        return TensorArray.unpack(LoDTensor.from_lengths(heard, x.lengths), 0)

    def advance(self, heard: Float32, state: Float32) -> Float32:
        """Compute the next state of a batch from one step and the state so far.

        Parameters
        ----------
        heard, state : float32 ndarray, shape (num_recordings, num_units)

        Returns
        -------
        float32 ndarray, shape (num_recordings, num_units)
            ``(1 - leak) * state + leak * tanh(heard + state @ recurrent_weight)``.
        """
        out: Float32 = state @ self.recurrent_weight
        out += heard
        np.tanh(out, out=out)
        out -= state
        out *= self.leak
        out += state
        return out

    def run_forward(self, x: LoDTensor) -> LoDTensor:
        """Compute the state after each frame, reading every recording from its first frame to its last."""
        steps, indices_map = self.listen(x)
        states = TensorArray()
        state = np.zeros((len(steps.read(0)), len(self.bias)), np.float32)
        for step in range(steps.size()):
            heard = steps.read(step)
            state = self.advance(heard, state[: len(heard)])  # recordings that have ended are the last rows
            states.write(step, state)
        packed: LoDTensor = states.pack(0, indices_map)
        return packed

    def run_backward(self, x: LoDTensor) -> LoDTensor:
        """Compute the state after each frame, reading every recording from its last frame to its first."""
        steps, indices_map = self.listen(x)
        states = TensorArray()
        state = np.zeros((0, len(self.bias)), np.float32)
        for step in reversed(range(steps.size())):
            heard = steps.read(step)
            joining = np.zeros((len(heard) - len(state), len(self.bias)), np.float32)  # at their last frame
            state = self.advance(heard, np.concatenate([state, joining]))
            states.write(step, state)
        packed: LoDTensor = states.pack(0, indices_map)
        return packed


def pool_states(states: LoDTensor, is_backward: bool) -> Float32:
    """Return the mean, maximum, minimum and final state of each recording, none of which may be empty.

    Parameters
    ----------
    states : LoDTensor, width num_units
        The state after each frame.
    is_backward : bool
        Whether the final state is at a recording's first frame instead of its last.

    Returns
    -------
    float32 ndarray, shape (num_recordings, 4 * num_units)
    """
    kinds: tuple[Any, ...] = ("mean", "max", "min", "first" if is_backward else "last")
    return np.hstack([lodcore.sequence_pool(states, kind) for kind in kinds])


def mean_and_deviation(x: LoDTensor) -> Float64:
    """Return the mean and the standard deviation of the coefficients of each recording, without recurrence.

    Returns
    -------
    float64 ndarray, shape (num_recordings, 24)
    """
    mean = lodcore.sequence_pool(x, "mean")
    distance = lodcore.minus(x, lodcore.sequence_expand_as(mean, x))
    variance = lodcore.sequence_pool(lodcore.mul(distance, distance), "mean")
    return np.hstack([mean, np.sqrt(variance)])


@dataclass(frozen=True)
class Readout:
    """Ridge regression from standardised features to one score per speaker; the highest score wins.

    Parameters
    ----------
    center, scale : float64 ndarray, shape (num_features,)
        The number subtracted from each feature, and the divisor of the result.
    weight : float64 ndarray, shape (num_features, 9)
    bias : float64 ndarray, shape (9,)
    """

    center: Float64
    scale: Float64
    weight: Float64
    bias: Float64

    @classmethod
    def fit(cls, features: Float32 | Float64, speakers: Int64, ridge: float) -> "Readout":
        """Solve the regression in its dual form, which is as small as the number of recordings.

        Parameters
        ----------
        features : real ndarray, shape (num_recordings, num_features)
        speakers : int64 ndarray, shape (num_recordings,)
        ridge : float
            Added to the diagonal of the recordings' inner products, in units of its mean.
        """
        center, scale = features.mean(axis=0, dtype=np.float64), features.std(axis=0, dtype=np.float64) + 1e-8
        standard = (features - center) / scale
        targets = np.eye(NUM_SPEAKERS)[speakers]
        bias = targets.mean(axis=0)
        products = standard @ standard.T
        unit = np.trace(products) / len(products)
        penalised = products + ridge * unit * np.eye(len(products))
        return cls(center, scale, standard.T @ np.linalg.solve(penalised, targets - bias), bias)

    def predict(self, features: Float32 | Float64) -> Int64:
        """Return the speaker of each recording, 0 to 8."""
        scores: Float64 = (features - self.center) / self.scale @ self.weight + self.bias
        speakers: Int64 = scores.argmax(axis=1)
        return speakers


@dataclass(frozen=True)
class Network:
    """Two reservoirs, one per direction, with a common scaling of the coefficients.

    Parameters
    ----------
    center, scale : float64 ndarray, shape (12,)
        The number subtracted from each coefficient, and the divisor of the result.
    forward, backward : Reservoir
    """

    center: Float64
    scale: Float64
    forward: Reservoir
    backward: Reservoir

    @classmethod
    def draw(cls, x: LoDTensor, settings: Settings, seed: int) -> "Network":
        """Draw a network with a scaling computed from the recordings `x`."""
        generator = np.random.default_rng(seed)
        scale = x.values.std(axis=0) ** settings.whitening
        forward, backward = (Reservoir.draw(x.values.shape[1], settings, generator) for _ in range(2))
        return cls(x.values.mean(axis=0), scale, forward, backward)

    def features(self, x: LoDTensor) -> Float32:
        """Run both reservoirs over all recordings; return the pooled states.

        Returns
        -------
        float32 ndarray, shape (num_recordings, 8 * num_units)
        """
        scaled = ((x.values - self.center) / self.scale).astype(np.float32)
        x = LoDTensor.from_lengths(scaled, x.lengths)
        forward = pool_states(self.forward.run_forward(x), is_backward=False)
        backward = pool_states(self.backward.run_backward(x), is_backward=True)
        return np.hstack([forward, backward])
