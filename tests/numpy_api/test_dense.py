"""NumPy's functions on dense Variables: values and gradients, under vjp, in Programs and in bodies of loops."""

import operator
import re
import warnings

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, GraphError, LoDTensor, ShapeError, ops, value_and_grad, vjp, while_loop
from lodcore.graph import Executor, Program, data
from lodcore.ops.dense.numpy_call import NUMPY_RULES
from lodcore.testing import check_operator
from tests.helpers.numpy_calls import OTHERS, SMOOTH
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference

random = np.random.default_rng(0)
_square = random.normal(size=(3, 3))
#: The operands of the calls below.
GIVEN = {
    "p": random.normal(size=(3, 4)),
    "q": random.normal(size=(4, 3)),
    "s": _square @ _square.T + 3 * np.eye(3),
    "v": random.normal(size=4),
    "w": random.normal(size=(2, 3, 4)),
}
GIVEN["holes"] = np.where(GIVEN["p"] > 1, np.nan, GIVEN["p"])
#: What one operand is compared with, as a constant.
P = GIVEN["p"].copy()

METHODS = """
p.T | p.mT | p.transpose() | p.transpose(1, 0) | w.transpose((2, 0, 1)) | w.transpose(None)
w.swapaxes(0, -1) | p.reshape(2, 6) | p.reshape(-1) | p.reshape((4, -1)) | p.reshape(2, 6, order='F')
p.flatten() | p.flatten('F') | p.ravel() | p[None].squeeze() | p[:1].squeeze(0) | p.repeat(2)
p.repeat(2, axis=0) | p.diagonal() | p.diagonal(1) | p.trace() | p.sum() | p.sum(0) | p.mean(axis=1) | p.var()
p.std(0) | p.prod(1) | p.max(0) | p.min() | p.cumsum() | p.cumsum(0) | p.cumprod(1) | p.clip(0, 1) | p.dot(q)
p.copy() | p.conj() | p.conjugate() | p.real | p.imag | p.take([0, 2]) | p.take([0, 2], axis=1)
p.compress([True, False, True], axis=0) | p * p.size | p.argsort() | p.round(1) | p[[[0, 1], [1, 0]]]
p[[0, 1], [1, 2]] | p[P > 0] | p[:, None] | p[..., ::2] | p[1:, [0, 0]] | p[-1] | p[np.ix_([0, 1], [2, 3])]
"""
SHAPES = """
np.transpose(w) | np.transpose(w, (1, 2, 0)) | np.swapaxes(w, 0, 2) | np.moveaxis(w, 0, -1)
np.moveaxis(w, (0, 1), (2, 0)) | np.rollaxis(w, 2) | np.rollaxis(w, 0, 3) | np.reshape(p, (2, 6))
np.reshape(p, (2, 6), order='F') | np.ravel(p) | np.ravel(p, 'F') | np.expand_dims(p, 1)
np.expand_dims(p, (0, 2)) | np.squeeze(p[None]) | np.squeeze(p[:1], axis=0) | np.atleast_1d(v[0])
np.atleast_2d(v) | np.atleast_3d(v) | np.atleast_3d(p) | np.atleast_2d(v, p)[0] | np.broadcast_to(v, (3, 4))
np.broadcast_to(v[0], (2, 0)) | np.broadcast_arrays(p, v)[1] | np.flip(p) | np.flip(p, 1) | np.fliplr(p)
np.flipud(p) | np.rot90(p) | np.rot90(p, 2) | np.rot90(w, 3, (1, 2)) | np.roll(p, 1) | np.roll(p, 1, axis=0)
np.roll(p, (1, 2), axis=(0, 1)) | np.tile(p, 2) | np.tile(p, (2, 3)) | np.tile(p, (2, 1, 1)) | np.repeat(p, 2)
np.repeat(p, 2, axis=1) | np.repeat(p, [1, 2, 0], axis=0) | np.pad(p, 1) | np.pad(p, ((1, 0), (2, 1)))
np.pad(p, 1, mode='edge') | np.pad(p, 5, mode='reflect') | np.pad(p, 9, mode='wrap')
np.pad(p, 4, mode='symmetric') | np.pad(p, 1, constant_values=3.0)
np.pad(p, 1, constant_values=((1, 2), (3, 4))) | np.diag(p) | np.diag(v) | np.diag(v, 1) | np.diag(p, -1)
np.diagflat(p, 1) | np.diagonal(p) | np.diagonal(w, 1, 1, 2) | np.trace(p) | np.trace(w, axis1=1, axis2=2)
np.tril(p) | np.triu(p, 1) | np.tril(v) | np.zeros_like(p) + p | np.ones_like(p) * p
np.full_like(p, 2.0) * p
"""
JOINS = """
np.stack([p, p]) | np.stack([p, P], axis=-1) | np.vstack([p, v]) | np.hstack([p, p]) | np.hstack([v, v])
np.dstack([p, p]) | np.dstack([v, v]) | np.column_stack([v, v]) | np.column_stack([v, q])
np.concatenate([p, P]) | np.concatenate([p, p], axis=1) | np.concatenate([p, v], axis=None) | np.append(p, v)
np.append(p, p, axis=0) | np.block([[p, p], [p, P]]) | np.block([v, 1.0]) | np.split(p, 2, axis=1)[0]
np.split(p, [1], axis=0)[1] | np.array_split(p, 3, axis=1)[0] | np.vsplit(p, 3)[0] | np.hsplit(p, 2)[0]
np.hsplit(v, 2)[1] | np.dsplit(w, 2)[0] | np.meshgrid(v, v)[0] | np.meshgrid(v, p[0], indexing='ij')[1]
np.meshgrid(v, v, sparse=True)[1] | np.take(p, [0, 2]) | np.take(p, [[0, 1], [1, 0]], axis=1)
np.take(p, 1, axis=1) | np.take(p, [9, -1], mode='wrap') | np.take_along_axis(p, np.argsort(P), 1)
np.take_along_axis(p, np.array([1, 2]), None) | np.compress([True, False, True], p, axis=0)
np.compress(P.ravel() > 0, p) | np.extract(P > 0, p) | np.delete(p, 1, axis=0) | np.delete(p, [0, 5])
np.where(p > 0, p, 0) | np.select([p > 0, p < -1], [p, p * 2], 0.5) | np.clip(p, 0, 1) | np.clip(p, None, 0.5)
np.linspace(v[0], v[1], 5) | np.linspace(v, q[:, 0], 4, endpoint=False, axis=1)
"""
PRODUCTS = """
np.einsum('ij,jk->ik', p, q) | np.einsum('ij->j', p) | np.einsum('ii', s) | np.einsum('ii->i', s)
np.einsum('ij,kj', p, p) | np.einsum('...i,i->...', w, v) | np.einsum('...i,...i', w, p)
np.einsum(p, [0, 1], [1, 0]) | np.einsum(p, [0, 1], q, [1, 2]) | np.einsum('i,j->', v, v)
np.einsum('ij,jk,kl', p, q, p, optimize=True) | np.einsum('ij,ij->i', p, v[None]) | np.einsum('b a', p)
np.tensordot(p, q, 1) | np.tensordot(w, p, axes=([1, 2], [0, 1])) | np.tensordot(p, q, axes=((1, 0), (0, 1)))
np.tensordot(p, q, 0) | np.tensordot(p, p) | np.inner(p, p) | np.inner(v, v) | np.inner(2.0, p)
np.outer(v, p) | np.kron(p, q) | np.kron(v, w) | np.dot(p, q) | np.dot(v, v) | np.dot(p, v) | np.dot(w, q)
np.dot(p, w.swapaxes(1, 2)) | np.dot(2.0, p) | np.matmul(p, q) | p @ q | P @ q | p @ v | v @ q | w @ q
np.vdot(p, p) | np.cross(p[:, :3], q[:3, :3]) | np.cross(s, p[:, 1:], axisc=0)
np.cross(s, s[0]) | np.linalg.multi_dot([p, q, p]) | np.linalg.matrix_power(s, 3)
np.linalg.matrix_power(s, -2) | np.linalg.matrix_power(s, 0) * s | np.multiply.outer(v, p)
np.subtract.outer(v, v) | np.convolve(v, v) | np.convolve(v, p[0], 'same')
"""
LINALG = """
np.linalg.norm(p) | np.linalg.norm(v) | np.linalg.norm(w) | np.linalg.norm(p, axis=1) | np.linalg.norm(p, 1)
np.linalg.norm(p, -1) | np.linalg.norm(p, np.inf) | np.linalg.norm(p, 'nuc') | np.linalg.norm(p, 2)
np.linalg.norm(p, -2) | np.linalg.norm(v, 3) | np.linalg.norm(v, 1) | np.linalg.norm(v, np.inf)
np.linalg.norm(v, -np.inf) | np.linalg.norm(v, 0) | np.linalg.norm(w, 'fro', (0, 2))
np.linalg.norm(p, axis=1, keepdims=True) | np.linalg.norm(w, 2, (1, 2), keepdims=True)
np.linalg.norm(w, 1, axis=(2, 0)) | np.linalg.det(s) | np.linalg.slogdet(s)[1]
np.linalg.slogdet(s).logabsdet | np.linalg.inv(s) | np.linalg.pinv(p) | np.linalg.solve(s, p)
np.linalg.solve(s, v[:3]) | np.linalg.solve(s, w) | np.linalg.cholesky(s @ s.T) | np.linalg.eigh(s + s.T)[0]
np.linalg.eigh(s + s.T).eigenvectors ** 2 | np.linalg.eigvalsh(s + s.T, UPLO='U') | np.linalg.svd(p)[1]
np.linalg.svd(p)[0] ** 2 | np.linalg.svd(p, full_matrices=False)[2] ** 2 | np.linalg.svd(p, compute_uv=False)
np.linalg.svd(w, full_matrices=False).U ** 2 | np.linalg.qr(q)[0] | np.linalg.qr(q).R | np.linalg.cond(s)
np.linalg.cond(s, 1)
"""
FFT = """
np.abs(np.fft.fft(v)) | np.real(np.fft.fft(p)) | np.imag(np.fft.fft(p, axis=0)) | np.abs(np.fft.rfft(v))
np.fft.fft(v, 7).real | np.fft.irfft(np.fft.rfft(v) * 2) | np.fft.irfft(np.fft.rfft(p), n=5)
np.real(np.fft.ifft(p)) | np.fft.fft(v, 3).imag | np.abs(np.fft.fft2(p)) ** 2 | np.abs(np.fft.fftn(w))
np.fft.irfft2(np.fft.rfft2(p)) * p | np.fft.irfftn(np.fft.rfftn(w)) * w
np.real(np.fft.ifftn(w, axes=(0, 2))) | np.real(np.fft.fftn(w, (3, 5))) | np.abs(np.fft.rfft(v, n=6))
np.fft.hfft(v) | np.abs(np.fft.ihfft(v)) | np.fft.fftshift(p) | np.fft.ifftshift(w, axes=(1, 2))
np.angle(np.fft.rfft(v)[1]) | np.abs(np.conj(np.fft.fft(v, norm='ortho')))
np.abs(np.fft.fft(v) * np.fft.fft(p, norm='forward')) | np.abs(np.exp(np.fft.rfft(v) / 5))
np.real(np.einsum('i,i', np.fft.fft(v), np.fft.fft(v))) | np.linalg.norm(np.fft.fft(v))
np.real(np.linalg.inv(s + 1j)) | np.abs(np.linalg.det(s + 1j * s)) | np.abs(np.sum(np.fft.fft(p), 0))
np.abs(v * 1j + v)
"""
ORDERS = """
np.sort(p) | np.sort(p, axis=0) | np.sort(p, axis=None) | np.median(p) | np.median(p, axis=0)
np.median(w, axis=(0, 2)) | np.median(p, axis=1, keepdims=True) | np.quantile(p, 0.3)
np.quantile(p, [0.3, 0.5], axis=1) | np.percentile(p, 30, axis=0) | np.quantile(p, 0.4, method='nearest')
np.quantile(p, 0.4, axis=1, method='hazen') | np.nanmedian(holes) | np.partition(v, 3)[-1]
np.nanquantile(holes, 0.3, axis=0) | np.nanpercentile(holes, [10, 60]) | np.cumsum(p) | np.cumsum(p, axis=1)
np.cumprod(p) | np.cumprod(p, axis=0) | np.cumprod(p * (P > 0), axis=1) | np.nancumsum(holes)
np.nancumsum(holes, axis=0) | np.nancumprod(holes, axis=1) | np.add.accumulate(p)
np.multiply.accumulate(p, axis=1) | np.maximum.accumulate(p) | np.minimum.accumulate(v) | np.diff(p)
np.diff(p, 2, axis=0) | np.diff(p, axis=1, prepend=0, append=p[:, :1]) | np.diff(p, 0) | np.ediff1d(p)
np.ediff1d(v, 1.0, v[:2]) | np.gradient(v) | np.gradient(p)[0] | np.gradient(p, axis=1) | np.gradient(v, 2.0)
np.gradient(p, 0.5, 2.0)[1] | np.gradient(v, edge_order=2) | np.gradient(v, np.array([0.0, 1, 3, 4.5]))
np.gradient(v, np.array([0.0, 1, 3, 4.5]), edge_order=2) | np.max(p) | np.amax(p, axis=0) | np.min(p, axis=1)
np.sinc(p) | np.nan_to_num(holes) | np.nansum(holes) | np.nansum(holes, axis=0) | np.nanmean(holes, axis=0)
np.nanmean(holes) | np.nanvar(holes, 0) | np.nanstd(holes, 1) | np.nanmax(holes, 1) | np.nanmin(holes)
np.nanprod(holes, 0) | np.average(p) | np.average(p, axis=0, weights=[1.0, 2, 3])
np.average(p, axis=1, weights=v ** 2) | np.sum(p, axis=(0, 1)) | np.sum(p, axis=0, keepdims=True)
np.mean(w, axis=(0, 2)) | np.var(p, ddof=1) | np.std(p, axis=1, ddof=1) | np.prod(p, axis=0) | np.ptp(p, 0)
np.fix(p) * p | np.real_if_close(p) | np.add.reduce(p, axis=1) | np.maximum.reduce(p)
"""
MORE = """
np.correlate(v, v[:2]) | np.correlate(v, p[0], 'full') | np.correlate(v, v[:2], 'same')
np.real(np.linalg.eigvals(q @ p[:, :4])) | np.abs(np.linalg.eig(p @ q)[1]) ** 2 | np.abs(np.linalg.eig(s)[1])
np.imag(np.linalg.eigvals(s - 2 * s[::-1])) | np.real(np.linalg.eig(s - 2 * s[::-1])[1] ** 2)
np.abs(np.linalg.eig(s + w[:, :, :3])[0])
"""
NEWER = """
np.matrix_transpose(p) | np.unstack(p, axis=1)[1] | np.permute_dims(w, (1, 0, 2)) | np.linalg.outer(v, v)
np.linalg.matmul(p, q) | np.linalg.tensordot(p, q, axes=1) | np.linalg.cross(s, s[::-1]) | np.matvec(p, v)
np.vecmat(v, q) | np.vecdot(p, p) | np.linalg.diagonal(p) | np.linalg.trace(w) | np.cumulative_sum(v)
np.cumulative_prod(p, axis=1, include_initial=True) | np.trapezoid(v) | np.trapezoid(p, dx=0.5, axis=0)
np.trapezoid(p, np.array([0.0, 1, 3, 4])) | np.linalg.vector_norm(w, axis=(0, 2)) | np.linalg.matrix_norm(p)
np.linalg.svdvals(p) | np.linalg.matrix_transpose(p) | np.linalg.cholesky(s @ s.T, upper=True)
np.linalg.vecdot(p, p) | np.linalg.vector_norm(p, ord=1, axis=1)
"""
OLDER = """
np.cross(p[:, :2], q[:3, :3]) | np.cross(q[:3], p[:, :2])
"""


def listed(text):
    return [one.strip() for line in text.strip().splitlines() for one in line.split(" | ")]


TEXTS = [one for text in (METHODS, SHAPES, JOINS, PRODUCTS, LINALG, FFT, ORDERS, MORE) for one in listed(text)]


def there(text):
    """Return whether this NumPy has the function of a call, if it is one of NumPy's."""
    name = text.partition("(")[0]
    if not name.startswith("np."):
        return True
    try:
        operator.attrgetter(name.removeprefix("np."))(np)
    except AttributeError:
        return False
    return True


CALLS = [*TEXTS, *listed(NEWER)]
if np.lib.NumpyVersion(np.__version__) < "2.5.0":  # which has no products of vectors of two numbers any more
    CALLS += listed(OLDER)


def compute(text, given):
    return eval(text, {"np": np, "P": P, **given})


def checked(texts, check):
    """Call a check for each text whose function this NumPy has; name all that fail."""
    failed = []
    for text in filter(there, texts):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of the cross product of two numbers
            try:
                check(text)
            except Exception as error:
                failed.append(f"{text}: {type(error).__name__}: {str(error)[:300]}")
    assert not failed, "\n".join(failed)


def of_squares(found):
    """Return the sum of squares of a result, which has a gradient everywhere."""
    return np.sum(found * found) if found.dtype.kind == "f" else np.sum(found) * 0.0


def test_values_and_gradients_are_those_of_numpy():
    def check(text):
        wanted = compute(text, GIVEN)
        kept = []

        def loss(given):
            kept.append(compute(text, given))
            return of_squares(kept[-1])

        _, gradients = value_and_grad(loss)({name: x.copy() for name, x in GIVEN.items()})
        found = kept[-1].get() if hasattr(kept[-1], "get") else kept[-1]
        assert np.shape(found) == np.shape(wanted), (np.shape(found), np.shape(wanted))
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
        assert found.dtype == np.asarray(wanted).dtype
        step = 1e-6
        ways = {name: random.normal(size=x.shape) for name, x in GIVEN.items()}
        ends = [
            of_squares(np.asarray(compute(text, {n: x + at * ways[n] for n, x in GIVEN.items()})))
            for at in (step, -step)
        ]
        slope = sum((gradients[name] * way).sum() for name, way in ways.items())
        np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * step), rtol=1e-5, atol=1e-5)

    checked(CALLS, check)


def in_program(text, known, arrays=GIVEN):
    """Compute a call in a Program; return the Spec of its result and the result."""
    with Program() as program:
        given = {n: data(n, x.shape if known else (None, *x.shape[1:]), x.dtype) for n, x in arrays.items()}
        found = compute(text, given)
    if not hasattr(found, "spec"):  # a number that is known, times nothing
        return None, found
    return found.spec, Executor().run(program, dict(arrays), [found])[0]


def test_programs_compute_the_same_values_and_infer_the_shape():
    def check(text):
        spec, found = in_program(text, True)
        np.testing.assert_allclose(found, compute(text, GIVEN), rtol=1e-9, atol=1e-9)
        assert spec is None or "[P > 0]" in text or "extract" in text or spec.shape == found.shape, spec

    checked([text for text in CALLS if "real_if_close" not in text], check)


@pytest.mark.parametrize("dtype", ["f2", "f4", "c8"])
def test_programs_infer_the_dtype_that_numpy_finds(dtype):
    arrays = {name: x.astype(dtype) for name, x in GIVEN.items()}

    def check(text):
        try:
            wanted = np.asarray(compute(text, arrays)).dtype
            spec, found = in_program(text, True, arrays)
        except TypeError as error:  # not for such numbers
            if isinstance(error, DTypeError) and "real numbers are needed" not in str(error):
                raise
            return
        assert spec is None or found.dtype == spec.dtype == wanted, (spec, found.dtype, wanted)

    other = ("real_if_close", "linalg.cond")[: 1 + (dtype == "c8")]  # older versions return a complex number of 0j
    checked([text for text in CALLS if not any(one in text for one in other)], check)


def test_the_first_axis_may_be_unknown_in_a_program():
    """What cannot be computed then says so."""

    def check(text):
        try:
            spec, found = in_program(text, False)
        except (GraphError, ShapeError, TypeError, ValueError) as error:
            if any(one in str(error) for one in ("known only at run time", "known when", "square matrices are needed")):
                return
            raise
        np.testing.assert_allclose(found, compute(text, GIVEN), rtol=1e-9, atol=1e-9)
        assert spec is None or fits(spec.shape, found.shape), (spec.shape, found.shape)

    checked([text for text in CALLS if "real_if_close" not in text], check)


def fits(shape, sizes):
    return len(shape) == len(sizes) and all(size in (None, one) for size, one in zip(shape, sizes, strict=True))


def test_tensordot_sums_over_an_axis_of_unknown_length_and_checks_it_in_the_run():
    with Program() as program:
        a, b = data("a", (None, 2), "f8"), data("b", (3, 4), "f8")
        found = np.tensordot(a, b, ([0], [0]))
    assert found.spec.shape == (2, 4)
    x, y = np.arange(6.0).reshape(3, 2), np.arange(12.0).reshape(3, 4)
    np.testing.assert_allclose(Executor().run(program, {"a": x, "b": y}, [found])[0], x.T @ y)
    with pytest.raises(ShapeError, match=r"numpy.tensordot: a, b: have shapes \(2, 2\), \(3, 4\); axes"):
        Executor().run(program, {"a": x[:2], "b": y}, [found])


WHOLE = {
    "i": np.array([[-128, 3, 100], [100, -7, 127]], np.int8),
    "b": np.array([True, False]),
    "m": np.zeros((2, 3, 4)),
}
WHOLE_CALLS = """
np.median(i) | np.median(i, axis=0) | np.nanmedian(i, axis=1) | np.median(b) | np.linalg.norm(i) | np.linalg.norm(i, 1)
np.linalg.norm(i, np.inf) | np.linalg.norm(i[0], 0.5) | np.linalg.norm(i, 'nuc') | np.linalg.vector_norm(i, ord=np.inf)
np.linalg.vector_norm(i, ord=0) | np.linalg.matrix_norm(i) | np.angle(b) | b.conj() | i.conj()
np.rollaxis(m, -1, -2) | np.rollaxis(m, 1, -1) | np.rollaxis(m, 0, 3) | np.rollaxis(m, 2, -3)
np.cumulative_sum(m[0, 0, :0], include_initial=True) | np.cumulative_prod(i, axis=1, include_initial=True)
np.linspace(i[0, 0] / 64.0, 3, 4, dtype=int) | np.linspace(i[0], 5, 3)
"""


def test_results_of_integers_and_their_dtypes_are_those_of_numpy():
    """Medians, norms and angles of integers are computed in float64, places of axes count from the end."""

    def check(text):
        wanted = compute(text, WHOLE)
        found, _ = vjp(lambda given: compute(text, given), WHOLE)
        found = found.get() if hasattr(found, "get") else found
        assert (np.asarray(found).dtype, np.shape(found)) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)

    checked(listed(WHOLE_CALLS), check)


def test_gradient_of_pinv_where_singular_values_are_cut_off_is_that_of_differences():
    random = np.random.default_rng(5)
    for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 5), (3, 1)):
        x, weights = random.normal(size=shape), random.normal(size=(*shape[:-2], shape[-1], shape[-2]))
        for rcond in (1e-15, 0.3, 0.6, 0.9):

            def loss(x, rcond=rcond, weights=weights):
                return (np.linalg.pinv(x, rcond=rcond) * weights).sum()

            differences = np.zeros(shape)
            for place in np.ndindex(shape):
                step = np.zeros(shape)
                step[place] = 1e-6
                differences[place] = (loss(x + step) - loss(x - step)) / 2e-6
            gradient = value_and_grad(loss)(x)[1]
            np.testing.assert_allclose(gradient, differences, atol=1e-4 * max(1, np.abs(gradient).max()))


#: Calls on an array whose first axis has a length that only a run knows, an array that it refuses, and what it says.
LENGTHS = [
    (lambda x: np.gradient(x, axis=0), (1, 2), "gradient: f: has length 1 on axis 0; 2 or more is needed"),
    (lambda x: np.gradient(x, axis=0, edge_order=2), (2, 2), "gradient: f: has length 2 on axis 0; 3 or more"),
    (lambda x: np.gradient(x, [0.0, 1, 3], axis=0), (4, 2), "gradient: f: has length 4 on axis 0; 3 is needed"),
    (lambda x: np.average(x, axis=0, weights=[1.0, 2, 3]), (1, 2), "average: a: has length 1 on axis 0; 3 is needed"),
    (lambda x: np.linalg.matrix_power(x, 1), (1, 2), "matrix_power: a: has length 1 on axis 0; 2 is needed"),
]


@pytest.mark.parametrize(("call", "shape", "said"), LENGTHS)
def test_lengths_that_only_a_run_knows_are_checked_by_the_run(call, shape, said):
    with Program() as program:
        found = call(data("x", (None, 2), "f8"))
    with pytest.raises(ShapeError, match=said):
        Executor().run(program, {"x": np.ones(shape)}, [found])


WRONG_SHAPES = """
np.gradient(w, [0, 1, 3], axis=2): has shape (3,); as many places as axis 2 has entries, 4, are needed
np.vecdot(p, p[:, :1]): have lengths 4 and 1 on axis -1
np.matvec(v, v): a matrix is needed first
np.vecmat(v, v): a matrix is needed last
np.correlate(p, v): vectors are needed
np.linalg.outer(p, p): vectors are needed
np.linalg.multi_dot([w, w]): arrays[0]: has shape (2, 3, 4); a matrix is needed
np.linspace(v, 5, -3): num: is -3; 0 or more is needed
np.rollaxis(w, 1, 4): start: is 4; x has 3 axes
np.gradient(v, 'a'): varargs: has dtype <U1; numbers or durations are needed
"""


def test_shapes_that_numpy_refuses_are_refused():
    def check(line):
        text, said = line.split(": ", 1)
        with pytest.raises((ValueError, TypeError), match=re.escape(said)):
            vjp(lambda given: compute(text, given), GIVEN)

    checked(WRONG_SHAPES.strip().splitlines(), check)


@pytest.mark.parametrize("width", [0, 1, 2])
def test_squeeze_of_an_axis_that_only_a_run_knows_checks_its_length(width):
    with Program() as program:
        found = np.squeeze(data("x", (None, width), "f8"), 0)
    assert Executor().run(program, {"x": np.ones((1, width))}, [found])[0].shape == (width,)
    with pytest.raises(ShapeError, match=r"numpy.squeeze: x: has length 4 on axis 0; 1 is needed"):
        Executor().run(program, {"x": np.ones((4, width))}, [found])


def test_differences_of_no_dates_are_durations():
    for n in (1, 2):
        assert vjp(lambda x, n=n: np.diff(x, n), np.zeros(0, "M8[D]"))[0].dtype == "m8[D]"


@pytest.mark.parametrize("bounds", [(-1, 2), (2, 300), (-1, None), (None, 300), (-5, 300)])
def test_bounds_beyond_the_dtype_clip_as_in_numpy(bounds):
    x = np.array([1, 4, 255], "u1")
    wanted = np.clip(x.astype(int), *bounds)
    nested = LoDTensor.from_lengths(x, [1, 2])
    for found in (vjp(lambda x: np.clip(x, *bounds), x)[0], np.clip(nested, *bounds).values):
        assert found.dtype == np.uint8
        np.testing.assert_array_equal(found, wanted)
    with pytest.raises(DTypeError, match="Python integer 300 out of bounds for uint8"):
        np.clip(nested, 300, 400)


def test_squeeze_without_axes_needs_lengths_that_are_known():
    with (
        Program(),
        pytest.raises(ShapeError, match=r"squeeze: x: has shape \(None, 1\); a length is known only at run time"),
    ):
        np.squeeze(data("x", (None, 1), "f8"))


def test_medians_of_bool_are_those_of_numpy_and_other_quantiles_are_refused():
    given = np.array([[True, False, True], [True, False, False]])
    with Program() as program:
        a = data("a", (None, 3), bool)
        found = [np.median(a), np.median(a, axis=0), np.nanmedian(a, axis=1)]
        with pytest.raises(DTypeError, match=r"numpy.quantile: a: has dtype bool; integers or real numbers are needed"):
            np.quantile(a, 0.5)
    for one, wanted in zip(Executor().run(program, {"a": given}, found), [0.5, [1, 0, 0.5], [1, 0]], strict=True):
        np.testing.assert_array_equal(one, wanted)


def test_full_like_of_a_variable_holds_its_number_and_passes_its_gradient_on():
    x = lodcore.array([[1.0, 2.0], [], [4.0]])
    found, pullback = vjp(lambda x, n: (np.full_like(x, n) * x).sum(), x, np.float64(3))
    d_x, d_n = pullback(1.0)
    assert (float(found), d_x.tolist(), float(d_n)) == (21.0, [[3.0, 3.0], [], [3.0]], 7.0)
    with Program() as program:
        given, number = data("x", (None,), "f8", num_levels=1), data("n", (), "f8")
        filled = np.full_like(given, number, dtype="f4")
        with pytest.raises(DTypeError, match="full_like: fill_value: has dtype float64; int64 cannot hold it"):
            np.full_like(given, number, dtype=int)
        with pytest.raises(ShapeError, match=r"fill_value: is a Variable of shape \(2,\); a number is needed"):
            np.full_like(given, data("m", (2,), "f8"))
    (found,) = Executor().run(program, {"x": x, "n": np.float64(2.5)}, [filled])
    assert (found.dtype, found.tolist()) == (np.float32, [[2.5, 2.5], [], [2.5]])


def test_qr_gives_the_triangular_matrix_alone_or_both():
    x = np.arange(6.0).reshape(3, 2) + np.eye(3, 2)
    with Program() as program:
        given = data("x", (3, 2), "f8")
        alone, both = np.linalg.qr(given, mode="r"), np.linalg.qr(given)
    found = Executor().run(program, {"x": x}, [alone, *both])
    for one, wanted in zip(found, [np.linalg.qr(x, mode="r"), *np.linalg.qr(x)], strict=True):
        np.testing.assert_allclose(one, wanted, rtol=1e-12)


def test_single_precision_stays_and_gradients_are_close():
    slim = {name: x.astype(np.float32) for name, x in GIVEN.items()}

    def check(text):
        wanted = np.asarray(compute(text, slim))
        found, pullback = vjp(lambda given: of_squares(compute(text, given)), slim)
        result, _ = vjp(lambda given: compute(text, given), slim)
        result = result.get() if hasattr(result, "get") else result
        assert np.asarray(result).dtype == wanted.dtype, (np.asarray(result).dtype, wanted.dtype)
        (gradients,) = pullback(np.ones_like(found))
        _, wide = vjp(lambda given: of_squares(compute(text, given)), GIVEN)
        (exact,) = wide(1.0)
        for name, gradient in gradients.items():
            assert gradient.dtype == np.float32
            np.testing.assert_allclose(gradient, exact[name], rtol=0.02, atol=0.02 + 1e-3 * np.abs(exact[name]).max())

    checked([text for text in CALLS if not any(one in text for one in ("linspace", "P", "weights", "array"))], check)


EMPTY = """
e.T | e.reshape(4, -1, 5) | e.reshape(0, 7) | e.ravel() | np.stack([e, e], 1) | np.concatenate([e, e], 1)
np.tile(e, (2, 2)) | np.repeat(e, 3, 1) | np.roll(e, 1) | np.pad(e, 1) | np.flip(e) | np.diagonal(e)
np.trace(e) | np.tril(e) | np.split(e, 2, 1)[0] | np.einsum('ij,kj->ik', e, e) | np.einsum('ij->j', e)
np.tensordot(e, e, ([0], [0])) | np.outer(e, e) | np.kron(e, e) | np.dot(e.T, e) | np.sort(e, axis=0)
np.cumsum(e) | np.cumprod(e, 0) | np.diff(e) | np.sinc(e) | np.linalg.norm(e) | np.linalg.norm(e, axis=1)
np.linalg.det(np.zeros((2, 0, 0)) * e[:0, :0].sum()) | np.linalg.solve(e[:, :0], e) | np.fft.rfft(e).real
np.median(e, axis=1) | np.maximum.accumulate(e) | np.diag(e[:, 0]) | np.take(e, [1, 0], 1)
np.delete(e, 1, 1)
"""


def test_arrays_without_values_compute():
    empty = np.zeros((0, 4))

    def check(text):
        wanted = eval(text, {"np": np, "e": empty})
        found, pullback = vjp(lambda e: eval(text, {"np": np, "e": e}), empty)
        assert np.shape(found) == np.shape(wanted)
        assert pullback(np.ones(np.shape(found)))[0].shape == (0, 4)

    checked(listed(EMPTY), check)


# -- the rules themselves ----------------------------------------------------------------------------------------------


def test_every_rule_is_checked_as_an_operator():
    assert {one.name for one in [*SMOOTH, *OTHERS]} == set(NUMPY_RULES)

    def check(one):
        xs = [random.uniform(0.1, 0.9, given) if isinstance(given, tuple) else given for given in one.shapes]
        check_operator(ops.numpy_call, [(xs, one.name, one.options)])

    for one in SMOOTH:
        check(one)


def test_gradients_of_unordered_products_and_sums_with_zeros_are_those_of_the_definition():
    x = np.array([[0.5, 0.0, 2.0, 3.0], [0.0, 0.0, 1.0, 2.0], [1.0, 2.0, 3.0, 0.0]])
    weights = random.normal(size=x.shape)

    def by_hand(row, weight):
        return [
            sum(weight[i] * np.prod([row[j] for j in range(i + 1) if j != k]) for i in range(k, len(row)))
            for k in range(len(row))
        ]

    _, pullback = vjp(lambda x: np.cumprod(x, axis=1), x)
    np.testing.assert_allclose(pullback(weights)[0], [by_hand(*pair) for pair in zip(x, weights, strict=True)])


def test_the_determinant_of_a_singular_matrix_has_a_gradient():
    singular = np.array([[[1.0, 2.0], [2.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]]])
    _, pullback = vjp(np.linalg.det, singular)
    np.testing.assert_allclose(pullback(np.ones(2))[0], [[[4.0, -2.0], [-2.0, 1.0]], np.zeros((2, 2))], atol=1e-12)


def test_at_kinks_and_ties_gradients_are_finite():
    zero = np.zeros((2, 3))
    for text in (
        "np.linalg.norm(x)",
        "np.linalg.norm(x, axis=1)",
        "np.linalg.eigvalsh(x.T @ x)",
        "np.sort(x)",
        "np.sinc(x)",
    ):
        value, pullback = vjp(lambda x, text=text: eval(text, {"np": np, "x": x}), zero)
        assert np.isfinite(pullback(np.ones(np.shape(value)))[0]).all(), text
    tied = np.array([1.0, 3.0, 3.0, 2.0, 5.0])
    assert vjp(np.maximum.accumulate, tied)[1](np.ones(5))[0].tolist() == [1, 3, 0, 0, 1]


# -- in bodies of loops ------------------------------------------------------------------------------------------------


def looped(step, x, steps=2):
    loop = while_loop()
    with loop.loop():
        state = loop.loop_var(x)
        loop.break_if(loop.step() >= steps)
        state.update(step(state))
    return state


def test_bodies_reshape_rows_and_sum_over_labels():
    n, heads, width = 3, 2, 4
    weight = random.normal(size=(heads, width, width)) / 2

    def by_number(x, weight):
        split = x.reshape(n, heads, -1)
        return np.tanh(np.einsum("nhi,hij->nhj", split, weight)).reshape(n, heads * width)

    def by_shape(x, weight):
        split = x.reshape(x.shape[0], heads, -1)
        return np.tanh(np.einsum("nhi,hij->nhj", split, weight)).reshape(None, -1)

    def by_axes(x, weight):
        split = np.swapaxes(x.reshape(-1, heads, width), 0, 1)
        return np.transpose(np.tanh(split @ weight), (1, 0, 2)).reshape(-1, heads * width)

    x = random.normal(size=(n, heads * width))
    wanted, back = vjp(lambda x, w: by_number(by_number(x, w), w), x, weight)
    d = random.normal(size=x.shape)
    for step in (by_number, by_shape, by_axes):
        found, pullback = vjp(lambda x, w, step=step: looped(lambda s: step(s, w), x), x, weight)
        np.testing.assert_allclose(found, wanted)
        for one, other in zip(pullback(d), back(d), strict=True):
            np.testing.assert_allclose(one, other)


@for_each("order", ["C", "F"])
@for_each(
    ("shape", "sizes"), [((3, 4), (2, 2)), ((3, 4), (1, -1)), ((3, 2, 3), (-1,)), ((3, 2, 6), (3, 2, 2)), ((3,), ())]
)
def test_rows_whose_number_is_not_known_are_reshaped_in_both_orders(order, shape, sizes):
    """Each keeps its place: in the order of columns, only the axes of a row are read from the last one."""
    x = np.arange(float(np.prod(shape))).reshape(shape)
    with Program() as program:
        y = np.reshape(data("x", (None, *shape[1:]), "float64"), (None, *sizes), order=order)
    wanted = np.array([row.reshape(sizes, order=order) for row in x])
    np.testing.assert_array_equal(Executor().run(program, {"x": x}, [y])[0], wanted)


@for_each("order", ["C", "F"])
@for_each("sizes", [(6, None), (None, None), (None, 3, None)])
def test_none_in_a_shape_stands_for_the_length_of_the_first_axis_alone(order, sizes):
    with Program():
        x = data("x", (None, 6), "float64")
        with pytest.raises(lodcore.ShapeError, match=re.escape(f"numpy.reshape: shape: is {sizes}; None is valid for")):
            np.reshape(x, sizes, order=order)


def test_a_body_takes_linear_algebra_of_the_weights_around_it():
    x, weight = random.normal(size=(3, 4)), GIVEN["q"] @ GIVEN["p"] + 4 * np.eye(4)

    def step(x, weight):
        return np.linalg.solve(weight, x.T).T + np.pad(x[:, :2], ((0, 0), (1, 1))) @ np.linalg.inv(weight)

    wanted, back = vjp(lambda x, w: step(step(x, w), w), x, weight)
    found, pullback = vjp(lambda x, w: looped(lambda s: step(s, w), x), x, weight)
    np.testing.assert_allclose(found, wanted)
    for one, other in zip(pullback(found), back(found), strict=True):
        np.testing.assert_allclose(one, other)


# -- words -------------------------------------------------------------------------------------------------------------

REFUSED = """
np.unique(p) | np.insert(p, 1, 5.0) | np.interp(v, [0.0, 1], [1.0, 2]) | np.logaddexp.reduce(p)
np.histogram(p) | np.unwrap(v) | np.sum(p, out=P) | np.stack([p], out=P) | np.concatenate([p], out=P)
np.add(p, 1, where=P > 0) | np.apply_along_axis(np.sum, 0, p) | p.reshape(5, 5) | p.reshape(-1, -1)
p.reshape('a') | p.transpose(0) | p.swapaxes(0, 5) | np.squeeze(p, 0) | np.stack([p, v]) | np.einsum('ij', v)
np.einsum('ij,jk', p, p) | np.einsum('i?', p) | np.tensordot(p, p, 1) | np.dot(p, p) | np.linalg.inv(p)
np.linalg.solve(s, v) | np.linalg.cholesky(v) | np.linalg.norm(p, 'x') | np.fft.rfft(p + 1j)
np.fft.fft(p, 0) | np.pad(p, -1) | np.pad(p, 1, mode='mean') | np.tile(p, -1) | np.repeat(p, [1, 2], 0)
np.split(p, 3, 1) | np.take(p, 0.5) | np.quantile(p, 2) | np.diag(w) | np.trace(v) | np.roll(p, 0.5)
np.broadcast_to(p, 3) | np.gradient(v[:1]) | np.cross(p, p) | np.partition(p, 9)
np.diagonal(p, 0, 1, 1) | np.diagonal(w, 0, 0, -3) | np.trace(p, 0, 1, -1) | p.diagonal(0, 1, 1)
"""


def test_errors_of_dense_variables_do_not_mention_sequences():
    def check(text):
        with pytest.raises((TypeError, ValueError, IndexError, np.linalg.LinAlgError)) as caught:
            vjp(lambda given: compute(text, given), {name: x.copy() for name, x in GIVEN.items()})
        assert not any(word in str(caught.value) for word in ("sequence", "level", "to_padded", "NoneType")), (
            caught.value
        )
        name = text.partition("(")[0].rpartition(".")[2]
        if text.startswith("np."):
            assert name in str(caught.value), (name, str(caught.value))

    checked(listed(REFUSED), check)


def test_wrong_calls_raise_the_same_in_a_program():
    def check(text):
        errors = []
        for run in (lambda: vjp(lambda given: compute(text, given), dict(GIVEN)), lambda: in_program(text, True)):
            with pytest.raises((TypeError, ValueError, IndexError)) as caught:
                run()
            errors.append(f"{type(caught.value).__name__}: {caught.value}")
        assert errors[0] == errors[1], errors

    checked([one for one in listed(REFUSED) if "unique" not in one], check)


@for_each(
    ("given", "shape"),
    [
        ((3, 4), (3,)),
        ((3, 4), (4,)),
        ((3, 4), (3, 5)),
        ((3, 4), (4, 4)),
        ((3, 4), (2, 3, 1)),
        ((None, 4), (2, None, 5)),
    ],
)
def test_a_shape_to_which_a_variable_does_not_broadcast_is_refused_when_it_is_recorded(given, shape):
    text = f"numpy.broadcast_to: shape: is {shape}; x has shape {given}, which does not broadcast to it"
    with Program(), pytest.raises(ShapeError, match=re.escape(text)):
        np.broadcast_to(data("x", given, "float64"), shape)


def test_a_length_to_which_a_variable_does_not_broadcast_is_refused_when_it_is_known():
    with Program() as program:
        y = np.broadcast_to(data("x", (None, 4), "float64"), (3, 4))
    for count in (1, 3):
        x = np.arange(4.0 * count).reshape(count, 4)
        np.testing.assert_array_equal(Executor().run(program, {"x": x}, [y])[0], np.broadcast_to(x, (3, 4)))
    with pytest.raises(ShapeError, match=re.escape("shape: is (3, 4); x has shape (2, 4), which does not broadcast")):
        Executor().run(program, {"x": np.zeros((2, 4))}, [y])


def test_sequences_keep_their_own_rules():
    x = lodcore.array([[1.0, 2.0], [], [3.0]])
    _, pullback = vjp(lambda x: np.cumsum(x, axis=1), x)
    assert isinstance(pullback(x)[0], LoDTensor)
    with pytest.raises(TypeError, match=r"is not supported for sequences; use lodcore\.sequence_matmul"):
        vjp(lambda x: np.einsum("ij->j", x), x)
    with pytest.raises(AttributeError, match="has levels; ravel is a method of dense arrays"):
        vjp(lambda x: x.ravel(), x)


def test_functions_without_gradients_compute_on_values_under_vjp():
    def f(p):
        assert [np.allclose(p, p), np.array_equal(p, p), np.isclose(p, P).all()] == [True] * 3
        assert [np.linalg.matrix_rank(p), np.size(p), np.size(p, 1)] == [3, 12, 4]
        assert np.flatnonzero(p > 0).get().tolist() == np.flatnonzero(P > 0).tolist()
        assert np.searchsorted([0.0], p[0]).shape == (4,)
        return np.sum(p)

    assert value_and_grad(f)(P.copy())[1].tolist() == np.ones((3, 4)).tolist()
    with Program(), pytest.raises(GraphError, match=r"numpy\.allclose: needs values"):
        np.allclose(data("p", (3, 4)), 0)


COMPLEX = """
np.abs(z) | np.real(z * z) | np.imag(z ** 3) | np.angle(z) | np.abs(np.conj(z) + 2j) | abs(np.exp(z))
np.abs(z / (z + 1)) | np.real(np.fft.irfft(z))
np.abs(np.fft.ifft(z, 5)) | np.real(np.sqrt(z)) | np.linalg.norm(z) | np.abs(np.outer(z, z))
"""


def test_complex_gradients_are_those_of_torch():
    """The derivative by the real part plus i times that by the imaginary part."""
    z = random.normal(size=3) + 1j * random.normal(size=3)
    for text in listed(COMPLEX):

        def loss(z, text=text):
            return np.sum(eval(text, {"np": np, "z": z}) ** 2)

        _, gradient = value_and_grad(loss)(z)
        step = 1e-6
        by_parts = [[(loss(z + w * e) - loss(z - w * e)) / (2 * step) for e in step * np.eye(3)] for w in (1, 1j)]
        np.testing.assert_allclose(gradient, np.array(by_parts[0]) + 1j * np.array(by_parts[1]), rtol=1e-6, atol=1e-6)


def test_real_if_close_keeps_imaginary_parts_that_are_not_small():
    for imaginary in (1e-17, 1.0):
        z = GIVEN["v"] + imaginary * 1j
        found, back = lodcore.vjp(np.real_if_close, z)
        wanted = np.real_if_close(z)
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(back(np.ones_like(wanted))[0], np.ones(4, complex))


@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_medians_beside_infinity_are_those_of_numpy(name):
    function = getattr(np, name)
    for values in ([-1.5, 1.0, np.inf], [-np.inf, -1.0, 1.0, np.inf], [np.inf], [1.0, np.inf], [-np.inf, 0.0, np.inf]):
        x = np.array(values)
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(lodcore.vjp(function, x)[0], function(x))
            rows = np.stack([x, x[::-1]])
            found, pullback = lodcore.vjp(lambda x: function(x, axis=1, keepdims=True), rows)
            np.testing.assert_array_equal(found, function(rows, axis=1, keepdims=True))
        np.testing.assert_array_equal(pullback(np.ones((2, 1)))[0].sum(1), [1, 1])


@pytest.mark.parametrize("ends", [{"prepend": 1.0, "append": 7.0}, {"prepend": np.array(2.0)}, {"append": 0, "n": 2}])
@pytest.mark.parametrize(
    "values", [[], [np.inf, 1.0, 2.0], [np.nan], [[1.0, 2.0]], np.ones((2, 0)), np.ones((0, 2)), [3]]
)
def test_differences_with_numbers_at_the_ends_are_those_of_numpy(values, ends):
    x = np.asarray(values)
    with lodcore.Program() as program:
        found = np.diff(lodcore.data("x", (None,) * x.ndim, x.dtype), **ends)
    with np.errstate(all="ignore"):
        made, wanted = lodcore.Executor().run(program, {"x": x}, [found])[0], np.diff(x, **ends)
    np.testing.assert_array_equal(made, wanted)
    assert made.dtype == wanted.dtype


@pytest.mark.parametrize("order", [None, 0.5, 1, 1.5, 2, 3, 4, np.inf, -1, -2.5])
def test_the_gradient_of_a_norm_of_zeros_is_zero(order):
    x = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 2.0]])
    with np.errstate(all="ignore"):
        value, gradient = lodcore.value_and_grad(lambda x: np.linalg.norm(x, order, axis=1).sum())(x)
        np.testing.assert_allclose(value, np.linalg.norm(x, order, axis=1).sum())
    assert not gradient[1].any()
    np.testing.assert_allclose(gradient[2], [0, 1 if order is None or order > 0 else 0], atol=1e-12)
    _, inner = lodcore.value_and_grad(lambda x: np.linalg.norm(x, order))(x[0])
    np.testing.assert_allclose(gradient[0], inner)
    for special in ([np.nan, 1.0], [np.inf, 1.0]):
        np.testing.assert_array_equal(
            lodcore.vjp(lambda x: np.linalg.norm(x, order), np.array(special))[0], np.linalg.norm(special, order)
        )


@pytest.mark.parametrize("dtype", ["i8", "u1", "f4", "f8"])
@pytest.mark.parametrize("places", [[0, 1, 2, 3], [250, 0, 2, 7], [1.0, 2.0, 4.0, 5.0], np.array([9, 5, 3, 1], "u1")])
def test_slopes_at_given_places_are_those_of_numpy(dtype, places):
    x = np.array([1, 4, 2, 8], dtype)
    places = np.asarray(places, "u1" if np.asarray(places).dtype.kind == "i" else None)
    with lodcore.Program() as program:
        found = np.gradient(lodcore.data("x", (None,), dtype), places)
    made, wanted = lodcore.Executor().run(program, {"x": x}, [found])[0], np.gradient(x, places)
    np.testing.assert_allclose(made, wanted, rtol=1e-6)
    assert made.dtype == wanted.dtype
    with_nan = np.array([1.0, np.nan, 3.0, 4.0])
    found = lodcore.vjp(lambda x: np.gradient(x, places), with_nan)[0]
    np.testing.assert_allclose(found, np.gradient(with_nan, places))


def test_ends_that_differences_cannot_hold_are_refused():
    def of_ends(**ends):
        with lodcore.Program():
            np.ediff1d(lodcore.data("x", (None,), "int64"), **ends)

    of_ends(to_begin=np.int8(1), to_end=[2, 3])
    for name in ("to_begin", "to_end"):
        with pytest.raises(TypeError, match=f"^numpy.ediff1d: {name}: has dtype float64; int64 cannot hold it"):
            of_ends(**{name: 1.5})


def test_complex_numbers_with_nan_are_left_out():
    z = np.array([[complex(np.nan, 1), 2 + 1j, complex(3, np.nan)], [1j, 2.0, 1.0]])
    rows = lodcore.LoDTensor.from_lengths(z, [2])
    for name in ("nanmax", "nanmin", "nancumsum", "nancumprod"):
        function = getattr(np, name)
        np.testing.assert_array_equal(lodcore.vjp(lambda x, f=function: f(x, axis=1), z)[0], function(z, axis=1))
    for name in ("nanmax", "nanmin", "nanargmax", "nanargmin"):
        function = getattr(np, name)
        np.testing.assert_array_equal(function(rows, axis=2).values, function(z, axis=1))
        assert function(rows) == function(z)
    alone = lodcore.LoDTensor.from_lengths(np.full((1, 2), complex(np.nan, 0)), [1])
    assert np.isnan(np.nanmax(alone, axis=2).values).all()
    with pytest.raises(ValueError, match=r"nanargmax: x: holds only nan"):
        np.nanargmax(alone, axis=2)


def test_arguments_of_recorded_calls_that_numpy_takes_or_names():
    x = np.arange(6.0).reshape(2, 3)
    assert lodcore.vjp(lambda x: np.take(x, [], mode="clip"), x)[0].shape == (0,)
    assert lodcore.vjp(lambda x: np.partition(x, 0), np.zeros(0))[0].shape == (0,)
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning):
        assert np.isnan(lodcore.vjp(lambda x: np.median(x, axis=1), np.zeros((2, 0)))[0]).all()
    with pytest.raises(lodcore.ShapeError, match=r"numpy.transpose: axes: is 5; x has 2 axes"):
        lodcore.vjp(lambda x: np.transpose(x, 5), x)
    with pytest.raises(lodcore.DTypeError, match=r"numpy.quantile: q: is a Variable; numbers are needed"):
        lodcore.vjp(np.quantile, x, np.array(0.5))


@pytest.mark.parametrize("order", [None, 1, -1, 2, -2, np.inf, -np.inf, "fro"])
def test_condition_numbers_of_several_matrices_are_those_of_numpy(order):
    matrices = np.random.default_rng(0).normal(size=(2, 3, 3))
    found = lodcore.vjp(lambda x: np.linalg.cond(x, order), matrices)[0]
    np.testing.assert_allclose(found, np.linalg.cond(matrices, order))


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("order", [None, 2, -2])
def test_condition_number_of_zeros_is_infinite(order):
    assert lodcore.vjp(lambda x: np.linalg.cond(x, order), np.zeros((2, 2)))[0] == np.inf


def test_einsum_that_multiplies_some_operands_first_has_all_digits_of_the_widest():
    random = np.random.default_rng(0)
    narrow, wide = random.standard_normal((2, 3, 3)).astype("f4"), random.standard_normal((3, 3))
    found, pull = lodcore.vjp(lambda *xs: np.einsum("ij,jk,kl->il", *xs, optimize=True), *narrow, wide)
    np.testing.assert_allclose(found, narrow[0].astype("f8") @ narrow[1].astype("f8") @ wide, rtol=1e-13)
    gradients = pull(np.ones((3, 3)))
    assert [one.dtype.name for one in gradients] == ["float32", "float32", "float64"]
    wanted = (narrow[0].astype("f8") @ narrow[1].astype("f8")).T @ np.ones((3, 3))
    np.testing.assert_allclose(gradients[2], wanted, rtol=1e-13)
