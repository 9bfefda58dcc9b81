"""ModelConfig.from_hf against the configuration classes of transformers, and what it refuses."""

import json

import pytest
from transformers import AutoConfig, LlamaConfig

from core.config import RUNS, ModelConfig
from tests.core import families

FAMILIES = ["gpt2", "llama", "mistral", "qwen2", "qwen3", "mixtral", "qwen3_moe", "deepseek_v3", "bert"]


def sizes(theirs):
    """What transformers makes of a config, under core's names."""
    head_dim = getattr(theirs, "head_dim", None) or theirs.hidden_size // theirs.num_attention_heads
    return dict(
        d_model=theirs.hidden_size,
        n_layers=theirs.num_hidden_layers,
        n_heads=theirs.num_attention_heads,
        n_kv_heads=getattr(theirs, "num_key_value_heads", theirs.num_attention_heads),
        head_dim=head_dim,
        vocab_size=theirs.vocab_size,
        context=theirs.max_position_embeddings,
        tied=theirs.tie_word_embeddings,
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_an_absent_key_has_the_default_of_its_family(family):
    theirs = AutoConfig.for_model(family)
    ours = ModelConfig.from_hf({"model_type": family})
    assert {key: getattr(ours, key) for key in sizes(theirs)} == sizes(theirs)
    d_ff = getattr(theirs, "intermediate_size", None) or 4 * theirs.hidden_size
    assert ours.d_ff == d_ff
    eps = next(
        getattr(theirs, k) for k in ("rms_norm_eps", "layer_norm_epsilon", "layer_norm_eps") if hasattr(theirs, k)
    )
    assert ours.norm_eps == eps
    if rope := getattr(theirs, "rope_parameters", None):
        assert ours.rope_theta == rope["rope_theta"]


@pytest.mark.parametrize("family", FAMILIES)
def test_an_epsilon_that_is_said_is_read_under_the_name_of_its_family(family):
    held = json.loads(AutoConfig.for_model(family).to_json_string(use_diff=False))
    (key,) = {"rms_norm_eps", "layer_norm_epsilon", "layer_norm_eps"} & set(held)
    assert ModelConfig.from_hf({"model_type": family, key: 0.125}).norm_eps == 0.125


@pytest.mark.parametrize("family", ["mixtral", "qwen3_moe", "deepseek_v3"])
def test_absent_keys_of_experts_have_the_defaults_of_their_family(family):
    theirs, moe = AutoConfig.for_model(family), ModelConfig.from_hf({"model_type": family}).moe
    experts = {"mixtral": "num_local_experts", "qwen3_moe": "num_experts", "deepseek_v3": "n_routed_experts"}
    width = getattr(theirs, "moe_intermediate_size", theirs.intermediate_size)
    assert (moe.n_experts, moe.n_active, moe.d_expert) == (
        getattr(theirs, experts[family]),
        theirs.num_experts_per_tok,
        width,
    )
    assert moe.n_shared == (theirs.n_shared_experts if family == "deepseek_v3" else 0)
    first = theirs.first_k_dense_replace if family == "deepseek_v3" else 0
    assert moe.layers == tuple(range(first, theirs.num_hidden_layers))
    assert moe.renormalise is getattr(theirs, "norm_topk_prob", True)
    assert moe.router_bias is (family == "deepseek_v3")


def test_absent_ranks_of_latent_attention_are_deepseek_s():
    theirs, mla = AutoConfig.for_model("deepseek_v3"), ModelConfig.from_hf({"model_type": "deepseek_v3"}).mla
    assert (mla.q_rank, mla.kv_rank) == (theirs.q_lora_rank, theirs.kv_lora_rank)
    assert (mla.d_nope, mla.d_rope, mla.d_v) == (theirs.qk_nope_head_dim, theirs.qk_rope_head_dim, theirs.v_head_dim)


@pytest.mark.parametrize("name", families.CONFIGS)
def test_written_by_transformers_and_read_here(name):
    theirs = families.CONFIGS[name]
    ours = ModelConfig.from_hf(json.loads(theirs.to_json_string(use_diff=False)))
    assert {key: getattr(ours, key) for key in sizes(theirs)} == sizes(theirs)


def test_the_older_and_the_newer_form_of_the_base():
    older = ModelConfig.from_hf({"model_type": "qwen3", "rope_theta": 1000000, "rope_scaling": None})
    newer = ModelConfig.from_hf(
        {"model_type": "qwen3", "rope_parameters": {"rope_theta": 1000000, "rope_type": "default"}}
    )
    assert older == newer
    assert older.rope_theta == 1e6


def test_null_means_derived():
    nulls = {"model_type": "qwen3", "head_dim": None, "num_key_value_heads": None, "hidden_size": 64}
    config = ModelConfig.from_hf(nulls | {"num_attention_heads": 4})
    assert (config.head_dim, config.n_kv_heads) == (16, 4)


def test_tying_is_the_rule_in_gpt2_only():
    assert [ModelConfig.from_hf({"model_type": f}).tied for f in RUNS] == [True] + [False] * 6


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        ({}, "model_type None .* gpt2, llama, mistral"),
        ({"model_type": "mamba"}, "'mamba' is not supported; supported: gpt2, llama"),
        ({"model_type": ["llama"]}, "model_type"),
        ({"model_type": "llama", "hidden_act": "relu"}, "hidden_act 'relu' .* silu"),
        ({"model_type": "gpt2", "activation_function": "relu"}, "activation_function 'relu' .* gelu_new"),
        ({"model_type": "gpt2", "scale_attn_weights": False}, "scale_attn_weights"),
        ({"model_type": "gpt2", "scale_attn_by_inverse_layer_idx": True}, "scale_attn_by_inverse_layer_idx"),
        ({"model_type": "gpt2", "add_cross_attention": True}, "add_cross_attention"),
        ({"model_type": "llama", "rope_scaling": {"type": "linear", "factor": 2.0}}, "rope_type 'linear' .* default"),
        ({"model_type": "llama", "rope_scaling": {"rope_type": "llama3", "factor": 8.0}}, "'llama3'"),
        ({"model_type": "qwen3", "rope_parameters": {"rope_type": "yarn", "rope_theta": 1e6}}, "'yarn'"),
        ({"model_type": "llama", "rope_parameters": {"full_attention": {"rope_type": "default"}}}, "per layer type"),
        ({"model_type": "llama", "rope_parameters": {"partial_rotary_factor": 0.5}}, "partial_rotary_factor"),
        ({"model_type": "mistral", "sliding_window": 16}, "sliding_window 16 .* at least the context"),
        ({"model_type": "qwen2", "use_sliding_window": True, "sliding_window": 16}, "sliding_window 16"),
        ({"model_type": "qwen3", "layer_types": ["full_attention", "sliding_attention"]}, "'sliding_attention'"),
        ({"model_type": "qwen3", "layer_types": "full_attention"}, "layer_types is 'full_attention'"),
        ({"model_type": "llama", "layer_types": ["full_attention"]}, "layer_types is a list of 1"),
        (
            {"model_type": "qwen3", "use_sliding_window": True, "max_position_embeddings": 5000},
            "sliding_window 4096 is not supported",
        ),
        ({"model_type": "mistral", "use_sliding_window": False, "sliding_window": 4}, "sliding_window 4"),
        ({"model_type": "mistral", "sliding_window": "4"}, "sliding_window is '4'"),
        ({"model_type": "llama", "is_causal": False}, "is_causal False"),
        ({"model_type": "gpt2", "is_causal": False}, "is_causal False"),
        ({"model_type": "llama", "rope_parameters": []}, "rope_parameters is a list of 0"),
        ({"model_type": "gpt2", "n_head": 5}, "n_head 5 does not divide n_embd 768"),
        ({"model_type": "llama", "hidden_size": 0}, "hidden_size is 0"),
        ({"model_type": "llama", "hidden_size": "4096"}, "hidden_size is '4096'"),
        ({"model_type": "llama", "hidden_size": float("nan")}, "hidden_size is nan"),
        ({"model_type": "llama", "hidden_size": True}, "hidden_size is True"),
        ({"model_type": "llama", "hidden_size": 10**30}, "hidden_size"),
        ({"model_type": "llama", "num_hidden_layers": 10**8}, "num_hidden_layers"),
        ({"model_type": "llama", "rms_norm_eps": -1}, "rms_norm_eps"),
        ({"model_type": "llama", "rms_norm_eps": float("nan")}, "rms_norm_eps"),
        ({"model_type": "llama", "rope_theta": 10**400}, "rope_theta is a number of more than"),
        ({"model_type": "llama", "tie_word_embeddings": "yes"}, "tie_word_embeddings"),
        (
            {"model_type": "llama", "num_attention_heads": 8, "num_key_value_heads": 3},
            "num_key_value_heads 3 does not divide num_attention_heads 8",
        ),
        ({"model_type": "llama", "num_attention_heads": 7}, "num_attention_heads 7 does not divide hidden_size"),
        ({"model_type": "llama", "head_dim": 5}, "must be even"),
    ],
)
def test_what_would_change_the_numbers_is_refused_by_name(config, complaint):
    with pytest.raises(ValueError, match=complaint):
        ModelConfig.from_hf(config)


@pytest.mark.parametrize(
    "harmless",
    [
        {"model_type": "qwen2", "use_sliding_window": False, "sliding_window": 131072, "max_window_layers": 28},
        {"model_type": "mistral", "sliding_window": 131072},
        {"model_type": "llama", "hidden_act": "swish", "pretraining_tp": 2, "anything": {"else": 1}},
        {"model_type": "gpt2", "activation_function": "gelu_pytorch_tanh", "n_ctx": 1024, "summary_type": "mean"},
        {"model_type": "qwen3", "rope_scaling": {"rope_type": "default"}},
        {"model_type": "llama", "partial_rotary_factor": 1},
        {"model_type": "llama", "partial_rotary_factor": 1.0},
        {"model_type": "llama", "rope_parameters": {"rope_type": "default", "partial_rotary_factor": 1}},
        {"model_type": "llama", "rope_parameters": {"rope_type": "default", "partial_rotary_factor": 1.0}},
    ],
)
def test_what_changes_nothing_is_ignored(harmless):
    ModelConfig.from_hf(harmless)


@pytest.mark.parametrize(
    "written",
    [
        {"rope_theta": 300.0},
        {"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}},
        {"rope_scaling": {"rope_type": "default", "rope_theta": 500.0}},
        {"rope_scaling": {"type": "default", "rope_theta": 500.0}, "rope_theta": 300.0},
        {"rope_scaling": {"rope_type": "default"}, "rope_parameters": {"rope_type": "default", "rope_theta": 500.0}},
    ],
)
def test_theta_is_found_where_transformers_finds_it(written):
    theirs = LlamaConfig(**written).rope_parameters["rope_theta"]
    assert ModelConfig.from_hf({"model_type": "llama"} | written).rope_theta == theirs


@pytest.mark.parametrize(
    ("config", "window"),
    [
        ({"model_type": "mistral", "sliding_window": 131072}, 131072),
        ({"model_type": "mistral", "sliding_window": None}, None),
        ({"model_type": "mistral", "max_position_embeddings": 2048}, 4096),
        ({"model_type": "qwen2", "use_sliding_window": True, "max_position_embeddings": 2048}, 4096),
        ({"model_type": "qwen3", "sliding_window": 16}, None),
        ({"model_type": "llama"}, None),
    ],
)
def test_a_window_beyond_the_context_is_kept_for_texts_beyond_it(config, window):
    assert ModelConfig.from_hf(config).window == window


@pytest.mark.parametrize("not_a_config", [None, [], "llama", 3])
def test_something_else_than_an_object(not_a_config):
    with pytest.raises(ValueError, match="JSON object"):
        ModelConfig.from_hf(not_a_config)


def test_counting_does_not_ask_how_the_angles_are_made():
    llama31 = {"model_type": "llama", "rope_scaling": {"rope_type": "llama3", "factor": 8.0}, "vocab_size": 128256}
    assert ModelConfig.from_hf(llama31, forward=False).vocab_size == 128256
