"""Fields of config.json that the campaign families.py varies, by family.

An option is {name: [value, ...]}. A value is a dictionary of fields, or a
function that makes one of the fields chosen so far (sizes of lists). A field
that a value leaves out has transformers' default.
"""

SEQ = 24
BATCH = 2

# Fields that a tiny model must have, and dropout off: the two sides draw
# different numbers.
LLAMA_BASE = {"max_position_embeddings": 64, "num_hidden_layers": 2,
              "pad_token_id": None}


# Head widths of families that do not divide the hidden width.
HEAD_WIDTHS = {"qwen3": 128, "gemma": 256, "gemma2": 256, "gemma3_text": 256}


def head_width(config):
    divided = config["hidden_size"] // config["num_attention_heads"]
    return config.get("head_dim") or HEAD_WIDTHS.get(config["model_type"], divided)


# The rotated part of a head where the field is missing; 1 in other families.
ROTATED_PARTS = {"phi": 0.5, "stablelm": 0.25}


def rotated(config):
    missing = ROTATED_PARTS.get(config["model_type"], 1.0)
    return int(head_width(config) * config.get("partial_rotary_factor", missing))


def long_rope(original, **more):
    """Lists with a divisor for each rotated pair."""
    def make(config):
        pairs = (rotated(config) + 1) // 2
        scaling = {"type": "longrope", **more,
                   "short_factor": [1.0 + 0.1 * i for i in range(pairs)],
                   "long_factor": [2.0 + 0.3 * i for i in range(pairs)]}
        if config["model_type"] == "phi3":
            return {"rope_scaling": scaling, "original_max_position_embeddings": original}
        return {"rope_scaling": {**scaling, "original_max_position_embeddings": original}}
    return make


def scaled(kind, **more):
    return {"rope_scaling": {"rope_type": kind, **more}}


LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
ROPES = [
    {},
    {"rope_theta": 500.0, **scaled("linear", factor=2.5)},
    {"max_position_embeddings": 12, **scaled("dynamic", factor=4.0)},
    scaled("llama3", **LLAMA3, original_max_position_embeddings=16),
    {"rope_parameters": {"rope_type": "yarn", "rope_theta": 700.0, "factor": 4.0,
                         "original_max_position_embeddings": 16}},
    {"rope_scaling": {"type": "yarn", "factor": 4.0, "attention_factor": 1.3,
                      "beta_fast": 16.0, "beta_slow": 2.0, "truncate": False,
                      "original_max_position_embeddings": 32}},
    long_rope(8, factor=4.0),
]
PHI3_ROPES = [{}, {"rope_theta": 500.0}, long_rope(8), long_rope(48),
              long_rope(16, attention_factor=1.2)]

SHAPES = [
    {"hidden_size": 24, "num_attention_heads": 4, "num_key_value_heads": 2},
    {"hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 12},
    {"hidden_size": 24, "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 8},
]
# Where head_dim is missing it is the hidden width over the heads, or 256.
NO_KEY_HEADS = [{"hidden_size": 24, "num_attention_heads": 3, "num_key_value_heads": None}]
# Its lists have the length of hidden_size / num_attention_heads in transformers.
PHI3_SHAPES = [{name: value for name, value in shape.items() if name != "head_dim"}
               for shape in SHAPES + NO_KEY_HEADS]
PLAIN_SHAPES = [{"hidden_size": 24, "num_attention_heads": 3},
                {"hidden_size": 32, "num_attention_heads": 4},
                {"hidden_size": 32, "num_attention_heads": 2}]
TIES = [{}, {"tie_word_embeddings": True}, {"tie_word_embeddings": False}]
WINDOWS = [{"sliding_window": None}, {"sliding_window": 5}, {"sliding_window": 64}]


def field(name, *values):
    """The field missing, and with each of the values."""
    return [{}, *({name: value} for value in values)]


def llama_options(**more):
    return {"shape": SHAPES + NO_KEY_HEADS,
            "inner": [{"intermediate_size": n} for n in (40, 56)],
            "vocab": [{"vocab_size": n} for n in (97, 128)],
            "layers": field("num_hidden_layers", 1, 3),
            "act": field("hidden_act", "gelu", "gelu_new", "relu", "tanh"),
            "eps": field("rms_norm_eps", 1e-5, 1e-3),
            "pad": field("pad_token_id", 2),
            "tie": TIES, "rope": ROPES, **more}


BIAS = field("attention_bias", True)
MLP_BIAS = field("mlp_bias", True)
HALF_WINDOWS = [{}, {"use_sliding_window": True, "sliding_window": 5, "max_window_layers": 1},
                {"use_sliding_window": True, "sliding_window": 64, "max_window_layers": 0},
                {"use_sliding_window": False, "sliding_window": 5}]


def layer_types(config):
    kinds = ["full_attention", "sliding_attention", "sliding_attention"]
    return {"layer_types": kinds[:config["num_hidden_layers"]], "sliding_window": 7}


def half_layer_types(config):
    return {**layer_types(config), "use_sliding_window": True}


def unrotated(config):
    return {"no_rope_layers": [0, 1, 1][:config["num_hidden_layers"]]}


GEMMA2_CAPS = field("final_logit_softcapping", None, 2.5)
SCORE_CAPS = field("attn_logit_softcapping", None, 1.5)
# Below 256 the scores of Gemma 3 saturate the softmax: its random norms of query and
# key are about 2, and transformers in f32 leaves its f64 run by 6e-5 in four steps.
SCALARS = field("query_pre_attn_scalar", 400)
GEMMA_ACT = field("hidden_activation", "gelu", "silu", "relu")
GEMMA3_ROPES = [
    {}, {"rope_theta": 500.0, "rope_local_base_freq": 50.0},
    {"rope_theta": 900.0, **scaled("linear", factor=8.0)},
    {"rope_parameters": {"full_attention": {"rope_type": "linear", "rope_theta": 300.0, "factor": 3.0},
                         "sliding_attention": {"rope_type": "default", "rope_theta": 30.0}}},
]


def gemma(**more):
    options = llama_options(bias=BIAS, **more)
    options["shape"] = SHAPES
    return options


def gemma2(**more):
    options = gemma(act=GEMMA_ACT, scalar=SCALARS, cap=GEMMA2_CAPS, **more)
    return options


GPT2 = {
    "shape": [{"n_embd": 24, "n_head": 3}, {"n_embd": 32, "n_head": 4}],
    "inner": field("n_inner", 40), "vocab": [{"vocab_size": n} for n in (97, 128)],
    "layers": [{"n_layer": n} for n in (1, 2, 3)],
    "positions": [{"n_positions": n} for n in (SEQ, 64)],
    "act": field("activation_function", "gelu", "relu", "silu", "tanh"),
    "eps": field("layer_norm_epsilon", 1e-3), "scale": field("scale_attn_weights", False),
    "by layer": field("scale_attn_by_inverse_layer_idx", True), "tie": TIES,
}
NEOX_ROPES = [{}, {"rotary_pct": 1.0}, {"rotary_pct": 0.5, "rotary_emb_base": 700},
              {"rotary_pct": 0.4}, {"rotary_pct": 0.5, **scaled("linear", factor=2.0)},
              {"rope_parameters": {"rope_type": "default", "rope_theta": 300.0,
                                   "partial_rotary_factor": 0.5}}]
NEOX = {
    "shape": PLAIN_SHAPES, "inner": [{"intermediate_size": n} for n in (40, 56)],
    "vocab": [{"vocab_size": n} for n in (97, 128)],
    "layers": field("num_hidden_layers", 1, 3),
    "act": field("hidden_act", "gelu_new", "relu", "silu"),
    "eps": field("layer_norm_eps", 1e-3), "parallel": field("use_parallel_residual", False),
    "bias": field("attention_bias", False), "tie": TIES, "rope": NEOX_ROPES,
}
OPT = {
    "shape": PLAIN_SHAPES, "inner": [{"ffn_dim": n} for n in (40, 56)],
    "vocab": [{"vocab_size": n} for n in (97, 128)],
    "layers": field("num_hidden_layers", 1, 3),
    "act": field("activation_function", "gelu", "tanh"),
    "norm": field("do_layer_norm_before", False), "bias": field("enable_bias", False),
    "last": field("_remove_final_layer_norm", True),
    "positions": field("max_position_embeddings", SEQ),
    "width": field("word_embed_proj_dim", 16), "tie": TIES, "pad": field("pad_token_id", 2),
}
PARTIAL = [{}, {"partial_rotary_factor": 0.75}, {"partial_rotary_factor": 1.0}]


def without(options, *names):
    return {name: values for name, values in options.items() if name not in names}


STARCODER = {**without(llama_options(), "eps"), "shape": SHAPES, "eps": field("norm_epsilon", 1e-3),
             "bias": field("use_bias", False), "window": WINDOWS}
PHI = {**without(llama_options(), "eps", "rope"), "eps": field("layer_norm_eps", 1e-3),
       "part": PARTIAL, "rope": field("rope_theta", 500.0) + [scaled("linear", factor=2.0)]}

STABLELM = {**without(llama_options(), "eps"), "eps": field("layer_norm_eps", 1e-3),
            # Heads of 16: transformers divides by 0 where 2 elements rotate, with type dynamic.
            "shape": [{"hidden_size": 16 * heads, "num_attention_heads": heads, "num_key_value_heads": groups}
                      for heads, groups in ((4, 2), (3, 1), (2, 2))],
            "bias": field("use_qkv_bias", True), "parallel": field("use_parallel_residual", True),
            "part": PARTIAL}

OPTIONS = {
    "gpt2": GPT2,
    "llama": llama_options(bias=BIAS, mlp=MLP_BIAS),
    # transformers 5 has no null for their num_key_value_heads.
    "mistral": {**llama_options(window=WINDOWS), "shape": SHAPES},
    "qwen2": llama_options(window=HALF_WINDOWS + [half_layer_types]),
    "qwen3": llama_options(window=HALF_WINDOWS, bias=BIAS),
    "gemma": gemma(),
    "gemma2": gemma2(scores=SCORE_CAPS, window=field("sliding_window", 5) + [layer_types]),
    "gemma3_text": gemma2(rope=GEMMA3_ROPES, window=field("sliding_window", 5) + [layer_types],
                          pattern=field("sliding_window_pattern", 2)),
    "phi3": llama_options(shape=PHI3_SHAPES, window=WINDOWS, part=PARTIAL, rope=PHI3_ROPES),
    "smollm3": llama_options(bias=BIAS, mlp=MLP_BIAS,
                             window=[{}, {"use_sliding_window": True, "sliding_window": 5}],
                             nope=field("no_rope_layer_interval", 2) + [unrotated]),
    "olmo2": llama_options(bias=BIAS),
    "gpt_neox": NEOX,
    "starcoder2": STARCODER,
    "opt": OPT,
    "phi": PHI,
    "stablelm": STABLELM,
    "granite": llama_options(
        bias=BIAS, mlp=MLP_BIAS, multiplier=[
            {}, {"embedding_multiplier": 12.0, "residual_multiplier": 0.22},
            {"attention_multiplier": 0.3, "logits_scaling": 8.0}]),
}

# Fields of each configuration of a family, under the chosen ones.
BASES = {
    "gpt2": {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0},
    "opt": {**LLAMA_BASE, "dropout": 0.0},
}


def build(family, choice):
    """The configuration of a choice {option: value}."""
    config = {"model_type": family, **BASES.get(family, LLAMA_BASE)}
    later = []
    for value in choice.values():
        if callable(value):
            later.append(value)
        else:
            config.update(value)
    for value in later:
        config.update(value(config))
    return config


def refused(family, config):
    """Why transformers takes no such configuration, or None."""
    if family in ("phi", "phi3") and rotated(config) % 2:
        return "an odd number of rotated elements"
    return None


# Pairs of values of which transformers takes no configuration: `refused` has the reason.
UNTAKEN_PAIRS = {"phi": 2, "phi3": 1}
