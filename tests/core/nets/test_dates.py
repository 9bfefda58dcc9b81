"""The encoder-decoder for dates: against torch's own Transformer layers, datetime, and itself one step at a time."""

import datetime

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from core.nets import dates as ed
from core.nets import dates_task

TEXTS = ("March 5, 2021", "21st nov 1989", "December 31st, 1066")


def fill(attention, q, k, v, o):
    attention.in_proj_weight.data = torch.cat([q.weight, k.weight, v.weight])
    attention.in_proj_bias.data.zero_()
    attention.out_proj.weight.data = o.weight
    attention.out_proj.bias.data.zero_()


def dress(layer, block, norms):
    """torch's layer with core's weights."""
    fill(layer.self_attn, block.attn.q, block.attn.k, block.attn.v, block.attn.o)
    if hasattr(block, "cross"):
        fill(layer.multihead_attn, block.cross.q, block.cross.k, block.cross.v, block.cross.o)
    for theirs, ours in ((layer.linear1, block.ffn.up), (layer.linear2, block.ffn.down)):
        theirs.load_state_dict({n: torch.zeros_like(p) for n, p in theirs.state_dict().items()} | ours.state_dict())
    for theirs, ours in norms:
        theirs.load_state_dict(ours.state_dict())
    return layer.eval()


def theirs():
    """(encoder, decoder): lists of torch's layers."""
    options = dict(dropout=0.0, activation=lambda x: F.gelu(x, approximate="tanh"), batch_first=True, norm_first=True)
    sizes, model = (ed.CONFIG.d_model, ed.CONFIG.n_heads, ed.CONFIG.d_ff), ed.model()
    encoder, decoder = [], []
    for block in model.encoder:
        layer = nn.TransformerEncoderLayer(*sizes, **options)
        encoder.append(dress(layer, block, [(layer.norm1, block.norm1), (layer.norm2, block.norm2)]))
    for block in model.decoder:
        layer = nn.TransformerDecoderLayer(*sizes, **options)
        norms = [(getattr(layer, f"norm{i}"), getattr(block, f"norm{i}")) for i in (1, 2, 3)]
        decoder.append(dress(layer, block, norms))
    return encoder, decoder


@torch.no_grad()
def test_a_padded_batch_equals_torchs_transformer_layers():
    pairs = [(text, dates_task.digits(text)) for text in TEXTS]
    sources, real, targets = ed.batch(pairs)
    fed = torch.cat([torch.full((len(pairs), 1), dates_task.VOCAB.index(dates_task.START)), targets[:, :-1]], 1)
    model, (encoder, decoder) = ed.model(), theirs()
    pads = sources == dates_task.VOCAB.index(dates_task.PAD)
    x = model.embed(sources) + model.source_place.weight[: sources.shape[1]]
    for layer in encoder:
        x = layer(x, src_key_padding_mask=pads)
    memory = model.norm_memory(x)
    ours = model.encode(sources, real)
    np.testing.assert_allclose(ours[~pads], memory[~pads], atol=1e-4)
    y = model.embed(fed) + model.target_place.weight
    causal = nn.Transformer.generate_square_subsequent_mask(dates_task.LENGTH)
    for layer in decoder:
        y = layer(y, memory, tgt_mask=causal, memory_key_padding_mask=pads)
    logits = model.norm(y) @ model.embed.weight.T
    np.testing.assert_allclose(model.decode(fed, ours, real), logits, atol=1e-3)


@pytest.mark.parametrize("block", [0, 1])
@pytest.mark.parametrize("head", [0, 1])
@torch.no_grad()
def test_every_row_is_what_it_was_when_its_sign_was_written(block, head):
    demo = ed.Demo("21st Nov 1989")
    found, model = ed.unfold(demo, block, head), ed.model()
    source = torch.tensor(dates_task.ids(demo.text))
    memory, written = model.encode(source), [dates_task.VOCAB.index(dates_task.START)]
    for step in range(dates_task.LENGTH):
        trace = ed.Trace()
        logits = model.decode(torch.tensor(written), memory, trace=trace)
        cross = trace[f"dec{block}.cross.weights"].value[head, step]
        own = trace[f"dec{block}.self.weights"].value[head, step]
        np.testing.assert_allclose(found.cross[step, step], cross, atol=1e-5)
        np.testing.assert_allclose(found.decoder[step, step, : step + 1], own, atol=1e-5)
        probs = logits[-1].softmax(-1)
        np.testing.assert_allclose(found.probs[step], probs[[dates_task.VOCAB.index(s) for s in ed.TARGETS]], atol=1e-5)
        written.append(int(probs.argmax()))
        assert dates_task.VOCAB[written[-1]] == found.written[step]
    assert found.strongest == tuple(found.cross[-1].argmax(-1))


def test_what_is_not_written_yet_is_shut():
    found = ed.unfold(ed.Demo("March 5, 2021"), 0, 0)
    for step in range(dates_task.LENGTH):
        assert not found.cross_shut[step, : step + 1].any()
        assert found.cross_shut[step, step + 1 :].all()
        assert found.decoder_shut[step].sum() == 121 - (step + 1) * (step + 2) // 2
        assert (found.cross[step][found.cross_shut[step]] == 0).all()
        assert (found.decoder[step][found.decoder_shut[step]] == 0).all()
    assert found.encoder.shape == (13, 13)
    np.testing.assert_allclose(found.encoder.sum(-1), 1, atol=1e-5)


def test_the_alignment_can_be_read():
    found = ed.unfold(ed.Demo("March 5, 2021"), 0, 0)
    assert [found.source[i] for i in found.strongest[:4]] == list("2021")
    assert found.strongest[:4] == (9, 10, 11, 12)


def test_a_day_is_counted_as_english_counts():
    firsts = {1: "1st", 21: "21st", 31: "31st", 2: "2nd", 22: "22nd", 3: "3rd", 23: "23rd"}
    for day in range(1, 32):
        assert dates_task.ordinal(day) == firsts.get(day, f"{day}th")


def test_unseen_days_are_written_right():
    assert ed.accuracy(ed.model(), 200) > 0.99
    for text in TEXTS:
        assert ed.answer(ed.run(ed.Demo(text))) == dates_task.digits(text)


def test_the_rule_agrees_with_datetime():
    chance = np.random.default_rng(0)
    for ordinal in chance.integers(datetime.date(1000, 1, 1).toordinal(), datetime.date(2999, 12, 31).toordinal(), 300):
        day = datetime.date.fromordinal(int(ordinal))
        written = dates_task.forms(day.year, day.month, day.day)
        assert len(written) == 8
        assert {dates_task.digits(text) for text in written} == {day.isoformat()}
        assert max(map(len, written)) <= dates_task.LONGEST
        assert day.strftime("%B") in written[0]
    for text in ("31 April 2020", "29 February 2023", "Foo 3, 2020", "5 March 0999", "", "2021-03-05"):
        assert dates_task.digits(text) is None


def test_held_out_days_are_never_shown():
    seen, unseen = dates_task.examples(0), dates_task.examples(0, unseen=True)
    shown = {next(seen)[1] for _ in range(3000)}
    kept = {next(unseen)[1] for _ in range(300)}
    assert not shown & kept


@pytest.mark.parametrize(
    ("typed", "text", "notes"),
    [
        ("  March   5, 2021 ", "March 5, 2021", ()),
        ("", dates_task.TEXT, ("empty",)),
        ("🙂二〇", dates_task.TEXT, ("unknown", "empty")),
        ("<b>5 May 2020</b>", "b5 May 2020b", ("unknown",)),
        ("a" * 300, "a" * 24, ("cut",)),
    ],
)
def test_any_text_can_be_read(typed, text, notes):
    source = dates_task.read(typed)
    assert (source.text, source.notes) == (text, notes)
    assert len(ed.run(ed.Demo(source.text))["out.written_probs"].value) == dates_task.LENGTH


@pytest.mark.parametrize(("text", "complaint"), [("5 März 2021", "ä"), ("", "not 0"), ("1" * 25, "not 25")])
def test_a_text_it_cannot_read_is_refused_in_words(text, complaint):
    with pytest.raises(ValueError, match=complaint):
        ed.run(ed.Demo(text))
