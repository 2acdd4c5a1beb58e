"""GGUF files with a random model: names and orders of llama.cpp's converter, and types of any kind."""
import struct

import numpy as np

SIZES = {0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34),
         12: (256, 144), 13: (256, 176), 14: (256, 210), 30: (1, 2)}
NAMES = {0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 8: "Q8_0", 12: "Q4_K", 13: "Q5_K",
         14: "Q6_K", 30: "BF16"}
# Bytes of a block that hold the exponent of a scale.
EXPONENTS = {2: [1], 3: [1, 3], 6: [1], 7: [1, 3], 8: [1], 12: [1, 3], 13: [1, 3], 14: [209]}


def text(value):
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def string(value):
    return 8, text(value)


def integer(value):
    return 4, struct.pack("<I", value)


def number(value):
    return 6, struct.pack("<f", value)


def strings(values):
    return 9, struct.pack("<IQ", 8, len(values)) + b"".join(map(text, values))


def integers(values):
    return 9, struct.pack(f"<IQ{len(values)}i", 5, len(values), *values)


def file_bytes(values, tensors, version=3, alignment=32):
    """A file of values {key: (type, bytes)} and tensors {name: (type, shape, bytes)}."""
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(values))
    for key, (kind, raw) in values.items():
        head += text(key) + struct.pack("<I", kind) + raw
    data = b""
    for name, (kind, shape, raw) in tensors.items():
        head += text(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *reversed(shape))
        head += struct.pack("<IQ", kind, len(data))
        data += raw + bytes(-len(raw) % alignment)
    return head + bytes(-len(head) % alignment) + data


def random_blocks(kind, shape, random):
    """Bytes of a quantized tensor whose values are finite and small."""
    elements, size = SIZES[kind]
    raw = bytearray(random.randbytes(int(np.prod(shape)) // elements * size))
    for begin in range(0, len(raw), size):
        for place in EXPONENTS[kind]:
            raw[begin + place] = raw[begin + place] & 0x83 | random.randrange(4, 8) << 2
    return bytes(raw)


def interleave(weight, heads):
    """Rows of q and k in the order of llama.cpp."""
    return weight.reshape(heads, 2, -1, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)


def separate(weight, heads):
    return weight.reshape(heads, -1, 2, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)


# (name in GGUF, name in transformers, order)
LAYERS = {
    "llama": [("attn_norm", "input_layernorm", ""), ("attn_q", "self_attn.q_proj", "q"),
              ("attn_k", "self_attn.k_proj", "k"), ("attn_v", "self_attn.v_proj", ""),
              ("attn_output", "self_attn.o_proj", ""), ("ffn_norm", "post_attention_layernorm", ""),
              ("ffn_gate", "mlp.gate_proj", ""), ("ffn_up", "mlp.up_proj", ""), ("ffn_down", "mlp.down_proj", "")],
    "gpt2": [("attn_norm", "ln_1", ""), ("attn_qkv", "attn.c_attn", "t"), ("attn_output", "attn.c_proj", "t"),
             ("ffn_norm", "ln_2", ""), ("ffn_up", "mlp.c_fc", "t"), ("ffn_down", "mlp.c_proj", "t")],
}
ENDS = {
    "llama": [("token_embd", "model.embed_tokens"), ("output_norm", "model.norm"), ("output", "lm_head")],
    "gpt2": [("token_embd", "transformer.wte"), ("position_embd", "transformer.wpe"),
             ("output_norm", "transformer.ln_f"), ("output", "lm_head")],
}


def tensor_names(family, layers):
    """(name in GGUF, name in transformers, order) without their endings."""
    prefix = "model.layers" if family == "llama" else "transformer.h"
    for gguf, model in ENDS[family]:
        yield gguf, model, ""
    for layer in range(layers):
        for gguf, model, order in LAYERS[family]:
            yield f"blk.{layer}.{gguf}", f"{prefix}.{layer}.{model}", order


def to_gguf(weight, order, model):
    if order == "t" and weight.ndim == 2:
        return np.ascontiguousarray(weight.T)
    if order in ("q", "k"):
        return np.ascontiguousarray(interleave(weight, model["heads"] if order == "q" else model["groups"]))
    return weight


def to_model(weight, order, model):
    if order == "t" and weight.ndim == 2:
        return np.ascontiguousarray(weight.T)
    if order in ("q", "k"):
        return np.ascontiguousarray(separate(weight, model["heads"] if order == "q" else model["groups"]))
    return weight
