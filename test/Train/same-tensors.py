#!/usr/bin/env python3
"""usage: same-tensors.py STEP STEP [NAME...]

These tensors have the same bits in two checkpoints; without names all that the
first one has.
"""
import json
import os
import struct
import sys


def pieces(step):
    with open(os.path.join(step, "rank_00000.safetensors"), "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    return {name.split("[")[0]: data[8 + length + info["data_offsets"][0]:
                                     8 + length + info["data_offsets"][1]]
            for name, info in header.items()}


first, second = pieces(sys.argv[1]), pieces(sys.argv[2])
for name in sys.argv[3:] or first:
    if first[name] != second.get(name):
        sys.exit(f"same-tensors.py: {name} differs")
