#!/usr/bin/env python3
"""decode_chain.py MODULE BOUND [--mode=f32]: compares decode with prefill in weft-interp.

MODULE has the programs prefill and decode. prefill reads the first 3 tokens of a random window, decode the tokens
behind them, one after the other, from the cache that was written before. At each position the logits of decode must be
within BOUND, relative to the largest logit, of the logits of prefill, which computes the whole window. Logits of decode
from the cache of another window must be further away, or the bound would prove nothing.
Prints `N positions, largest difference D`.
"""
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

PROMPT = 3
FORMATS = {"F16": "e", "F32": "f", "F64": "d"}


def save(path, tensors):
    """Writes i32 tensors, pairs of a shape and a list of numbers by name, as safetensors."""
    header, data = {}, b""
    for name, (shape, numbers) in tensors.items():
        end = len(data) + 4 * len(numbers)
        header[name] = {"dtype": "I32", "shape": shape, "data_offsets": [len(data), end]}
        data += struct.pack(f"<{len(numbers)}i", *numbers)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def numbers_of(dtype, data):
    if dtype == "BF16":  # the upper half of an f32
        dtype, data = "F32", b"".join(b"\0\0" + data[i:i + 2] for i in range(0, len(data), 2))
    return [number for number, in struct.iter_unpack("<" + FORMATS[dtype], data)]


def read_logits(path):
    with open(path, "rb") as file:
        content = file.read()
    size = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + size])
    (entry,) = [value for name, value in header.items() if name.split("/")[-1] == "logits"]
    begin, end = entry["data_offsets"]
    return numbers_of(entry["dtype"], content[8 + size + begin:8 + size + end])


class Chain:
    def __init__(self, module, flags, folder):
        self.module, self.flags, self.folder = module, flags, folder

    def file(self, name):
        return os.path.join(self.folder, name)

    def run(self, program, tokens, position, state, after):
        """The logits of one run that begins with the state `state` and writes the state `after`."""
        save(self.file("inputs"), {"tokens": ([1, len(tokens)], tokens), "position": ([1], [position])})
        subprocess.run(["weft-interp", self.module, "--program", program, "--inputs", self.file("inputs"), "--state",
                        state, "--outputs", self.file("outputs"), "--save-state", self.file(after), "--overwrite",
                        "--print=off", *self.flags], check=True)
        return read_logits(self.file("outputs"))

    def first_state(self):
        """Initial weights, from the program init if the module has one."""
        if "@init(" not in open(self.module).read():
            return "init:1"
        subprocess.run(["weft-interp", self.module, "--program", "init", "--set", "seed=1", "--save-state",
                        self.file("first"), "--print=off"], check=True)
        return self.file("first")


def difference(left, right):
    return max(abs(a - b) for a, b in zip(left, right)) / max(map(abs, right))


def main():
    module, bound, flags = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
    window = int(re.search(r"@prefill\(%\w+: tensor<1x(\d+)xi32>", open(module).read()).group(1))
    draw = random.Random(7)
    tokens, other = ([draw.randrange(4) for _ in range(window)] for _ in range(2))
    worst, least = 0.0, float("inf")
    with tempfile.TemporaryDirectory() as folder:
        chain = Chain(module, flags, folder)
        first = chain.first_state()
        chain.run("prefill", tokens, PROMPT - 1, first, "cache")
        chain.run("prefill", other, window - 1, first, "other")
        for at in range(PROMPT, window):
            expected = chain.run("prefill", tokens, at, first, "unused")
            found = chain.run("decode", [tokens[at]], at, chain.file("cache"), "next")
            wrong = chain.run("decode", [tokens[at]], at, chain.file("other"), "unused")
            os.replace(chain.file("next"), chain.file("cache"))
            worst, least = max(worst, difference(found, expected)), min(least, difference(wrong, expected))
    print(f"{window - PROMPT} positions, largest difference {worst:.3g}")
    if worst > bound or least <= bound:
        sys.exit(f"expects differences of at most {bound:g} and, with the cache of another window, of more than that, "
                 f"but got {worst:.3g} and {least:.3g}")


if __name__ == "__main__":
    main()
