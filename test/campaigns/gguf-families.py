"""Small models of each family as GGUF files that weft writes and reads.

A seed draws a family and a configuration (family_options.py), and trains two steps so that no weight is 0 or 1. The
first configuration of each family and two of three others are changed into one that the architecture expresses. Then

- `weft ckpt export --format gguf` writes the model, or refuses a configuration that the architecture cannot express;
- the program of the file has the loss and the gradient norm of the program of config.json with the same weights: to the
  bit, or to 1e-5 where 1 is added to norms;
- the tensors have the names of the Python package gguf and the order of llama.cpp's converter.

Without the package gguf the last comparison is left out. The last line counts what was written.

Usage: gguf-families.py --work DIR [--seeds A:B] [--family NAME] [--keep]
"""
import argparse
import collections
import json
import pathlib
import random
import shutil
import struct
import subprocess
import sys

import numpy as np

import gguf_bytes as made
from family_options import BATCH, OPTIONS, SEQ, build, head_width, refused
from seeds import seed_range

try:
    import gguf
except ImportError:
    gguf = None

parser = argparse.ArgumentParser()
parser.add_argument("--work", type=pathlib.Path, required=True)
parser.add_argument("--seeds", default="0:17", type=seed_range)
parser.add_argument("--family", choices=sorted(OPTIONS))
parser.add_argument("--verbose", action="store_true", help="print why models are refused")
parser.add_argument("--keep", action="store_true", help="files of cases that passed, too")
args = parser.parse_args()

ARCHITECTURES = {"mistral": "llama", "gemma3_text": "gemma3", "gpt_neox": "gptneox", "phi": "phi2"}
WITHOUT_ARCHITECTURE = ("opt", "stablelm")
INTERLEAVED = ("llama", "mistral", "granite", "smollm3")
# Parts of the messages about configurations that have no place in the file.
REFUSALS = ("has no place for another", "expects a family with a GGUF architecture", "has no tensor for")


class Wrong(Exception):
    pass


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=600,
                          errors="replace")


def call(*command):
    result = run(*command)
    if result.returncode:
        raise Wrong(f"exit {result.returncode} of {' '.join(map(str, command))}:\n{result.stderr[-2000:]}")


def configuration(draw, family):
    while True:
        config = build(family, {name: draw.choice(values) for name, values in OPTIONS[family].items()})
        if family == "gpt2":  # a file has no dropout: both sides have the default
            config = {name: value for name, value in config.items() if not name.endswith("_pdrop")}
        if not refused(family, config):
            return config


# Fields that no key has: of all families, and of one.
PLAIN = ("hidden_act", "hidden_activation", "activation_function", "scale_attn_weights", "scale_attn_by_inverse_layer_idx",
         "use_sliding_window", "max_window_layers", "no_rope_layers", "no_rope_layer_interval", "use_bias")
BIASED = ("llama", "granite", "smollm3")


def scaling_type(config):
    scale = config.get("rope_scaling") or config.get("rope_parameters") or {}
    return scale.get("rope_type") or scale.get("type") or scale.get("full_attention", {}).get("rope_type", "default")


def express(family, config):
    """The nearest configuration that a file expresses."""
    config = {name: value for name, value in config.items() if name not in PLAIN}
    if family not in BIASED:
        config.pop("attention_bias", None)
    if family in ("gemma", "gemma2"):
        config.pop("tie_word_embeddings", None)
    known = {"default", "linear", "yarn"} | ({"llama3"} if family in ("llama", "mistral") else set())
    if family == "phi3":
        known = {"default", "longrope"}
    scale = config.get("rope_scaling") or {}
    if scaling_type(config) not in known or (family != "phi3" and scale.get("truncate") is False):
        config.pop("rope_scaling", None)
    elif family == "phi3":
        scale.pop("factor", None)
    if family in ("gemma2", "gemma3_text"):
        config["query_pre_attn_scalar"] = head_width(config)
        if config.get("layer_types"):  # every second or third layer sees all tokens
            period = 2 + len(config["layer_types"]) % 2
            config["layer_types"] = ["full_attention" if (i + 1) % period == 0 else "sliding_attention"
                                     for i in range(config["num_hidden_layers"])]
    elif "layer_types" in config:
        del config["layer_types"]
    if family == "gemma2":
        config = {name: value for name, value in config.items() if value is not None or "softcapping" not in name}
    if family not in ("gemma2", "gemma3_text", "phi3"):
        config.pop("sliding_window", None)
    if family == "mistral":
        config["sliding_window"] = None
    return config


def first_step(program, folder, data, *flags):
    metrics = folder.with_suffix(".jsonl")
    call(program, "--data", data, "--steps", 1, "--lr", 0, "--weight-decay", 0, "--metrics", metrics, "--progress",
         "none", *flags)
    step = json.loads(metrics.read_text().splitlines()[1])
    return step["loss"], step["grad_norm"]


def read_safetensors(path):
    raw = path.read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8:8 + size])
    header.pop("__metadata__", None)
    return {name: np.frombuffer(raw[8 + size:][slice(*entry["data_offsets"])], np.float32).reshape(entry["shape"])
            for name, entry in header.items()}


def group_heads(weight, heads):
    """Query, key and value of all heads in place of those of each head."""
    return weight.reshape(heads, 3, -1, *weight.shape[1:]).swapaxes(0, 1).reshape(weight.shape)


def stored_order(family, name, weight, config):
    heads = config.get("n_head") or config.get("num_attention_heads")
    if family in INTERLEAVED and ".q_proj." in name:
        return made.interleave(weight, heads)
    if family in INTERLEAVED and ".k_proj." in name:
        return made.interleave(weight, weight.shape[0] // head_width(config))
    if family == "gpt_neox" and ".query_key_value." in name:
        return group_heads(weight, heads)
    if family == "gpt2" and ".c_" in name and weight.ndim == 2:
        return np.ascontiguousarray(weight.T)
    return weight + np.float32(1) if family.startswith("gemma") and name.endswith("norm.weight") else weight


def check_tensors(path, family, config, weights):
    reader = gguf.GGUFReader(path)
    stored = {tensor.name: tensor for tensor in reader.tensors}
    kind = {name: kind for kind, name in gguf.MODEL_ARCH_NAMES.items()}[ARCHITECTURES.get(family, family)]
    names = gguf.get_tensor_name_map(kind, config.get("n_layer") or config["num_hidden_layers"])
    for name, weight in weights.items():
        stem, ending = name.rsplit(".", 1)
        tensor = stored.pop(f"{names.get_name(stem)}.{ending}", None)
        if tensor is None:
            raise Wrong(f"no tensor of {name}")
        expected = np.ascontiguousarray(stored_order(family, name, weight, config))
        if np.asarray(tensor.data).view(np.uint8).tobytes() != expected.tobytes():
            raise Wrong(f"{tensor.name} differs from {name}")
    if extra := set(stored) - {"rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"}:
        raise Wrong(f"unknown tensors {sorted(extra)}")


def check(seed, folder, written):
    draw = random.Random(seed)
    families = [args.family] if args.family else sorted(OPTIONS)
    family = families[seed % len(families)]
    config = configuration(draw, family)
    is_first = seed < len(families)
    expressed = family not in WITHOUT_ARCHITECTURE and (draw.random() < 0.67 or is_first)
    if expressed:
        config = express(family, config)
    hub, data, file = folder / "hub", folder / "tokens.bin", folder / "m.gguf"
    (folder / "config").mkdir()
    (folder / "config" / "config.json").write_text(json.dumps(config, indent=1))
    numbers, count = np.random.default_rng(seed), 4 * BATCH * SEQ + 1
    data.write_bytes(struct.pack("<256i", 20240520, 1, count, *[0] * 253)
                     + numbers.integers(8, config["vocab_size"], count, dtype=np.uint16).tobytes())
    sizes = ["--batch", BATCH, "--seq", min(SEQ, config.get("max_position_embeddings", SEQ))]
    call("weft", "compile", folder / "config", "-o", folder / "from-hub", *sizes)
    call(folder / "from-hub", "--data", data, "--steps", 2, "--lr", 0.02, "--save-dir", folder / "run", "--progress",
         "none")
    call("weft", "ckpt", "export", folder / "run", hub)
    export = run("weft", "ckpt", "export", folder / "run", file, "--format", "gguf")
    if export.returncode:
        if expressed or export.returncode != 3 or not any(text in export.stderr for text in REFUSALS) or file.exists():
            raise Wrong(f"{family}: export: exit {export.returncode}: {export.stderr}")
        if args.verbose:
            print(f"seed {seed}: {family}: {export.stderr.splitlines()[0]}")
        return
    written[family] += 1
    call("weft", "compile", file, "-o", folder / "from-gguf", *sizes)
    ours = first_step(folder / "from-gguf", folder / "a", data)
    theirs = first_step(folder / "from-hub", folder / "b", data, "--init-from", hub)
    bound = 1e-5 if family.startswith("gemma") else 0
    if any(abs(x - y) > bound * abs(y) for x, y in zip(ours, theirs)):
        raise Wrong(f"{family}: loss and norm are {ours} from GGUF, {theirs} from safetensors")
    if gguf:
        check_tensors(file, family, config, read_safetensors(hub / "model.safetensors"))


wrong, written = 0, collections.Counter()
for seed in args.seeds:
    folder = args.work.resolve() / f"seed-{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        check(seed, folder, written)
    except Wrong as error:
        wrong += 1
        print(f"seed {seed}: {error}")
    else:
        if not args.keep:
            shutil.rmtree(folder)
print("written:", " ".join(f"{family} {count}" for family, count in sorted(written.items())))
oracle = "with the package gguf" if gguf else "names not compared: the Python package gguf is not installed"
print(f"{len(args.seeds)} models, {wrong} wrong, {oracle}")
sys.exit(wrong > 0)
