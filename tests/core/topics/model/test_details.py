"""Tying, scaling, dropout and label smoothing, against torch."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from core.lab import subject, text
from core.topics.model import details

TEXT = text.of(text.read(text.SENTENCE))
IDS = TEXT.ids


def test_a_logit_is_the_stream_times_the_words_own_row(theirs):
    found = details.tied(TEXT)
    with torch.no_grad():
        out = theirs.model(torch.tensor([IDS])).last_hidden_state[0, -1]
        row = theirs.get_input_embeddings().weight[found.word.id]
    assert found.product == pytest.approx(float((out @ row).detach()), rel=1e-4)
    assert found.logit == pytest.approx(found.product, rel=1e-5)
    assert found.whole == sum({id(p): p.numel() for p in theirs.parameters()}.values())
    assert found.table == 32_000 * 288
    assert (found.other_table, found.other_whole) == (622_329_856, 8_190_735_360)


def test_lengths_follow_the_square_root():
    found, widths = details.lengths(1), np.array(details.WIDTHS)
    np.testing.assert_allclose(found.scaled / found.bare, np.sqrt(widths), rtol=1e-4)
    np.testing.assert_allclose(found.position, np.sqrt(widths / 2), rtol=1e-4)
    np.testing.assert_allclose(found.bare, 1, atol=0.05)


def test_dropout_is_torchs():
    x, chance = torch.randn(200, 50), torch.Generator().manual_seed(3)
    kept = torch.rand(x.shape, generator=chance) >= 0.3
    ours = details.inverted(x, kept, 0.3)
    torch.testing.assert_close(ours[kept], F.dropout(torch.ones(1000), 0.3).max() * x[kept])
    assert (ours[~kept] == 0).all()
    found = details.dropped(TEXT)
    assert found.p.shape == (details.DRAWS, len(details.RATES))
    assert found.p[:, 0] == pytest.approx(0.986, abs=1e-3)
    assert found.p[:, 8].mean() < found.p[:, 2].mean() < found.p[0, 0]


def test_a_mixture_drops_what_a_block_adds_once(pair, monkeypatch):
    """Its experts write before the block does; what they write is not dropped a second time."""
    read, times = text.exactly("then the dog saw a cat", str(pair("mixtral").folder)), []
    monkeypatch.setattr(details, "inverted", lambda x, kept, rate: times.append(rate) or x)
    details.dropped(read)
    assert [times.count(rate) for rate in details.RATES] == [2 * pair("mixtral").ours.config.n_layers] * len(
        details.RATES
    )


def test_dropout_left_on_is_the_model_with_zeros_in_it():
    """One draw at one rate, the blocks written out."""
    rate, model = details.RATES[4], subject.model()
    chance = torch.Generator().manual_seed(0)
    row = torch.tensor(IDS).expand(details.DRAWS, -1)
    x = model.embed(row)
    turn, allowed = model.surroundings(len(IDS))
    for block in model.blocks:
        for part, norm, rest in ((block.attn, block.norm1, (turn, allowed)), (block.ffn, block.norm2, ())):
            out = part(norm(x), *rest)
            x = x + torch.where(torch.rand(out.shape, generator=chance) >= rate, out / (1 - rate), 0)
    found = details.dropped(TEXT)
    np.testing.assert_allclose(found.p[:, 4], model.predict(x).softmax(-1)[:, found.answer.id], atol=1e-4)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.37])
def test_label_smoothing_is_torchs(epsilon):
    logits, right = torch.randn(20, 300) * 3, torch.randint(0, 300, (20,))
    expected = F.cross_entropy(logits, right, label_smoothing=epsilon)
    torch.testing.assert_close(details.smoothed_loss(logits, right, epsilon), expected)


@pytest.mark.parametrize("stop", [0, 10, 50])
def test_the_smoothed_curve_and_its_least_point(stop):
    found, epsilon = details.smoothed(TEXT), details.EPSILONS[stop]
    for i in (3, 40, 60):
        rest = (1 - details.CHANCES[i]) / (found.vocab - 1)
        logits = torch.full((1, found.vocab), np.log(rest), dtype=torch.float64)
        logits[0, 7] = np.log(details.CHANCES[i])
        expected = F.cross_entropy(logits, torch.tensor([7]), label_smoothing=epsilon)
        assert found.loss[stop, i] == pytest.approx(float(expected), rel=1e-6)
    assert found.loss[stop].min() >= found.least[stop] - 1e-9
    assert abs(details.CHANCES[found.loss[stop].argmin()] - min(found.best[stop], details.CHANCES[-1])) < 0.02
    row = torch.tensor(IDS)
    logits = subject.model()(row[:-1])
    assert found.here[stop] == pytest.approx(float(F.cross_entropy(logits, row[1:], label_smoothing=epsilon)), rel=1e-5)


def test_one_token_has_no_loss():
    assert (details.smoothed(text.Text(text.FIRST, IDS[:1], TEXT.tokens[:1])).here == 0).all()


@pytest.mark.parametrize(("epsilon", "vocab"), [(0.1, 5), (0.4, 3), (0.0, 7)])
def test_the_least_loss_is_the_entropy_of_the_smoothed_target(epsilon, vocab):
    """Written out for a vocabulary so small that one word more or less shows."""
    every = [1 - epsilon + epsilon / vocab] + [epsilon / vocab] * (vocab - 1)
    by_hand = -sum(p * np.log(p) for p in every if p)
    assert details._entropy(*details.target(epsilon, vocab), vocab) == pytest.approx(by_hand, abs=1e-12)


def test_sixty_four_words_are_drawn_at_every_width():
    chance, found = torch.Generator().manual_seed(0), details.lengths()
    for at, width in enumerate(details.WIDTHS[:5]):
        rows = torch.randn(64, width, generator=chance).numpy() / np.sqrt(width)
        assert found.bare[at] == pytest.approx(np.linalg.norm(rows, axis=1).mean(), rel=1e-5)
    few = details.lengths(3, 5)
    rows = torch.randn(5, details.WIDTHS[0], generator=torch.Generator().manual_seed(3)).numpy()
    assert few.scaled[0] == pytest.approx(np.linalg.norm(rows, axis=1).mean(), rel=1e-5)


@pytest.mark.long
def test_of_a_long_text_the_last_sixty_four_tokens_are_read():
    long = text.exactly("One day the dog ran to the park with a ball. " * 8)
    last = text.Text(long.subject, long.ids[-64:], long.tokens[-64:])
    np.testing.assert_array_equal(details.dropped(long).p, details.dropped(last).p)
    assert details.dropped(long).answer.id == int(subject.untouched(last)["next_probs"].value.argmax())
    assert not np.array_equal(details.dropped(TEXT, 1).p, details.dropped(TEXT).p)


def test_smoothing_on_the_visitor_s_own_words():
    found = details.smoothed(TEXT)
    assert found.loss.shape == (51, 75)
    assert (found.vocab, found.here.shape) == (32_000, (51,))
    logs = subject.model()(torch.tensor(IDS))[:-1].detach().double().log_softmax(-1).numpy()
    right = -logs[range(13), list(IDS[1:])].mean()
    for at in (0, 20):
        e = details.EPSILONS[at]
        assert found.here[at] == pytest.approx((1 - e) * right - e * logs.mean(), rel=1e-4)
    np.testing.assert_allclose(found.best, [1 - e + e / 32_000 for e in details.EPSILONS])


def test_a_model_of_two_tables_is_refused(pair):
    with pytest.raises(text.Cannot, match="does not tie"):
        details.tied(text.exactly("the dog", str(pair("llama").folder)))
