"""Small programs and data for tests that run tools over a table of commands."""

import json
import os
import struct
import subprocess


def run(command, **options):
    """Runs a command quickly or fails: nothing here may wait for ever."""
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("timeout", 120)
    return subprocess.run(command, **options)


def must(command, **options):
    result = run(command, **options)
    if result.returncode != 0:
        raise SystemExit(f"{command}: {result.returncode}\n{result.stderr.decode()}")
    return result


def write_digits(path, rows=64):
    """Rows for examples/mlp.mlir."""
    header, offset = {}, 0
    for name, dtype, shape, size in (
        ("image", "F32", [rows, 64], rows * 64 * 4),
        ("label", "I32", [rows], rows * 4),
    ):
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + bytes(offset))


def make_programs(examples):
    """In the current folder: model.mlir and its program mlp, digits, a language
    model gpt with weights beside config.json, text, and checkpoints of both."""
    with open(os.path.join(examples, "mlp.mlir")) as source, open("model.mlir", "w") as out:
        out.write(source.read())
    write_digits("digits.safetensors")
    with open("text.txt", "w") as out:
        out.write("the quick brown fox jumps over the lazy dog\n" * 60)
    must(["weft", "compile", "model.mlir", "-o", "mlp"])
    must(["./mlp", "--data", "digits.safetensors", "--steps", "1", "--save-dir", "ck", "--threads", "1"])


def make_language_model(examples):
    os.makedirs("small", exist_ok=True)
    with open(os.path.join(examples, "gpt2-mini", "config.json")) as source:
        config = json.load(source)
    config.update(n_embd=16, n_head=2, n_layer=1, n_positions=16, vocab_size=256)
    with open("small/config.json", "w") as out:
        json.dump(config, out)
    must(["weft", "compile", "small", "--batch", "2", "--seq", "16", "-o", "first"])
    must(["./first", "--data", "text.txt", "--steps", "1", "--save-dir", "lm", "--threads", "1"])
    must(["weft", "ckpt", "export", "lm", "small"])
    must(["weft", "compile", "small", "--batch", "2", "--seq", "16", "-o", "gpt"])
