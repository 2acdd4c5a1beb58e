#!/usr/bin/env python3
"""usage: same-runs.py losses A.jsonl B.jsonl | tensors A.safetensors B.safetensors

Two runs have the same losses, learning rates and norms in every step; two files
have the same tensors, in whatever order.
"""
import json
import struct
import sys


def losses(path):
    with open(path) as file:
        lines = [json.loads(line) for line in file]
    return [{key: line.get(key) for key in ("step", "loss", "lr", "grad_norm")}
            for line in lines if "loss" in line]


def tensors(path):
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    return {name: (info["dtype"], info["shape"],
                   data[8 + length + info["data_offsets"][0]:
                        8 + length + info["data_offsets"][1]])
            for name, info in header.items()}


kind, first, second = sys.argv[1:]
read = {"losses": losses, "tensors": tensors}[kind]
a, b = read(first), read(second)
if not a or a != b:
    sys.exit(f"same-runs.py: {first} and {second} differ")
