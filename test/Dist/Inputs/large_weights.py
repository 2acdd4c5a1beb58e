"""Gives a model of the GPT-2 family weights of several blocks of a digest.

Usage: large_weights.py FOLDER, with config.json; writes model.safetensors.
"""
import json
import pathlib
import struct
import sys

WIDTH, LAYERS = 768, 2


def shapes():
    yield "wte.weight", [256, WIDTH]
    yield "wpe.weight", [64, WIDTH]
    for i in range(LAYERS):
        for norm in "ln_1", "ln_2":
            yield f"h.{i}.{norm}.weight", [WIDTH]
            yield f"h.{i}.{norm}.bias", [WIDTH]
        for name, rows, columns in ("attn.c_attn", 1, 3), ("attn.c_proj", 1, 1), ("mlp.c_fc", 1, 4), ("mlp.c_proj", 4, 1):
            yield f"h.{i}.{name}.weight", [rows * WIDTH, columns * WIDTH]
            yield f"h.{i}.{name}.bias", [columns * WIDTH]
    yield "ln_f.weight", [WIDTH]
    yield "ln_f.bias", [WIDTH]


def main():
    folder = pathlib.Path(sys.argv[1])
    config = json.loads((folder / "config.json").read_text())
    config.update(n_embd=WIDTH, n_layer=LAYERS, n_head=4, n_positions=64)
    (folder / "config.json").write_text(json.dumps(config))
    header, at = {}, 0
    for name, shape in shapes():
        size = 4
        for extent in shape:
            size *= extent
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    values = struct.pack("<4f", 0.01, -0.02, 0.015, -0.005) * 4096
    with open(folder / "model.safetensors", "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        while at > 0:
            file.write(values[:min(at, len(values))])
            at -= len(values)


main()
