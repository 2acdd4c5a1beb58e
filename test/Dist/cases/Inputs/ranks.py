"""Small programs of several ranks: what they train on, and what they leave.

A model is a file of MLIR text in which ROWS stands for the rows of a rank. Tensors
are (type, shape, values) by name, in safetensors. Needs no numpy.
"""
import argparse
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "..", "Inputs"))
from meshes import count_ranks, text_of

LETTERS = {"F32": "f", "F64": "d", "F16": "e", "I32": "i", "I64": "q", "U8": "B"}


def parse_case(flag):
    """The arguments `work`, an empty folder, `model`, and the flag, which is required."""
    parser = argparse.ArgumentParser()
    parser.add_argument("work")
    parser.add_argument("model")
    parser.add_argument(flag, required=True)
    args = parser.parse_args()
    shutil.rmtree(args.work, ignore_errors=True)
    os.makedirs(args.work)
    return args


def write_tensors(path, tensors):
    header, data = {}, b""
    for name, (dtype, shape, values) in tensors.items():
        piece = struct.pack(f"<{len(values)}{LETTERS[dtype]}", *values)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(piece)]}
        data += piece
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read_tensors(path):
    """The elements of every tensor of a file, by name."""
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    tensors = {}
    for name, info in json.loads(data[8:8 + length]).items():
        if name != "__metadata__":
            begin, end = (8 + length + offset for offset in info["data_offsets"])
            letter = LETTERS[info["dtype"]]
            count = (end - begin) // struct.calcsize(letter)
            tensors[name] = struct.unpack(f"<{count}{letter}", data[begin:end])
    return tensors


def read_step(folder):
    """The tensors of a checkpoint, put together of what each rank wrote."""
    pieces = {}
    for path in glob.glob(os.path.join(folder, "rank_*.safetensors")):
        for name, values in read_tensors(path).items():
            part = re.fullmatch(r"(.*)\[(\d+):\d+\)", name)
            key, begin = (part.group(1), int(part.group(2))) if part else (name, 0)
            pieces.setdefault(key, []).append((begin, values))
    return {name: sum((values for _, values in sorted(parts)), ()) for name, parts in pieces.items()}


def call(*command, environment=None, code=0):
    """Runs a command; returns its output on both streams."""
    result = subprocess.run([str(part) for part in command], env=dict(os.environ, **(environment or {})),
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != code:
        sys.exit(f"expects exit {code} of {' '.join(map(str, command))}, but got {result.returncode}:\n{result.stdout}")
    return result.stdout


def expect(wanted, found, what):
    if wanted != found:
        sys.exit(f"{what}: expects {wanted}, but got {found}")


def expect_close(wanted, found, tolerance, what):
    """Each number within the tolerance, relative to the largest of `wanted`."""
    bound = tolerance * max(map(abs, wanted))
    if len(wanted) != len(found) or not all(abs(a - b) <= bound for a, b in zip(wanted, found)):
        sys.exit(f"{what}: expects {wanted}, but got {found}")


class Program:
    """A model compiled for 4 ranks, or for "2x2", two replicas of two slices; one rank
    has no mesh."""

    def __init__(self, folder, model, mesh, stage, *flags, rows=1):
        os.makedirs(folder, exist_ok=True)
        self.ranks, self.path = int(count_ranks(str(mesh))), os.path.join(folder, f"w{mesh}.z{stage}")
        with open(model) as file:
            text = file.read().replace("ROWS", str(rows))
        source = self.path + ".mlir"
        with open(source, "w") as file:
            file.write(text)
        shared = [f"--mesh={text_of(str(mesh))}", f"--zero={stage}", "--shard-align=1"] if self.ranks > 1 else []
        call("weft", "compile", source, *shared, *flags, "-o", self.path)

    def train(self, name, data, *flags, fault="", code=0):
        return Run(self, name, data, flags, fault, code)


class Run:
    """A run that saves each step, and is there when it has ended."""

    def __init__(self, program, name, data, flags, fault, code):
        self.saves = f"{program.path}.{name}"
        if "--resume=auto" not in flags:
            shutil.rmtree(self.saves, ignore_errors=True)
        self.metrics_path = self.saves + ".jsonl"
        loopback = ["--loopback", program.ranks, "--check-replicas", 1] if program.ranks > 1 else []
        self.said = call(program.path, "--data", data, "--no-shuffle", *loopback, "--threads", 1, "--save-dir",
                         self.saves, "--save-every", 1, "--keep", 0, "--metrics", self.metrics_path, "--progress", "line", *flags,
                         environment={"WEFT_FAULT": fault}, code=code)

    def metrics(self, key):
        with open(self.metrics_path) as file:
            return [line[key] for line in map(json.loads, file) if "loss_scale" in line]

    def steps(self):
        """The contents of each checkpoint."""
        return [read_step(path) for path in sorted(glob.glob(os.path.join(self.saves, "step_*")))]

    def weights(self):
        """Those that an export of the newest checkpoint holds."""
        out = self.saves + ".export"
        shutil.rmtree(out, ignore_errors=True)
        call("weft", "ckpt", "export", self.saves, out)
        return read_tensors(os.path.join(out, "model.safetensors"))
