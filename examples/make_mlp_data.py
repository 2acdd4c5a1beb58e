#!/usr/bin/env python3
"""Writes a data file for examples/mlp.mlir: noisy 8 x 8 images of the digits.

usage: make_mlp_data.py OUT.safetensors [--rows N] [--seed S]

The file holds the inputs by name: image [N, 64] f32 in about [-1, 2] and label
[N] i32. Equal arguments give equal bytes; nothing beyond Python is needed.
"""
import argparse
import array
import json
import random
import struct
import sys

# Five columns by seven rows each.
GLYPHS = [
    "01110 10001 10011 10101 11001 10001 01110",
    "00100 01100 00100 00100 00100 00100 01110",
    "01110 10001 00001 00110 01000 10000 11111",
    "11110 00001 00001 01110 00001 00001 11110",
    "00010 00110 01010 10010 11111 00010 00010",
    "11111 10000 11110 00001 00001 10001 01110",
    "00110 01000 10000 11110 10001 10001 01110",
    "11111 00001 00010 00100 01000 01000 01000",
    "01110 10001 10001 01110 10001 10001 01110",
    "01110 10001 10001 01111 00001 00010 01100",
]


def draw(digit, rng):
    """One image: the glyph at a random place, random contrast, noise."""
    image = [rng.random() * 0.6 - 0.3 for _ in range(64)]
    top, left = int(rng.random() * 2), int(rng.random() * 4)
    ink = 0.7 + 0.6 * rng.random()
    for y, row in enumerate(GLYPHS[digit].split()):
        for x, dot in enumerate(row):
            if dot == "1":
                image[(top + y) * 8 + left + x] += ink
    return image


def make_rows(rows, seed):
    rng = random.Random(seed)
    images, labels = array.array("f"), array.array("i")
    for _ in range(rows):
        digit = int(rng.random() * 10)
        labels.append(digit)
        images.extend(draw(digit, rng))
    return images, labels


def write_file(path, images, labels):
    if sys.byteorder == "big":
        images.byteswap()
        labels.byteswap()
    rows, size = len(labels), 4 * len(images)
    header = json.dumps({
        "image": {"dtype": "F32", "shape": [rows, 64], "data_offsets": [0, size]},
        "label": {"dtype": "I32", "shape": [rows],
                  "data_offsets": [size, size + 4 * rows]},
    }).encode()
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(header)) + header)
        out.write(images.tobytes() + labels.tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out")
    parser.add_argument("--rows", type=int, default=1280)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if args.rows < 1:
        parser.error(f"--rows expects at least 1, but got {args.rows}")
    try:
        write_file(args.out, *make_rows(args.rows, args.seed))
    except OSError as error:
        sys.exit(f"make_mlp_data.py: error: {args.out}: {error.strerror}")


if __name__ == "__main__":
    main()
