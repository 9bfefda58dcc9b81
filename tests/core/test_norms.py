"""LayerNorm and RMSNorm against torch's own, in odd cases too."""

import numpy as np
import pytest
import torch
from torch import nn

from core import norms
from core.norms import LayerNorm, RMSNorm
from core.trace import Trace

OURS, THEIRS = {"layer": LayerNorm, "rms": RMSNorm}, {"layer": nn.LayerNorm, "rms": nn.RMSNorm}
ROWS = {
    "ordinary": torch.randn(5, 12, generator=torch.Generator().manual_seed(0)) * 3 + 1,
    "constant": torch.full((2, 12), 7.0),
    "zero": torch.zeros(2, 12),
    "tiny": torch.randn(3, 12, generator=torch.Generator().manual_seed(1)) * 1e-7,
    "large": torch.randn(3, 12, generator=torch.Generator().manual_seed(2)) * 1e15,
}


def both(kind, eps, dtype=torch.float32):
    """Our norm and torch's, with the same weights, none of them 1 or 0."""
    ours, theirs = OURS[kind](12, eps), THEIRS[kind](12, eps)
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for name, parameter in ours.named_parameters():
            parameter.copy_(torch.randn(12, generator=generator))
            getattr(theirs, name).copy_(parameter)
    return ours.to(dtype), theirs.to(dtype)


@pytest.mark.parametrize("kind", OURS)
@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("eps", [1e-5, 1e-6, 0.5])
def test_they_are_torchs(kind, row, eps):
    ours, theirs = both(kind, eps)
    with torch.inference_mode():
        made = ours(ROWS[row])
        torch.testing.assert_close(made, theirs(ROWS[row]), rtol=2e-5, atol=1e-5)
        assert made.isfinite().all()


@pytest.mark.parametrize("kind", OURS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_with_numbers_whose_square_it_cannot_hold(kind, dtype):
    """300 squared is more than float16 holds: computed there, the norm would be infinite and the result all zeros."""
    ours, theirs = both(kind, 1e-5, dtype)
    x = (ROWS["ordinary"] * 300).to(dtype)
    with torch.inference_mode():
        made, said = ours(x), theirs(x)
        assert made.dtype == said.dtype == dtype
        torch.testing.assert_close(made.float(), said.float(), rtol=0.02, atol=0.02)
        assert float(made.float().abs().max()) > 0.5


@pytest.mark.parametrize("kind", OURS)
@pytest.mark.parametrize("eps", [1e-5, 0.5])
def test_every_step_is_recorded_and_recording_changes_nothing(kind, eps):
    ours, _theirs = both(kind, eps)
    x, trace = ROWS["ordinary"], Trace()
    with torch.inference_mode():
        assert torch.equal(ours(x, trace=trace), ours(x))
    rows = x.double().numpy()
    got = {step.name: step.value.astype(np.float64) for step in trace}
    if kind == "layer":
        assert list(got) == ["mean", "centred", "variance", "standard", "gained", "shifted_by"]
        np.testing.assert_allclose(got["mean"][:, 0], [sum(r) / 12 for r in rows], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(got["variance"][:, 0], np.var(rows, axis=1, ddof=0), rtol=1e-5)
        np.testing.assert_allclose(got["standard"].mean(1), 0, atol=1e-6)
    else:
        assert list(got) == ["mean_square", "unit", "gained"]
        np.testing.assert_allclose(got["mean_square"][:, 0], (rows**2).mean(1), rtol=1e-5)
        np.testing.assert_allclose((got["unit"] ** 2).mean(1), (rows**2).mean(1) / ((rows**2).mean(1) + eps), rtol=1e-4)


def test_eps_inside_and_outside_the_root():
    """The numbers of F-29, from the formula alone: a vector of spread 1.118, a thousand and a million times smaller."""
    x = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64)
    for scale, within, without in ((1e-3, 1.000, 1.340), (1e-6, 0.0015, 0.708)):
        c = norms.centred(x * scale)
        spread = norms.size(c)
        assert float((c / norms.inside(spread, 1e-6))[-1]) == pytest.approx(within, abs=6e-4)
        assert float((c / norms.outside(spread, 1e-6))[-1]) == pytest.approx(without, abs=6e-4)


def test_which_axis_is_pooled_and_what_it_is_divided_by():
    x = torch.randn(3, 4, 6, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    for axis in (-1, 1, (0, 1)):
        c = norms.centred(x, axis)
        np.testing.assert_allclose(c.numpy(), x.numpy() - x.numpy().mean(axis, keepdims=True))
        for unbiased in (False, True):
            want = np.std(x.numpy(), axis=axis, ddof=int(unbiased), keepdims=True)
            np.testing.assert_allclose(norms.size(c, axis, unbiased=unbiased).numpy(), want)
    row = norms.centred(x) / norms.inside(norms.size(norms.centred(x)), 1e-5)
    torch.testing.assert_close(row, torch.nn.functional.layer_norm(x, (6,), eps=1e-5))


def test_a_wrong_width_is_refused():
    for kind in OURS.values():
        with pytest.raises(ValueError, match="width 12"):
            kind(12, 1e-5)(torch.zeros(2, 11))
