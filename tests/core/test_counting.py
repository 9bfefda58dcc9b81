"""Parameter totals: real modules of transformers on the meta device, and published numbers."""

import pytest
import torch
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, T5Config, T5Model, ViTConfig
from transformers import ViTForImageClassification as Vit

from core.config import ModelConfig
from core.counting import encoder_decoder, parameters, relative_encoder_decoder, total, vision

QWEN3_8B = dict(
    model_type="qwen3",
    vocab_size=151936,
    hidden_size=4096,
    num_hidden_layers=36,
    num_attention_heads=32,
    num_key_value_heads=8,
    head_dim=128,
    intermediate_size=12288,
)
DEEPSEEK_V3 = dict(model_type="deepseek_v3", max_position_embeddings=163840)
PUBLISHED = [
    (QWEN3_8B, 8_190_735_360),
    (
        QWEN3_8B
        | dict(
            hidden_size=1024,
            num_hidden_layers=28,
            num_attention_heads=16,
            intermediate_size=3072,
            tie_word_embeddings=True,
        ),
        596_049_920,
    ),
    (dict(model_type="llama"), 6_738_415_616),
    (dict(model_type="llama", vocab_size=128256, num_key_value_heads=8, intermediate_size=14336), 8_030_261_248),
    (dict(model_type="mistral", sliding_window=None), 7_241_732_096),
    (dict(model_type="mixtral"), 46_702_792_704),
    (dict(model_type="gpt2"), 124_439_808),
    (dict(model_type="gpt2", n_embd=1600, n_layer=48, n_head=25), 1_557_611_200),
    (dict(model_type="bert"), 109_482_240),
    (DEEPSEEK_V3, 671_026_419_200),
]


@pytest.mark.parametrize(("config", "published"), PUBLISHED)
def test_published_totals(config, published):
    assert total(ModelConfig.from_hf(config)) == published


SMALL = dict(hidden_size=64, num_hidden_layers=4, num_attention_heads=4, intermediate_size=96, vocab_size=101)
MEASURED = [
    dict(model_type="gpt2", n_embd=60, n_layer=3, n_head=4, n_inner=100, tie_word_embeddings=False),
    dict(model_type="llama", **SMALL, num_key_value_heads=2, attention_bias=True, mlp_bias=True, head_dim=24),
    dict(model_type="llama", **SMALL, tie_word_embeddings=True),
    dict(model_type="mistral", **SMALL, num_key_value_heads=1),
    dict(model_type="qwen2", **SMALL, num_key_value_heads=2, tie_word_embeddings=True),
    dict(model_type="qwen3", **SMALL, num_key_value_heads=2, attention_bias=True, head_dim=20),
    dict(model_type="mixtral", **SMALL, num_key_value_heads=2, num_local_experts=5),
    dict(model_type="qwen3_moe", **SMALL, num_key_value_heads=2, num_experts=6, moe_intermediate_size=32,
         decoder_sparse_step=2, mlp_only_layers=[3]),
    dict(model_type="deepseek_v3", **SMALL, num_key_value_heads=4, q_lora_rank=None, kv_lora_rank=16,
         qk_nope_head_dim=8, qk_rope_head_dim=4, v_head_dim=12, n_routed_experts=4, moe_intermediate_size=20,
         n_group=2, topk_group=1, num_experts_per_tok=2, first_k_dense_replace=1, n_shared_experts=2),
    dict(model_type="deepseek_v3", **SMALL, num_key_value_heads=4, q_lora_rank=24, kv_lora_rank=16,
         qk_nope_head_dim=8, qk_rope_head_dim=4, v_head_dim=12, n_routed_experts=4, moe_intermediate_size=20,
         n_group=2, topk_group=1, num_experts_per_tok=2, first_k_dense_replace=2, attention_bias=True),
    dict(model_type="bert", **SMALL, type_vocab_size=3),
    dict(model_type="bert", **SMALL, type_vocab_size=1, max_position_embeddings=77, tie_word_embeddings=False),
    dict(model_type="gpt2", hidden_size=40, num_hidden_layers=2, num_attention_heads=5, max_position_embeddings=33),
    dict(model_type="gpt2", n_embd=48, n_layer=1, n_head=3, n_positions=10, vocab_size=7, n_inner=None),
    dict(model_type="gpt2", n_embd=48, n_layer=1, n_head=3, n_ctx=33, vocab_size=7),
    dict(model_type="llama", **SMALL, num_key_value_heads=None, head_dim=None, mlp_bias=True),
    dict(model_type="llama", **SMALL, num_key_value_heads=1, attention_bias=True, tie_word_embeddings=True),
    dict(model_type="mistral", **SMALL, head_dim=32, num_key_value_heads=4, tie_word_embeddings=True),
    dict(model_type="qwen2", **SMALL, num_key_value_heads=None, use_sliding_window=True, sliding_window=8),
    dict(model_type="qwen3", **SMALL, num_key_value_heads=None, tie_word_embeddings=True),
    dict(model_type="mixtral", **SMALL, num_key_value_heads=1, num_experts=3, head_dim=48, tie_word_embeddings=True),
    dict(model_type="qwen3_moe", **SMALL, num_key_value_heads=4, num_experts=0, moe_intermediate_size=32),
    dict(model_type="qwen3_moe", **SMALL, num_key_value_heads=4, num_local_experts=0),
    dict(model_type="qwen3_moe", **SMALL, num_key_value_heads=1, num_experts=4, head_dim=40, attention_bias=True,
         mlp_only_layers=None, decoder_sparse_step=1, moe_intermediate_size=8, tie_word_embeddings=True),
    dict(model_type="qwen3_moe", **SMALL, num_key_value_heads=1, num_experts=4, decoder_sparse_step=3,
         mlp_only_layers=[0, 2, 9]),
    dict(model_type="deepseek_v3", **SMALL, q_lora_rank=24, kv_lora_rank=16, qk_nope_head_dim=8, qk_rope_head_dim=4,
         v_head_dim=12, n_routed_experts=8, first_k_dense_replace=9, num_experts_per_tok=2),
    dict(model_type="deepseek_v3", **SMALL, num_key_value_heads=None, q_lora_rank=None, kv_lora_rank=16,
         n_routed_experts=8, first_k_dense_replace=0, n_shared_experts=3, attention_bias=True, tie_word_embeddings=True),
]  # fmt: skip


@pytest.mark.parametrize("config", MEASURED, ids=lambda c: c["model_type"])
def test_equals_a_real_module_on_the_meta_device(config):
    options = {k: v for k, v in config.items() if k != "model_type"}
    theirs = AutoConfig.for_model(config["model_type"], **options)
    with torch.device("meta"):
        model = (AutoModel if config["model_type"] == "bert" else AutoModelForCausalLM).from_config(theirs)
    parts = {id(p): p.numel() for p in model.parameters()}
    correction = {n: b.numel() for n, b in model.named_buffers() if n.endswith("e_score_correction_bias")}
    ours = ModelConfig.from_hf(config, forward=False)
    assert total(ours) == sum(parts.values()) + sum(correction.values())
    assert all(row.value > 0 for row in parameters(ours)), "a part that is not there has no row"


@pytest.mark.parametrize(
    ("config", "named"),
    [
        (dict(model_type="gpt2", add_cross_attention=True), "add_cross_attention"),
        (dict(model_type="bert", is_decoder=True, add_cross_attention=True), "add_cross_attention"),
        (dict(model_type="bert", position_embedding_type="relative_key"), "position_embedding_type"),
        (dict(model_type="qwen3_moe", mlp_only_layers=[[0]]), "mlp_only_layers"),
        (dict(model_type="qwen3_moe", mlp_only_layers="0,1"), "mlp_only_layers"),
        (dict(model_type="llama", hidden_size=10**400), "hidden_size"),
        (dict(model_type="llama", hidden_size=float("inf")), "hidden_size"),
        (dict(model_type="llama", num_hidden_layers=float("nan")), "num_hidden_layers"),
        (dict(model_type="llama", vocab_size=[[[]]]), "vocab_size"),
    ],
)
def test_what_cannot_be_counted_is_refused_by_name(config, named):
    with pytest.raises(ValueError, match=named) as refused:
        ModelConfig.from_hf(config, forward=False)
    assert len(str(refused.value)) < 200


def test_rows_add_up_and_are_never_empty():
    rows = parameters(ModelConfig.from_hf(QWEN3_8B))
    by_part = {part: sum(r.value for r in rows if r.part == part) for part in {r.part for r in rows}}
    assert by_part["embedding"] == by_part["head"] == 622_329_856
    assert by_part["attention"] == 36 * 41_943_296
    assert by_part["ffn"] == 36 * 150_994_944
    assert all(row.each > 0 and row.times > 0 for row in rows)


def numbers(made, leave_out=()):
    """Each tensor once, the named ones left out."""
    return sum(p.numel() for name, p in made.named_parameters() if not any(one in name for one in leave_out))


@pytest.mark.parametrize("bias", [True, False])
def test_the_transformer_of_2017_is_torch_s_own_with_one_table(bias):
    """torch puts a norm behind each stack; the paper, whose norms come after the sum, does not."""
    d, f, n, vocab = 24, 40, 3, 101
    with torch.device("meta"):
        theirs = torch.nn.Transformer(d, 4, n, n, f, batch_first=True)
    biases = () if bias else ("in_proj_bias", "out_proj.bias")
    rows = encoder_decoder(d, f, n, vocab, attention_bias=bias)
    assert sum(row.value for row in rows) == vocab * d + numbers(theirs, ("coder.norm.", *biases))
    attention = sum(p.numel() for name, p in theirs.named_parameters() if "attn" in name)
    left_out = 0 if bias else 3 * n * 4 * d
    assert sum(row.value for row in rows if row.part == "attention") == attention - left_out
    assert sum(row.value for row in encoder_decoder(d, f, n, vocab)) == vocab * d + numbers(theirs, ("coder.norm.",))


def test_t5_is_counted_with_its_buckets():
    sizes = dict(d_model=24, d_ff=40, num_heads=4, vocab_size=101)
    for buckets in (32, 9):
        config = T5Config(**sizes, num_layers=3, d_kv=6, relative_attention_num_buckets=buckets)
        with torch.device("meta"):
            theirs = T5Model(config)
        more = {} if buckets == 32 else dict(buckets=buckets)  # 32 is the paper's
        rows = relative_encoder_decoder(24, 40, 3, 4, 101, **more)
        assert sum(row.value for row in rows) == numbers(theirs)
        bias = {name: p.numel() for name, p in theirs.named_parameters() if "relative_attention_bias" in name}
        assert next(row.value for row in rows if row.name == "positions") == sum(bias.values())


def test_a_picture_s_patches_are_counted_as_in_vit():
    for channels in (3, 1):
        sizes = dict(hidden_size=24, num_hidden_layers=3, num_attention_heads=4, intermediate_size=40)
        config = ViTConfig(**sizes, image_size=32, patch_size=8, num_channels=channels, num_labels=7)
        with torch.device("meta"):
            theirs = Vit(config)
        more = {} if channels == 3 else dict(channels=channels)
        rows = vision(24, 40, 3, 32, 8, 7, **more)
        assert sum(row.value for row in rows) == numbers(theirs)
        places = theirs.vit.embeddings.position_embeddings.numel()
        assert next(row.value for row in rows if row.name == "positions") == places == 17 * 24
