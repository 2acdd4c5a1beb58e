"""A GGUF file as a model of transformers in f32: the oracle of gguf-models.py.

Names come from the package gguf, values from its `dequantize`, and the configuration from the keys, without any code of
weft. Facts that a file does not store are the published ones of its architecture.
"""
import warnings

import gguf
import numpy as np
import torch
import transformers

from gguf_bytes import separate

transformers.logging.set_verbosity_error()
# Threads that wait for each other are slow on a machine with other work.
torch.set_num_threads(1)
# Versions of transformers differ in the name of `past_key_values`.
warnings.filterwarnings("ignore", category=FutureWarning)


def keys_of(reader):
    return {name: field.contents() for name, field in reader.fields.items()}


def llama_config(key, tied):
    return transformers.LlamaConfig(
        vocab_size=key("vocab_size"), max_position_embeddings=key("context_length"), hidden_size=key("embedding_length"),
        intermediate_size=key("feed_forward_length"), num_hidden_layers=key("block_count"),
        num_attention_heads=key("attention.head_count"), num_key_value_heads=key("attention.head_count_kv"),
        rms_norm_eps=key("attention.layer_norm_rms_epsilon"), tie_word_embeddings=tied,
        rope_parameters={"rope_type": "default", "rope_theta": key("rope.freq_base")})


def gemma3_config(key, tied):
    """Every sixth layer sees all tokens; the others rotate with a base of 10000 (Gemma 3's report and code)."""
    layers = key("block_count")
    return transformers.Gemma3TextConfig(
        vocab_size=key("vocab_size"), max_position_embeddings=key("context_length"), hidden_size=key("embedding_length"),
        intermediate_size=key("feed_forward_length"), num_hidden_layers=layers,
        num_attention_heads=key("attention.head_count"), num_key_value_heads=key("attention.head_count_kv"),
        head_dim=key("attention.key_length"), query_pre_attn_scalar=key("attention.key_length"),
        rms_norm_eps=key("attention.layer_norm_rms_epsilon"), tie_word_embeddings=tied,
        sliding_window=key("attention.sliding_window"),
        layer_types=["full_attention" if (i + 1) % 6 == 0 else "sliding_attention" for i in range(layers)],
        rope_parameters={"full_attention": {"rope_type": "default", "rope_theta": key("rope.freq_base")},
                         "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}})


CONFIGS = {"llama": llama_config, "gemma3": gemma3_config}


def values_of(tensor, name, architecture, config):
    """A tensor in the order of transformers."""
    values = gguf.quants.dequantize(np.asarray(tensor.data), tensor.tensor_type)
    values = values.reshape([int(size) for size in reversed(tensor.shape)]).astype(np.float32)
    if architecture == "llama" and name.endswith("q_proj.weight"):
        return separate(values, config.num_attention_heads)
    if architecture == "llama" and name.endswith("k_proj.weight"):
        return separate(values, config.num_key_value_heads)
    return values - 1 if architecture == "gemma3" and name.endswith("norm.weight") else values


def load(path):
    """The model of a file, in f32."""
    reader = gguf.GGUFReader(path)
    keys = keys_of(reader)
    architecture = keys["general.architecture"]
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    keys[architecture + ".vocab_size"] = int(tensors["token_embd.weight"].shape[1])
    config = CONFIGS[architecture](lambda name: keys[f"{architecture}.{name}"], "output.weight" not in tensors)
    config._attn_implementation = "eager"
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    kind = {name: kind for kind, name in gguf.MODEL_ARCH_NAMES.items()}[architecture]
    names = gguf.get_tensor_name_map(kind, config.num_hidden_layers)
    state = {}
    for name in model.state_dict():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        stem, ending = name.rsplit(".", 1)
        values = values_of(tensors.pop(f"{names.get_name(stem)}.{ending}"), name, architecture, config)
        state[name] = torch.from_numpy(np.ascontiguousarray(values))
    if tensors:
        raise ValueError(f"tensors of no parameter: {sorted(tensors)}")
    missing, unexpected = model.load_state_dict(state, strict=False)
    if unexpected or set(missing) - {"lm_head.weight"}:
        raise ValueError(f"missing {missing}, unexpected {unexpected}")
    model.tie_weights()
    return model.eval()


def reload(folder):
    """The model of a folder with config.json and safetensors."""
    model, info = transformers.AutoModelForCausalLM.from_pretrained(
        folder, attn_implementation="eager", dtype=torch.float32, output_loading_info=True)
    wrong = {kind: info[kind] for kind in ("missing_keys", "unexpected_keys", "mismatched_keys") if info[kind]}
    if wrong:
        raise ValueError(f"{folder}: {wrong}")
    return model.eval()


@torch.no_grad()
def loss_of(model, tokens, seq):
    """Mean loss of the rows of `seq` tokens, in the order of the file."""
    total = 0.0
    rows = (len(tokens) - 1) // seq
    for row in range(rows):
        part = torch.tensor(tokens[row * seq:(row + 1) * seq + 1])
        logits = model(input_ids=part[None, :-1], use_cache=False).logits[0].double()
        total += torch.nn.functional.cross_entropy(logits, part[1:], reduction="sum").item()
    return total / (rows * seq), rows


@torch.no_grad()
def continue_greedily(model, ids, count):
    """The most probable next tokens, and the least margin of one to the second best."""
    ids, margin = list(ids), float("inf")
    cache = transformers.DynamicCache(config=model.config)
    last, made = torch.tensor([ids]), []
    for _ in range(count):
        logits = model(input_ids=last, past_key_values=cache, use_cache=True).logits[0, -1]
        best = torch.topk(logits, 2)
        margin = min(margin, (best.values[0] - best.values[1]).item())
        made.append(int(best.indices[0]))
        last = torch.tensor([[made[-1]]])
    return made, margin
