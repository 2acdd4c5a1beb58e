#!/usr/bin/env python3
"""Ranks that ignore none, half or all of their targets train as one rank with all.

usage: ignored_targets.py FOLDER [--weighted] [--precision P] [--mesh 3] [--tolerance X]

A linear classifier on 12 rows a step, of which the first third of each step counts
all targets, the second every other one, and the third none. Losses and weights after
six steps of SGD are compared with those of one rank with 12 rows, and differ from
those of ranks without targets to ignore.
"""
import argparse
import json
import os
import random
import shutil
import struct
import subprocess

from meshes import count_ranks, text_of
from tensors import read_floats

STEPS, ROWS, FEATURES, CLASSES = 6, 12, 8, 5

MODEL = """module @classifier {{
  weft.param @fc.weight : tensor<5x8xf32> {{init = #weft.init<uniform, -0.5, 0.5>}}
  weft.param @fc.bias : tensor<5xf32> {{init = #weft.init<zeros>}}
  weft.program @model(%x: tensor<{rows}x8xf32> {{weft.input = "x"}}, %label: tensor<{rows}xi32> {{weft.input = "label"}})
      -> (tensor<f32> {{weft.output = "loss"}}) attributes {{kind = #weft.kind<model>}} {{
    %w = weft.read @fc.weight : tensor<5x8xf32>
    %b = weft.read @fc.bias : tensor<5xf32>
    %m = weft.matmul %x, %w {{transpose_rhs}} : tensor<{rows}x8xf32>, tensor<5x8xf32>
    %y = weft.add %m, %b : tensor<{rows}x5xf32>, tensor<5xf32>
    %k = weft.constant dense<[0.5, 1.0, 2.0, 3.0, 0.25]> : tensor<5xf32>
    %loss, %lse, %denom = weft.cross_entropy %y, %label {weight}: tensor<{rows}x5xf32>, tensor<{rows}xi32>
    weft.return %loss : tensor<f32>
  }}
}}
"""


def write_data(path, counts):
    """`counts(row)`: whether the row of a step counts."""
    rng = random.Random(5)
    rows = STEPS * ROWS
    x = [rng.gauss(0, 1) for _ in range(rows * FEATURES)]
    label = [rng.randrange(CLASSES) if counts(row % ROWS) else -100 for row in range(rows)]
    pieces = [struct.pack(f"<{len(x)}f", *x), struct.pack(f"<{rows}i", *label)]
    header = json.dumps({
        "x": {"dtype": "F32", "shape": [rows, FEATURES], "data_offsets": [0, len(pieces[0])]},
        "label": {"dtype": "I32", "shape": [rows],
                  "data_offsets": [len(pieces[0]), len(pieces[0]) + len(pieces[1])]}}).encode()
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + b"".join(pieces))


def train(args, mesh, data, name):
    """Losses and weights."""
    ranks = int(count_ranks(mesh))
    model, program = f"{args.folder}/{name}.mlir", f"{args.folder}/{name}"
    with open(model, "w") as file:
        file.write(MODEL.format(rows=ROWS // ranks, weight="weight %k : tensor<5xf32> " if args.weighted else ""))
    flags = [f"--mesh={text_of(mesh)}", "--zero=2"] if ranks > 1 else []
    subprocess.run(["weft", "compile", model, "--optimizer=sgd", f"--precision={args.precision}", *flags,
                    "-o", program], check=True)
    loopback = ["--loopback", str(ranks)] if ranks > 1 else []
    subprocess.run([program, "--data", data, "--steps", str(STEPS), "--lr", "0.5", "--no-shuffle", "--progress", "none",
                    *loopback,
                    "--metrics", program + ".jsonl", "--save-dir", program + ".saves"], check=True)
    subprocess.run(["weft", "ckpt", "export", program + ".saves", program + ".export"], check=True)
    with open(program + ".jsonl") as file:
        losses = [line["loss"] for line in map(json.loads, file) if "loss" in line]
    return losses, read_floats(program + ".export/model.safetensors")


def differ(first, second):
    """The largest difference, relative to the largest number of each tensor."""
    worst = max(abs(a - b) / abs(b) for a, b in zip(first[0], second[0]))
    for name, weights in second[1].items():
        scale = max(map(abs, weights))
        worst = max(worst, *(abs(a - b) / scale for a, b in zip(first[1][name], weights)))
    return worst


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--weighted", action="store_true")
    parser.add_argument("--precision", default="f32")
    parser.add_argument("--mesh", default="3")
    parser.add_argument("--tolerance", type=float, default=1e-5)
    args = parser.parse_args()
    shutil.rmtree(args.folder, ignore_errors=True)
    os.makedirs(args.folder)
    some, every = f"{args.folder}/some.safetensors", f"{args.folder}/every.safetensors"
    write_data(some, lambda row: row < ROWS // 3 or (row < 2 * ROWS // 3 and row % 2 == 0))
    write_data(every, lambda row: True)
    one = train(args, "1", some, "one")
    many = train(args, args.mesh, some, "many")
    if len(one[0]) != STEPS or not differ(many, one) <= args.tolerance:
        raise SystemExit(f"expects {one}, but got {many}")
    if differ(train(args, args.mesh, every, "every"), one) <= args.tolerance:
        raise SystemExit("expects ignored targets to change something")
    print(f"{count_ranks(args.mesh)} ranks train as one")


if __name__ == "__main__":
    main()
