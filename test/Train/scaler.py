#!/usr/bin/env python3
"""Runs a compiled program on one row and prints what a loss scale did.

usage: scaler.py EXE WORK --steps N [--x X,...] [--overflow 0,0,1] [--fault F]
                 [--every K] [--exit CODE] [--show NAME]... [--digits D]
                 [--expect FILE KEY] [--device] [-- FLAGS]

The data is one row of ones (or the rows X, one number each). --overflow puts an
infinity into the gradient of the first parameter at the steps with a 1; --fault
is a value of WEFT_FAULT. What is printed comes from metrics and checkpoints
(after every K-th step and the last; K = 1):

  used: loss scale of each step       skipped: 1 for skipped steps
  scale, tracker: after each step     NAME: all elements after each step

--expect takes the overflows of an object in a JSON file, in the gradients of its
parameters, and compares what is printed with the object's lists. --device is for
programs that have no --threads. Needs no numpy.
"""
import argparse
import json
import os
import shutil
import struct
import subprocess
import sys


def read_tensors(path):
    """The elements of every tensor of a rank file, by name."""
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    letters = {"F32": "f", "F64": "d", "I64": "q", "I32": "i", "F16": "e", "BF16": "H"}
    tensors = {}
    for name, info in header.items():
        begin, end = (8 + length + offset for offset in info["data_offsets"])
        letter = letters[info["dtype"]]
        count = (end - begin) // struct.calcsize(letter)
        key = name.split("[")[0]  # a piece NAME[begin:end)
        values = struct.unpack(f"<{count}{letter}", data[begin:end])
        if info["dtype"] == "BF16":  # the upper half of an f32
            values = [struct.unpack("<f", struct.pack("<I", v << 16))[0] for v in values]
        tensors[key] = values
    return tensors


def write_rows(path, rows):
    header = {"x": {"dtype": "F32", "shape": [len(rows), 1],
                    "data_offsets": [0, 4 * len(rows)]}}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.write(struct.pack(f"<{len(rows)}f", *rows))


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("exe")
    parser.add_argument("work")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--x", default="1")
    parser.add_argument("--overflow", default="")
    parser.add_argument("--fault", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--exit", type=int, default=0)
    parser.add_argument("--show", action="append", default=[])
    parser.add_argument("--expect", nargs=2, metavar=("FILE", "KEY"))
    parser.add_argument("--digits", type=int, default=6)
    parser.add_argument("--device", action="store_true")
    arguments = sys.argv[1:]
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser.parse_args(arguments[:end])
    options.flags = arguments[end + 1:]
    return options


def run(options, expected):
    """Trains in WORK; returns the metrics lines of the steps."""
    shutil.rmtree(options.work, ignore_errors=True)
    os.makedirs(options.work)
    rows = os.path.join(options.work, "rows.safetensors")
    write_rows(rows, [float(x) for x in options.x.split(",")])
    bad = [str(i + 1) for i, flag in enumerate(options.overflow.split(","))
           if flag == "1"]
    faults = [options.fault] if options.fault else []
    if bad:
        faults.append("num:inf@step=" + ",".join(bad))
    for name, overflows in zip(options.show, expected.get("overflows", [])):
        bad = [str(i + 1) for i, flag in enumerate(overflows) if flag]
        faults.append(f"num:inf@step={','.join(bad)},param=^{name}$")
    metrics = os.path.join(options.work, "metrics.jsonl")
    command = [os.path.abspath(options.exe), "--data", rows, "--no-shuffle", "--steps",
               str(options.steps), "--save-dir", os.path.join(options.work, "ck"),
               "--save-every", str(options.every), "--keep", "0", "--metrics", metrics,
               "--progress", "none", *([] if options.device else ["--threads", "1"]),
               *options.flags]
    result = subprocess.run(command, env=dict(os.environ, WEFT_FAULT=";".join(faults)),
                            stderr=subprocess.PIPE, text=True)
    print(result.stderr, end="")
    if result.returncode != options.exit:
        sys.exit(f"scaler.py: expects exit {options.exit}, but got {result.returncode}")
    with open(metrics) as file:
        lines = [json.loads(line) for line in file]
    return [line for line in lines if "loss_scale" in line]


def collect(options, lines):
    """Lists over the steps, by name."""
    lists = {"used": [line["loss_scale"] for line in lines],
             "skipped": [int(line["skipped"]) for line in lines]}
    for name in ["scale", "tracker", *options.show]:
        lists[name] = []
    saves = os.path.join(options.work, "ck")
    # A run that fails before its first step has no save directory.
    for step in sorted(os.listdir(saves) if os.path.isdir(saves) else []):
        tensors = read_tensors(os.path.join(saves, step, "rank_00000.safetensors"))
        if "loss_scale" in tensors:
            lists["scale"].append(tensors["loss_scale"][0])
        if "loss_scale.state" in tensors:
            lists["tracker"].append(tensors["loss_scale.state"][0])
        for name in options.show:
            lists[name].extend(tensors[name])
    return lists


def main():
    options = parse()
    expected = {}
    if options.expect:
        with open(options.expect[0]) as file:
            expected = json.load(file)[options.expect[1]]
        options.show = [name for name in expected["after"] if len(name) == 1]
    lists = collect(options, run(options, expected))
    for name, values in lists.items():
        if values and len(values) <= 64:
            print(f"{name}:", *(f"{value:.{options.digits}g}" for value in values))
    for name, values in expected.get("after", {}).items():
        got = lists[name]
        # Parameters are rounded in another order; all else is exact.
        bound = 1e-5 if name in options.show else 0
        if len(got) != len(values) or any(
                abs(a - b) > bound * max(1, abs(b)) for a, b in zip(got, values)):
            sys.exit(f"scaler.py: expects {name} {values}, but got {got}")
    if expected:
        print("as expected:", *expected["after"])


main()
