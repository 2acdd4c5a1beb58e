"""Trains steps of which no target of a class loss counts, and prints what came of them.

usage: empty_terms.py WORK MODEL TARGET [COMPILE FLAG...]

All class targets are TARGET. Prints the warnings, the metrics of a step, and for each gradient whether it is zero, other
finite numbers or not finite.
"""
import json
import math
import pathlib
import random
import struct
import subprocess
import sys

work, model, target, flags = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4:]
work.mkdir(parents=True, exist_ok=True)
ROWS = 8


def write(path, tensors):
    header, body = {}, b""
    for name, (kind, shape, raw) in tensors.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def floats(dice, *shape):
    count = math.prod(shape)
    return "F32", list(shape), struct.pack(f"<{count}f", *(dice.uniform(-1, 1) for _ in range(count)))


def read(path):
    raw = path.read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    for name, entry in sorted(json.loads(raw[8:8 + size]).items()):
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            yield name, struct.unpack(f"<{(end - begin) // 4}f", raw[8 + size + begin:8 + size + end])


def call(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    print(done.stderr, end="")
    if done.returncode:
        sys.exit(f"exit {done.returncode}")


def describe(values):
    if not all(map(math.isfinite, values)):
        return "not finite"
    return "numbers" if any(values) else "zeros"


dice = random.Random(1)
rows = {"x": floats(dice, ROWS, 3), "value": floats(dice, ROWS, 2),
        "label": ("I32", [ROWS], struct.pack(f"<{ROWS}i", *[target] * ROWS))}
write(work / "rows.safetensors", rows)
call("weft", "compile", model, *flags, "-o", work / "program")
call(work / "program", "--data", work / "rows.safetensors", "--steps=2", "--metrics", work / "m", "--dump-grads", work / "g",
     "--progress=none")
for line in map(json.loads, (work / "m").read_text().splitlines()):
    if "loss" in line:
        losses = {name: value is not None for name, value in line.get("losses", {}).items()}
        print(f"step {line['step']}: loss {'null' if line['loss'] is None else 'known'}, losses known {losses}, "
              f"skipped {line.get('skipped', False)}")
for name, values in read(work / "g"):
    print(f"gradient of {name}: {describe(values)}")
