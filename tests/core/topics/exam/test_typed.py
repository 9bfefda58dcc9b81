"""What is typed as an answer, read by hand."""

import pytest

from core.topics.exam.typed import numbers


@pytest.mark.parametrize(
    ("said", "means"),
    [
        ("42", [42]),
        (" 1 024 ", [1024]),
        ("1,024", [1024, 1.024]),
        ("1.024", [1.024]),
        ("13,824 bytes", [13824, 13.824]),
        ("1,234,567", [1234567]),
        ("1.234.567", [1234567]),
        ("0,986", [0.986]),
        ("25 %", [0.25]),
        ("25,5%", [0.255]),
        ("２５％", [0.25]),
        ("１．５", [1.5]),
        ("−3.5", [-3.5]),
        ("≈ 2,7", [2.7]),
        ("~1e3", [1000]),
        ("1/4", [0.25]),
        ("3 nats", [3]),
        ("约 3 纳特", [3]),
        ("12 个", [12]),
        (".5", [0.5]),
        ("7.", [7]),
    ],
)
def test_a_number_is_read_as_it_is_meant(said, means):
    assert numbers(said) == pytest.approx(tuple(means))


@pytest.mark.parametrize("unit", ["bytes", "nats", "tokens", "字节", "纳特", "弧度", "倍", "个", "次", "格", "层"])
def test_a_unit_may_stand_behind_a_number(unit):
    assert numbers(f"12 {unit}") == numbers(f"12{unit}") == (12,)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "  ",
        "abc",
        "1/0",
        "nan",
        "inf",
        "1..2",
        "1,2,3",
        "--4",
        "4-",
        "%",
        "/",
        "🙂",
        "5k",
        "1e999",
        "9" * 400,
        "<b>5</b>",
        "\0",
        "٣x٤",
    ],
)
def test_anything_else_is_none(said):
    assert numbers(said) == ()
