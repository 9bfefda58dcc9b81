"""The family: counts against modules without numbers, masks written out, patches by slicing, dates that are known."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from core.topics.theory import family as fm


def size(*modules):
    return sum(p.numel() for module in modules for p in module.parameters())


def on_meta(kind, *args, **how):
    with torch.device("meta"):
        return kind(*args, **how)


def test_the_transformer_of_2017_is_torchs_own_without_its_last_norms():
    whole = on_meta(
        nn.Transformer, d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=2048
    )
    assert fm.parameters("both") == size(whole) - 2 * 2 * 512 + 37_000 * 512 == 63_082_496


def test_vit_is_its_modules():
    block = on_meta(nn.TransformerEncoderLayer, 768, 12, 3072)
    rest = [on_meta(nn.Conv2d, 3, 768, 16, 16), on_meta(nn.LayerNorm, 768), on_meta(nn.Linear, 768, 1000)]
    assert fm.parameters("vision") == 12 * size(block) + size(*rest) + 768 + 197 * 768 == 86_567_656


def test_t5_is_its_matrices():
    d, f, layers, heads = 768, 3072, 12, 12
    square, up = on_meta(nn.Linear, d, d, bias=False), on_meta(nn.Linear, d, f, bias=False)
    encoder = 4 * size(square) + 2 * size(up) + 2 * d
    decoder = 8 * size(square) + 2 * size(up) + 3 * d
    assert fm.parameters("t5") == 32_128 * d + layers * (encoder + decoder) + 2 * (32 * heads + d) == 222_903_552


@pytest.mark.parametrize(
    ("id", "published"),
    [
        ("gpt1", 116_534_784),
        ("bert", 109_482_240),
        ("gpt2", 1_557_611_200),
        ("gpt3", 174_604_259_328),
        ("deepseek3", 671_026_419_200),
    ],
)
def test_presets_are_counted_exactly(id, published):
    assert next(event for event in fm.EVENTS if event.id == id).size == published


def test_masks_written_out():
    assert fm.mask("both").astype(int).tolist() == [
        [1, 1, 1, 1, 0, 0, 0, 0, 0],
        [1, 1, 1, 1, 0, 0, 0, 0, 0],
        [1, 1, 1, 1, 0, 0, 0, 0, 0],
        [1, 1, 1, 1, 0, 0, 0, 0, 0],
        [1, 1, 1, 1, 1, 0, 0, 0, 0],
        [1, 1, 1, 1, 1, 1, 0, 0, 0],
        [1, 1, 1, 1, 1, 1, 1, 0, 0],
        [1, 1, 1, 1, 1, 1, 1, 1, 0],
        [1, 1, 1, 1, 1, 1, 1, 1, 1],
    ]
    assert fm.mask("encoder").all()
    assert fm.mask("vision").shape == (17, 17)
    assert fm.mask("vision").all()
    np.testing.assert_array_equal(fm.mask("decoder"), np.tri(8, dtype=bool))
    with pytest.raises(KeyError):
        fm.mask("both ways")


def test_patches_are_squares_of_the_picture_row_by_row():
    picture, found = fm.image(), fm.patches(fm.image())
    assert found.shape == (16, 16, 16)
    np.testing.assert_array_equal(found[6], picture[16:32, 32:48])
    by_torch = torch.as_tensor(picture).unfold(0, 16, 16).unfold(1, 16, 16).reshape(-1, 16, 16)
    np.testing.assert_array_equal(found, by_torch)
    assert 0 == picture.min() < picture.max() <= 1.0
    assert fm.patch_count() == 14 * 14
    with pytest.raises(ValueError, match="whole patches"):
        fm.patches(picture, 15)
    for shape in ((4, 6), (6, 4)):  # one side alone does not fit
        with pytest.raises(ValueError, match="whole patches"):
            fm.patches(np.zeros(shape), 4)


def test_dates():
    when = {event.id: (event.year, event.month) for event in fm.EVENTS}
    assert list(when.values()) == sorted(when.values())
    assert when["attention"] == (2014, 9)
    assert when["transformer"] == (2017, 6)
    assert (when["flash"], when["flash2"], when["mla"]) == ((2022, 5), (2023, 7), (2024, 5))
    for event in fm.EVENTS:  # an arXiv number says its month; a model may be out before its paper
        if "." in event.paper and event.id not in ("mixtral", "llama3"):
            assert (2000 + int(event.paper[:2]), int(event.paper[2:4])) == (event.year, event.month), event.id


def test_what_was_never_confirmed_is_marked_and_nothing_else():
    assert [one.id for one in fm.trends() if not one.confirmed] == ["gpt4"]
    assert [event.id for event in fm.EVENTS if event.told] == ["gpt4"]
    gpt3 = next(one for one in fm.trends() if one.id == "gpt3")
    assert (gpt3.layers, gpt3.context) == (96, 2048)


def test_a_sun_over_two_hills_cell_by_cell():
    """64 x 64 numbers, row 0 on top: a sky that grows paler, a paper sun, a far hill and a near one that is darkest below."""
    picture = fm.image()
    assert picture.shape == (64, 64)
    for row in range(64):
        for column in range(64):
            x, y = column / 64, row / 64
            far = 0.66 - 0.16 * math.sin(2.2 * math.pi * x)
            near = 0.8 - 0.1 * math.cos(2.6 * math.pi * x)
            if y > near:
                ink = min(1.0, 0.85 + 0.8 * (y - near))
            elif y > far:
                ink = 0.6 + 0.3 * (y - far)
            else:
                ink = 0.0 if math.hypot(x - 0.7, y - 0.28) < 0.15 else 0.45 - 0.3 * y
            assert picture[row, column] == pytest.approx(ink, abs=1e-12), (row, column)
    assert picture[18, 45] == 0, "the middle of the sun"
    np.testing.assert_array_equal(fm.cut_image(), fm.patches(picture))
    assert fm.cut_image().shape == (16, 16, 16)


def test_one_member_by_its_names():
    assert fm.parameters("transformer") == fm.parameters("both")
    assert fm.parameters("vit") == fm.parameters("vision")
    assert fm.parameters("encoder") == fm.parameters("bert-base")
    assert fm.parameters("decoder") == fm.parameters("gpt1")
    with pytest.raises(KeyError):
        fm.parameters("rnn")
    assert fm.patch_count(64, 16) == 16
    assert fm.patches(np.zeros((6, 4)), 2).shape == (6, 2, 2)


def test_the_middle_of_a_month():
    assert fm.Event("x", 2020, 1, "idea").when == pytest.approx(2020 + 0.5 / 12)
    assert fm.Event("x", 2020, 12, "idea").when == pytest.approx(2021 - 0.5 / 12)
    assert [one.id for one in fm.trends()] == [event.id for event in fm.EVENTS if event.kind == "decoder"]
    assert all(one.when == next(e.when for e in fm.EVENTS if e.id == one.id) for one in fm.trends())
