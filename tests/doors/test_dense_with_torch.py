"""Gradients of NumPy's functions on dense arrays are those of torch, in both precisions, also of complex numbers."""

import numpy as np
import pytest

import lodcore
from tests.helpers.libraries import MARKS, imported

torch = imported("torch")
pytestmark = MARKS

random = np.random.default_rng(0)
GIVEN = {
    "p": random.normal(size=(3, 4)),
    "s": (lambda x: x @ x.T + 3 * np.eye(3))(random.normal(size=(3, 3))),
    "v": random.normal(size=4),
    "w": random.normal(size=(2, 3, 4)),
    "z": random.normal(size=4) + 1j * random.normal(size=4),
}
#: Calls of NumPy and those of torch, where they differ.
CALLS = [
    "np.linalg.inv(s)",
    "np.linalg.det(s)",
    "np.linalg.slogdet(s)[1]",
    "np.linalg.pinv(p)",
    "np.linalg.solve(s, p)",
    "np.linalg.cholesky(s)",
    "np.linalg.eigh(s)[0]",
    "np.linalg.eigh(s)[1] ** 2",
    "np.linalg.svd(p, full_matrices=False)[0] ** 2",
    "np.linalg.svd(p)[1]",
    ("np.linalg.svd(w, compute_uv=False)", "np.linalg.svdvals(w)"),
    "np.linalg.qr(p.T)[0]",
    "np.linalg.norm(p)",
    ("np.linalg.norm(p, axis=1)", "np.linalg.vector_norm(p, dim=1)"),
    ("np.linalg.norm(p, 'nuc')", "np.linalg.matrix_norm(p, 'nuc')"),
    ("np.linalg.norm(v, 3)", "np.linalg.vector_norm(v, 3)"),
    "np.linalg.matrix_power(s, 3)",
    "np.einsum('ij,ik->jk', p, p)",
    "np.einsum('aij,ij->a', w, p)",
    "np.einsum('ii', s)",
    ("np.tensordot(w, p, axes=([1, 2], [0, 1]))", "np.tensordot(w, p, dims=([1, 2], [0, 1]))"),
    "np.kron(p, s)",
    "np.outer(v, v)",
    ("np.cross(s, s[::-1])", "np.cross(s, s.flip(0), dim=-1)"),
    ("np.sort(p, axis=0)", "np.sort(p, dim=0)[0]"),
    ("np.quantile(p, 0.3, axis=1)", "np.quantile(p, 0.3, dim=1)"),
    ("np.cumsum(p, axis=0)", "np.cumsum(p, 0)"),
    ("np.cumprod(p, axis=1)", "np.cumprod(p, 1)"),
    ("np.maximum.accumulate(p, axis=1)", "np.cummax(p, 1)[0]"),
    "np.diff(p)",
    ("np.gradient(v)", "np.gradient(v)[0]"),
    ("np.trapezoid(p, dx=0.5)" if hasattr(np, "trapezoid") else "np.trapz(p, dx=0.5)", "np.trapezoid(p, dx=0.5)"),
    "np.roll(p, 1)",
    "np.tile(p, (2, 3))",
    ("np.repeat(p, 2, axis=1)", "np.repeat_interleave(p, 2, 1)"),
    "np.tril(p)",
    ("np.pad(w, ((0, 0), (0, 0), (1, 2)), mode='reflect')", "np.nn.functional.pad(w, (1, 2), mode='reflect')"),
    "np.fft.irfft(np.fft.rfft(p) * 2, n=5)",
    "np.abs(np.fft.fft(v))",
    "np.real(np.fft.ifft(z))",
    "np.abs(np.fft.fft2(p)) ** 2",
    "np.abs(z * z + 1)",
    "np.real(np.exp(z) / z)",
    "np.angle(z)",
    "np.sinc(v)",
]


@pytest.mark.parametrize(("dtype", "tolerance"), [("f8", 1e-8), ("f4", 2e-3)])
def test_gradients_are_those_of_torch(dtype, tolerance):
    given = {name: x.astype(dtype if x.dtype.kind == "f" else f"c{2 * int(dtype[1])}") for name, x in GIVEN.items()}
    failed = []
    for text in CALLS:
        ours, theirs = (text, text) if isinstance(text, str) else text

        def loss(given, ours=ours):
            found = eval(ours, {"np": np, **given})
            return np.sum(found * found)

        leaves = {name: torch.tensor(x, requires_grad=True) for name, x in given.items()}
        found = eval(theirs, {"np": torch, **leaves})
        (found * found).sum().backward()
        _, gradients = lodcore.value_and_grad(loss)(given)
        for name, leaf in leaves.items():
            wanted = np.zeros_like(given[name]) if leaf.grad is None else leaf.grad.numpy()
            near = tolerance * max(1.0, np.abs(wanted).max())
            if gradients[name].dtype != given[name].dtype or not np.allclose(gradients[name], wanted, tolerance, near):
                failed.append(f"{ours}, {name}: {gradients[name]} {wanted}")
    assert not failed, "\n".join(failed)
