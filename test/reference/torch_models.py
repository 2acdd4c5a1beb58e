"""GPT-2, Llama and the MLP of the examples in plain PyTorch.

Functions of a dictionary of parameters, by the definitions of transformers'
GPT2LMHeadModel and LlamaForCausalLM; every matrix is written out. The ops that
autocast runs in a low type come from `ops`: here in the type of their operands,
in autocast_ops.py as autocast runs them.
"""
import math

import torch
import torch.nn.functional as F


class Ops:
    """The ops in the type of their operands."""

    @staticmethod
    def linear(x, weight, bias=None):
        return F.linear(x, weight, bias)

    @staticmethod
    def conv1d(x, weight, bias):
        return x @ weight + bias

    @staticmethod
    def attend(q, k, v):
        """Causal attention on [B, H, T, D]."""
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        seq = q.shape[-2]
        mask = torch.ones(seq, seq, dtype=torch.bool).tril()
        return torch.softmax(scores.masked_fill(~mask, -math.inf), -1) @ v

    @staticmethod
    def gelu_new(x):
        inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))
        return 0.5 * x * (1.0 + torch.tanh(inner))

    @staticmethod
    def silu(x):
        return F.silu(x)

    @staticmethod
    def dropout(x):
        """The models are compared without dropout."""
        return x

    @staticmethod
    def cross_entropy(logits, targets):
        return F.cross_entropy(logits, targets)


def split_heads(x, heads):
    batch, seq, width = x.shape
    return x.view(batch, seq, heads, width // heads).transpose(1, 2)


def join_heads(x):
    batch, heads, seq, width = x.shape
    return x.transpose(1, 2).reshape(batch, seq, heads * width)


def gpt2_logits(p, config, tokens, ops):
    eps, width = config["layer_norm_epsilon"], config["n_embd"]

    def norm(name, x):
        return F.layer_norm(x, (width,), p[name + ".weight"], p[name + ".bias"], eps)

    def conv1d(name, x):
        return ops.conv1d(x, p[name + ".weight"], p[name + ".bias"])

    x = p["transformer.wte.weight"][tokens]
    x = ops.dropout(x + p["transformer.wpe.weight"][: tokens.shape[1]])
    for layer in range(config["n_layer"]):
        path = f"transformer.h.{layer}."
        qkv = conv1d(path + "attn.c_attn", norm(path + "ln_1", x))
        q, k, v = (split_heads(part, config["n_head"])
                   for part in qkv.split(width, dim=2))
        x = x + ops.dropout(conv1d(path + "attn.c_proj", join_heads(ops.attend(q, k, v))))
        hidden = ops.gelu_new(conv1d(path + "mlp.c_fc", norm(path + "ln_2", x)))
        x = x + ops.dropout(conv1d(path + "mlp.c_proj", hidden))
    return ops.linear(norm("transformer.ln_f", x), p["transformer.wte.weight"])


def rope_settings(config):
    """Base and scaling in either spelling."""
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    theta = rope.get("rope_theta", config.get("rope_theta", 10000.0))
    return theta, rope if rope.get("rope_type") == "llama3" else None


def rotary_frequencies(config, width):
    theta, llama3 = rope_settings(config)
    steps = torch.arange(0, width, 2, dtype=torch.int64).float()
    frequencies = 1.0 / (theta ** (steps / width))
    if not llama3:
        return frequencies
    factor, old = llama3["factor"], llama3["original_max_position_embeddings"]
    low, high = llama3["low_freq_factor"], llama3["high_freq_factor"]
    waves = 2 * math.pi / frequencies
    stretched = torch.where(waves > old / low, frequencies / factor, frequencies)
    smooth = (old / waves - low) / (high - low)
    blended = (1 - smooth) * stretched / factor + smooth * stretched
    medium = (waves >= old / high) & (waves <= old / low)
    return torch.where(medium, blended, stretched)


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    turned = torch.cat((-x[..., half:], x[..., :half]), -1)
    return x * cos + turned * sin


def llama_logits(p, config, tokens, ops):
    heads, groups = config["num_attention_heads"], config["num_key_value_heads"]
    width = config.get("head_dim") or config["hidden_size"] // heads

    def norm(name, x):
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + config["rms_norm_eps"])
        return p[name + ".weight"] * (x * scale)

    def linear(name, x):
        return ops.linear(x, p[name + ".weight"], p.get(name + ".bias"))

    angles = torch.outer(torch.arange(tokens.shape[1]).float(),
                         rotary_frequencies(config, width))
    angles = torch.cat((angles, angles), -1)
    x = p["model.embed_tokens.weight"][tokens]
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    for layer in range(config["num_hidden_layers"]):
        path = f"model.layers.{layer}."
        h = norm(path + "input_layernorm", x)
        q = rotate(split_heads(linear(path + "self_attn.q_proj", h), heads), cos, sin)
        k = rotate(split_heads(linear(path + "self_attn.k_proj", h), groups), cos, sin)
        v = split_heads(linear(path + "self_attn.v_proj", h), groups)
        k, v = (t.repeat_interleave(heads // groups, dim=1) for t in (k, v))
        x = x + linear(path + "self_attn.o_proj", join_heads(ops.attend(q, k, v)))
        h = norm(path + "post_attention_layernorm", x)
        gate = ops.silu(linear(path + "mlp.gate_proj", h))
        x = x + linear(path + "mlp.down_proj", gate * linear(path + "mlp.up_proj", h))
    head = p.get("lm_head.weight", p["model.embed_tokens.weight"])
    return ops.linear(norm("model.norm", x), head)


def mlp_logits(p, config, images, ops):
    h = torch.relu(ops.linear(images, p["fc1.weight"], p["fc1.bias"]))
    h = torch.relu(ops.linear(h, p["fc2.weight"], p["fc2.bias"]))
    return ops.linear(h, p["fc3.weight"], p["fc3.bias"])


def loss(p, config, inputs, targets, ops=Ops):
    logits_of = {"gpt2": gpt2_logits, "llama": llama_logits, "mlp": mlp_logits}
    logits = logits_of[config["model_type"]](p, config, inputs, ops)
    return ops.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))
