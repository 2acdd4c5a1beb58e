"""Random llama and gpt2 models as GGUF files, against safetensors and the Python package gguf.

A seed draws a family, its sizes, and weights in f32. All bits must be equal:

- the loss and the gradient norm of the first step from the GGUF file and from config.json with safetensors;
- the weights that a checkpoint of a file with random types exports, and `gguf.quants.dequantize` of its tensors;
- the tensors of an export in F32, F16, BF16 and Q8_0, and `gguf.quants.quantize`; its metadata and tokenizer, and the
  input's;
- the loss from an F32 export.

Without the package gguf the second comparison is left out, and Q8_0; the last line counts the files.

Usage: gguf-files.py --work DIR [--seeds A:B] [--keep]
"""
import argparse
import json
import pathlib
import random
import shutil
import struct
import subprocess
import sys

import numpy as np

import gguf_bytes as made
from seeds import seed_range

try:
    import gguf
    from gguf.quants import dequantize, quantize
except ImportError:
    gguf = None

parser = argparse.ArgumentParser()
parser.add_argument("--work", type=pathlib.Path, required=True)
parser.add_argument("--seeds", default="0:1", type=seed_range)
parser.add_argument("--keep", action="store_true", help="files of cases that passed, too")
args = parser.parse_args()


class Wrong(Exception):
    pass


def call(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=600,
                            errors="replace")
    if result.returncode:
        raise Wrong(f"exit {result.returncode} of {' '.join(map(str, command))}:\n{result.stderr[-2000:]}")


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, value in tensors.items():
        raw = value.tobytes()
        header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    raw = path.read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8:8 + size])
    header.pop("__metadata__", None)
    return {name: np.frombuffer(raw[8 + size:][slice(*entry["data_offsets"])], np.float32).reshape(entry["shape"])
            for name, entry in header.items()}


# --- Models -----------------------------------------------------------------


def draw_model(rng):
    heads = rng.choice([1, 2, 4])
    head_width = rng.choice([4, 8, 16, 32, 64])
    width = heads * head_width
    model = {"family": rng.choice(["llama", "gpt2"]), "heads": heads, "width": width, "vocab": rng.randrange(33, 90),
             "inner": rng.choice([16, 32, 96, 256]), "layers": rng.choice([1, 2]), "context": rng.choice([16, 32]),
             "groups": heads, "head": head_width, "tied": True, "theta": 10000.0, "llama3": False,
             "eps": rng.choice([1e-5, 1e-6, 3e-5])}
    if model["family"] == "llama":
        model["groups"] = rng.choice([n for n in (1, 2, 4) if heads % n == 0])
        model["tied"] = rng.random() < 0.5
        model["theta"] = rng.choice([10000.0, 500000.0, 1e6])
        model["llama3"] = rng.random() < 0.3
    return model


def config_of(model):
    if model["family"] == "gpt2":
        return {"model_type": "gpt2", "vocab_size": model["vocab"], "n_positions": model["context"],
                "n_embd": model["width"], "n_layer": model["layers"], "n_head": model["heads"],
                "n_inner": model["inner"], "layer_norm_epsilon": model["eps"]}
    config = {"model_type": "llama", "vocab_size": model["vocab"], "max_position_embeddings": model["context"],
              "hidden_size": model["width"], "num_hidden_layers": model["layers"],
              "intermediate_size": model["inner"], "num_attention_heads": model["heads"],
              "num_key_value_heads": model["groups"], "rms_norm_eps": model["eps"], "rope_theta": model["theta"],
              "tie_word_embeddings": model["tied"]}
    if model["llama3"]:
        config["rope_scaling"] = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                                  "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
    return config


def shapes_of(model):
    """{name in transformers: (shape, name in GGUF, order)}."""
    width, inner, kv = model["width"], model["inner"], model["groups"] * model["head"]
    matrices = {"c_attn": (width, 3 * width), "c_fc": (width, inner), "q_proj": (width, width), "k_proj": (kv, width),
                "v_proj": (kv, width), "o_proj": (width, width), "gate_proj": (inner, width), "up_proj": (inner, width),
                "down_proj": (width, inner), "wte": (model["vocab"], width), "wpe": (model["context"], width),
                "embed_tokens": (model["vocab"], width), "lm_head": (model["vocab"], width)}
    shapes = {}
    for stored, name, order in made.tensor_names(model["family"], model["layers"]):
        if name == "lm_head" and model["tied"]:
            continue
        last = name.rsplit(".", 1)[-1]
        shape = matrices.get(last, (width,))
        if last == "c_proj":
            shape = (inner, width) if ".mlp." in name else (width, width)
        shapes[name + ".weight"] = (shape, stored + ".weight", order)
        if model["family"] == "gpt2" and last not in ("wte", "wpe"):
            shapes[name + ".bias"] = (shape[-1:], stored + ".bias", order)
    return shapes


def values_of(model, rng):
    family = model["family"]
    keys = {"context_length": model["context"], "embedding_length": model["width"], "block_count": model["layers"],
            "feed_forward_length": model["inner"], "attention.head_count": model["heads"]}
    values = {"general.architecture": made.string(family), "general.name": made.string(f"model {rng.random()}")}
    values.update({f"{family}.{key}": made.integer(value) for key, value in keys.items()})
    if family == "llama":
        values["llama.attention.head_count_kv"] = made.integer(model["groups"])
        values["llama.rope.dimension_count"] = made.integer(model["head"])
        values["llama.rope.freq_base"] = made.number(model["theta"])
        values["llama.attention.layer_norm_rms_epsilon"] = made.number(model["eps"])
    else:
        values["gpt2.attention.layer_norm_epsilon"] = made.number(model["eps"])
    values["tokenizer.ggml.model"] = made.string("gpt2")
    values["tokenizer.ggml.tokens"] = made.strings([f"t{i}é" for i in range(model["vocab"])])
    values["tokenizer.ggml.token_type"] = made.integers([rng.choice([1, 3]) for _ in range(model["vocab"])])
    values["tokenizer.ggml.merges"] = made.strings(["a b", "c d"])
    values["tokenizer.chat_template"] = made.string("{% for m in messages %}{{ m }}{% endfor %}")
    return values


def rope_factors(model):
    """As convert_hf_to_gguf.py of llama.cpp."""
    factors = []
    for i in range(0, model["head"], 2):
        wavelength = 2 * np.pi * model["theta"] ** (i / model["head"])
        if wavelength < 8192 / 4:
            factors.append(1.0)
        elif wavelength > 8192:
            factors.append(8.0)
        else:
            smooth = (8192 / wavelength - 1) / 3
            factors.append(1 / ((1 - smooth) / 8 + smooth))
    return np.array(factors, np.float32)


# --- Files ------------------------------------------------------------------


def raw_tensor(kind, stored, rng):
    """Bytes of a tensor of that type; of a quantized one they are random."""
    if kind == 0:
        return stored.tobytes()
    if kind == 1:
        return stored.astype(np.float16).tobytes()
    if kind == 30:
        return (stored.view(np.uint32) >> 16).astype(np.uint16).tobytes()
    return made.random_blocks(kind, stored.shape, rng)


def write_gguf(path, model, weights, rng, quantized):
    """Returns {name in GGUF: (type, shape, bytes)}."""
    tensors = {}
    if model["llama3"]:
        factors = rope_factors(model)
        tensors["rope_freqs.weight"] = (0, factors.shape, factors.tobytes())
    for name, (_, gguf_name, order) in shapes_of(model).items():
        stored = made.to_gguf(weights[name], order, model)
        kinds = [kind for kind, (elements, _) in made.SIZES.items() if stored.shape[-1] % elements == 0]
        kind = rng.choice(kinds) if quantized and stored.ndim == 2 else 0
        tensors[gguf_name] = (kind, stored.shape, raw_tensor(kind, stored, rng))
    path.write_bytes(made.file_bytes(values_of(model, random.Random(7)), tensors, rng.choice([2, 3])))
    return tensors


def first_step(program, folder, data, *flags):
    """The first step's loss and gradient norm; the checkpoint has the initial weights."""
    metrics = folder.with_suffix(".jsonl")
    call(program, "--data", data, "--steps", 1, "--lr", 0, "--weight-decay", 0, "--save-dir", folder, "--metrics",
         metrics, "--progress", "none", *flags)
    step = json.loads(metrics.read_text().splitlines()[1])
    return step["loss"], step["grad_norm"]


def same_bits(ours, theirs, what):
    ours, theirs = np.ascontiguousarray(ours), np.ascontiguousarray(theirs)
    if ours.shape != theirs.shape or ours.tobytes() != theirs.tobytes():
        raise Wrong(f"{what} differs")


def check_dequantized(model, tensors, exported):
    for name, (shape, gguf_name, order) in shapes_of(model).items():
        kind, stored, raw = tensors[gguf_name]
        elements, size = made.SIZES[kind]
        rows = np.frombuffer(raw, np.uint8).reshape(*stored[:-1], stored[-1] // elements * size)
        values = dequantize(rows, gguf.GGMLQuantizationType(kind)).reshape(stored)
        # An update by nothing may change the sign of a zero.
        same_bits(exported[name] + 0, made.to_model(values, order, model).reshape(shape) + 0,
                  f"{name} ({made.NAMES[kind]})")


def check_export(path, source, model, weights, dtype):
    """The tensors and values of an export, as the package reads them."""
    kind = gguf.GGMLQuantizationType[dtype.upper()]
    theirs, ours = gguf.GGUFReader(source), gguf.GGUFReader(path)
    for key, field in theirs.fields.items():
        if key.startswith("GGUF."):
            continue
        if key not in ours.fields or ours.fields[key].contents() != field.contents():
            raise Wrong(f"key {key} differs in the export")
    stored = {tensor.name: tensor for tensor in ours.tensors}
    for name, (_, gguf_name, order) in shapes_of(model).items():
        tensor, weight = stored[gguf_name], made.to_gguf(weights[name], order, model)
        expected = kind
        if weight.ndim == 1 or gguf_name.startswith("position"):
            expected = gguf.GGMLQuantizationType.F32
        elif kind.name == "Q8_0" and weight.shape[-1] % 32:
            expected = gguf.GGMLQuantizationType.F16
        if tensor.tensor_type != expected:
            raise Wrong(f"{gguf_name} has type {tensor.tensor_type.name}, not {expected.name}")
        same_bits(np.asarray(tensor.data).view(np.uint8).ravel(), quantize(weight, expected).view(np.uint8).ravel(),
                  f"{gguf_name} in {dtype}")


def check(seed, folder):
    rng = random.Random(seed)
    model = draw_model(rng)
    numbers = np.random.default_rng(seed)
    weights = {name: (numbers.standard_normal(shape) * 0.2).astype(np.float32)
               for name, (shape, _, _) in shapes_of(model).items()}
    hub, plain, mixed, data = folder / "hub", folder / "plain.gguf", folder / "mixed.gguf", folder / "tokens.bin"
    hub.mkdir()
    (hub / "config.json").write_text(json.dumps(config_of(model)))
    write_safetensors(hub / "model.safetensors", weights)
    write_gguf(plain, model, weights, rng, quantized=False)
    tensors = write_gguf(mixed, model, weights, rng, quantized=True)
    count = 4 * model["context"] + 1
    data.write_bytes(struct.pack("<256i", 20240520, 1, count, *[0] * 253)
                     + numbers.integers(0, model["vocab"], count, dtype=np.uint16).tobytes())

    call("weft", "compile", hub, "-o", folder / "from-hub", "--batch", 4)
    call("weft", "compile", plain, "-o", folder / "from-gguf", "--batch", 4)
    expected = first_step(folder / "from-hub", folder / "a", data)
    if (got := first_step(folder / "from-gguf", folder / "b", data)) != expected:
        raise Wrong(f"loss and norm are {got} from GGUF, {expected} from safetensors")
    if gguf:
        first_step(folder / "from-gguf", folder / "c", data, "--init-from", mixed)
        call("weft", "ckpt", "export", folder / "c", folder / "c-hub")
        check_dequantized(model, tensors, read_safetensors(folder / "c-hub" / "model.safetensors"))
    for dtype in ("f32", "f16", "bf16", "q8_0"):
        out = folder / f"{dtype}.gguf"
        call("weft", "ckpt", "export", folder / "b", out, "--format", "gguf", "--dtype", dtype)
        if gguf:
            check_export(out, plain, model, weights, dtype)
    if (got := first_step(folder / "from-hub", folder / "d", data, "--init-from", folder / "f32.gguf")) != expected:
        raise Wrong(f"loss and norm are {got} from the export, {expected} from safetensors")


wrong = 0
for seed in args.seeds:
    folder = args.work.resolve() / f"seed-{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        check(seed, folder)
    except Wrong as error:
        wrong += 1
        print(f"seed {seed}: {error}")
    else:
        if not args.keep:
            shutil.rmtree(folder)
oracle = "with the package gguf" if gguf else "types not compared: the Python package gguf is not installed"
print(f"{len(args.seeds)} models, {wrong} wrong, {oracle}")
sys.exit(wrong > 0)
