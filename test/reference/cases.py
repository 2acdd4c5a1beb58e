"""The training runs that weft and PyTorch are compared on.

Everything here is deterministic and needs numpy only: configurations, initial
weights, data and hyper-parameters.
"""
import os
import sys
import zlib

import numpy as np

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
DATA = os.path.join(ROOT, "test", "Train", "data")
CORPUS = os.path.join(DATA, "corpus.txt")

sys.path.insert(0, os.path.join(ROOT, "examples"))

# Clipping and warmup act in every case; decay holds for matrices.
RUN = {
    "steps": 20, "accum": 2, "lr": 2e-3, "min_lr": 1e-4, "warmup": 3,
    "weight_decay": 0.1, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "clip": 1.0,
}

GPT2_TINY = {
    "model_type": "gpt2", "vocab_size": 256, "n_positions": 80, "n_embd": 32,
    "n_layer": 2, "n_head": 2, "activation_function": "gelu_new",
    "layer_norm_epsilon": 1e-5, "resid_pdrop": 0.0, "embd_pdrop": 0.0,
    "attn_pdrop": 0.0,
}
# Every option at once: biases, head_dim, scaled rotary tables, untied head.
LLAMA_TINY = {
    "model_type": "llama", "vocab_size": 256, "hidden_size": 32,
    "intermediate_size": 56, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 10, "max_position_embeddings": 512,
    "hidden_act": "silu", "rms_norm_eps": 1e-5, "attention_bias": True,
    "mlp_bias": True, "tie_word_embeddings": False, "dtype": "float32",
    "rope_parameters": {
        "rope_theta": 500.0, "rope_type": "llama3", "factor": 8.0,
        "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64,
    },
}

# full: every element of gradients and final weights is stored.
CASES = {
    "gpt2-tiny": {"config": GPT2_TINY, "batch": 4, "seq": 64, "full": True},
    "llama-tiny": {"config": LLAMA_TINY, "batch": 4, "seq": 64, "full": True},
    "gpt2-mini": {"config": "gpt2-mini", "batch": 4, "seq": 64, "full": False},
    "llama-mini": {"config": "llama-mini", "batch": 4, "seq": 64, "full": False},
    "mlp": {"config": {"model_type": "mlp"}, "batch": 32, "full": True,
            "run": {"clip": 0.5}},
}
PARITY = list(CASES)

# First gradients in mixed precision. Another order of f32 sums makes some
# roundings go the other way; these average out over tokens, while the rounding
# of weights does not. So these cases have many tokens.
ONE_STEP = {"steps": 1, "accum": 1, "warmup": 0}
PRECISION = ["gpt2-mini", "llama-mini"]
CASES.update({f"precision-{name}": {"config": name, "batch": 32, "seq": 128,
                                    "full": False, "run": ONE_STEP}
              for name in PRECISION})
# Gradients that round too are more such roundings, so more tokens.
CASES.update({f"rounded-{name}": {**CASES[f"precision-{name}"], "batch": 64}
              for name in PRECISION})


def run_of(case):
    """The hyper-parameters of a case."""
    return {**RUN, **CASES[case].get("run", {})}


def load_config(case):
    """The configuration of a case as a dictionary, and its text."""
    import json

    config = CASES[case]["config"]
    if isinstance(config, dict):
        return config, json.dumps(config, indent=2) + "\n"
    with open(os.path.join(ROOT, "examples", config, "config.json")) as file:
        text = file.read()
    return json.loads(text), text


def gpt2_shapes(config):
    width, inner = config["n_embd"], 4 * config["n_embd"]
    shapes = {"transformer.wte.weight": (config["vocab_size"], width),
              "transformer.wpe.weight": (config["n_positions"], width)}
    for layer in range(config["n_layer"]):
        path = f"transformer.h.{layer}."
        shapes.update({
            path + "ln_1.weight": (width,), path + "ln_1.bias": (width,),
            path + "attn.c_attn.weight": (width, 3 * width),
            path + "attn.c_attn.bias": (3 * width,),
            path + "attn.c_proj.weight": (width, width),
            path + "attn.c_proj.bias": (width,),
            path + "ln_2.weight": (width,), path + "ln_2.bias": (width,),
            path + "mlp.c_fc.weight": (width, inner),
            path + "mlp.c_fc.bias": (inner,),
            path + "mlp.c_proj.weight": (inner, width),
            path + "mlp.c_proj.bias": (width,),
        })
    shapes["transformer.ln_f.weight"] = (width,)
    shapes["transformer.ln_f.bias"] = (width,)
    return shapes


def llama_shapes(config):
    width, inner = config["hidden_size"], config["intermediate_size"]
    heads, groups = config["num_attention_heads"], config["num_key_value_heads"]
    head = config.get("head_dim") or width // heads
    shapes = {"model.embed_tokens.weight": (config["vocab_size"], width)}

    def linear(name, out, inputs, bias):
        shapes[name + ".weight"] = (out, inputs)
        if bias:
            shapes[name + ".bias"] = (out,)

    for layer in range(config["num_hidden_layers"]):
        path = f"model.layers.{layer}."
        bias = config.get("attention_bias", False)
        linear(path + "self_attn.q_proj", heads * head, width, bias)
        linear(path + "self_attn.k_proj", groups * head, width, bias)
        linear(path + "self_attn.v_proj", groups * head, width, bias)
        linear(path + "self_attn.o_proj", width, heads * head, bias)
        bias = config.get("mlp_bias", False)
        linear(path + "mlp.gate_proj", inner, width, bias)
        linear(path + "mlp.up_proj", inner, width, bias)
        linear(path + "mlp.down_proj", width, inner, bias)
        shapes[path + "input_layernorm.weight"] = (width,)
        shapes[path + "post_attention_layernorm.weight"] = (width,)
    shapes["model.norm.weight"] = (width,)
    if not config.get("tie_word_embeddings", False):
        shapes["lm_head.weight"] = (config["vocab_size"], width)
    return shapes


def mlp_shapes(config):
    return {"fc1.weight": (128, 64), "fc1.bias": (128,),
            "fc2.weight": (128, 128), "fc2.bias": (128,),
            "fc3.weight": (10, 128), "fc3.bias": (10,)}


def initial_weights(config):
    """f32 arrays by name: no tensor is all zeros or all ones."""
    family = config["model_type"]
    shapes = {"gpt2": gpt2_shapes, "llama": llama_shapes, "mlp": mlp_shapes}
    weights = {}
    for name, shape in shapes[family](config).items():
        # RandomState's stream is frozen by numpy's policy.
        rng = np.random.RandomState(zlib.crc32(name.encode()))
        value = rng.standard_normal(shape)
        if len(shape) > 1:
            value *= 0.1 if family == "mlp" else 0.06
        elif name.endswith(".bias"):
            value *= 0.05
        else:
            value = 1.0 + 0.1 * value
        weights[name] = value.astype(np.float32)
    return weights


def left_out(name, value):
    """Sets the key third of GPT-2's c_attn.bias to zero: softmax does not see
    it, its exact gradient is 0, and Adam follows the sign of the rounding."""
    if name.endswith("attn.c_attn.bias"):
        value = value.copy()
        third = value.shape[0] // 3
        value[third:2 * third] = 0
    return value


def token_rows(first, count, seq):
    """Rows first .. first + count - 1: int64 tokens and targets [count, seq]."""
    with open(CORPUS, "rb") as file:
        text = np.frombuffer(file.read(), np.uint8).astype(np.int64)
    windows = (text.size - 1) // seq
    starts = [(row % windows) * seq for row in range(first, first + count)]
    return (np.stack([text[s:s + seq] for s in starts]),
            np.stack([text[s + 1:s + seq + 1] for s in starts]))


def mlp_rows(first, count):
    """Rows of examples/make_mlp_data.py."""
    import make_mlp_data

    images, labels = make_mlp_data.make_rows(960, seed=1)
    images = np.array(images, np.float32).reshape(-1, 64)
    labels = np.array(labels, np.int64)
    index = np.arange(first, first + count) % labels.size
    return images[index], labels[index]


def learning_rate(step, run):
    """Of a step counted from 1: linear warmup, then half a cosine."""
    i, warmup, steps = step - 1, run["warmup"], run["steps"]
    if i < warmup:
        return run["lr"] * (i + 1) / warmup
    ratio = min(1.0, (i - warmup) / (steps - warmup))
    half = 0.5 * (1.0 + np.cos(np.pi * ratio))
    return run["min_lr"] + half * (run["lr"] - run["min_lr"])
