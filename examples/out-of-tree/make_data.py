#!/usr/bin/env python3
"""Writes rows for model.mlir: x [N, 4] and y [N, 1] = x0 x1 - x2 / 2, as f32.

usage: make_data.py OUT.safetensors [N]
"""
import array
import json
import random
import struct
import sys


def main():
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 256
    random.seed(1)
    x = [[random.uniform(-1, 1) for _ in range(4)] for _ in range(rows)]
    y = [a * b - c / 2 for a, b, c, _ in x]
    data = array.array("f", [v for row in x for v in row] + y).tobytes()
    header = json.dumps({
        "x": {"dtype": "F32", "shape": [rows, 4], "data_offsets": [0, 16 * rows]},
        "y": {"dtype": "F32", "shape": [rows, 1],
              "data_offsets": [16 * rows, 20 * rows]}}).encode()
    header += b" " * (-len(header) % 8)
    with open(sys.argv[1], "wb") as f:
        f.write(struct.pack("<Q", len(header)) + header + data)


main()
