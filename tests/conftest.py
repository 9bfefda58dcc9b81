"""What is made once a session and lent to every test that only reads it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis.configuration import set_hypothesis_home_dir

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from tests.core.families import Pair

# Before torch is imported: small models gain nothing from a second thread, and two workers' threads wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "hypothesis")  # what it notes of the code, not in this folder

FAMILIES = (
    "gpt2",
    "gpt2, untied, n_inner",
    "llama",
    "llama, GQA, biases, base",
    "llama, MQA, tied, wide heads",
    "mistral, window",
    "qwen2",
    "qwen3",
    "mixtral",
    "qwen3_moe",
    "one layer, one head",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long begins first: at the end the other workers would wait for it."""
    items.sort(key=lambda one: "long" not in one.keywords)


@pytest.fixture(scope="session")
def pair() -> Callable[[str], Pair]:
    """A family's name -> the same weights in transformers and in core. Nobody writes into them."""
    from tests.core import families  # transformers takes seconds to import, and most tests do without

    return families.pair


@pytest.fixture(scope="session")
def theirs() -> PreTrainedModel:
    """The model that ships, as transformers loads and runs it. Nobody writes into it."""
    import torch
    from transformers import AutoModelForCausalLM

    from core.lab.text import FOLDER

    return AutoModelForCausalLM.from_pretrained(FOLDER, dtype=torch.float32, attn_implementation="eager").eval()


@pytest.fixture(scope="session", params=FAMILIES)
def any_model(request: pytest.FixtureRequest, pair: Callable[[str], Pair]) -> Pair:
    """A tiny random model of every family in turn, in transformers, in a folder and in core."""
    return pair(request.param)
