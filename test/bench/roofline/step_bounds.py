#!/usr/bin/env python3
"""Counts bytes, commands and lower bounds of a training step of GPT-2 on a GPU, without one.

usage: step_bounds.py [--weft WEFT] [--rows amp llm fast] [--batch 32] [--seq 1024] [--names 12] [--json FILE] ...

Compiles the model (examples/gpt2-124m, dropout 0, f16) for each row: recipe amp, recipe llm, and recipe llm with
--numerics=fast. A row has the commands of a step; the bytes that commands outside products and attention read and
write, in 10^9 bytes; and the sum over all commands of the largest bound of each, in ms. --names lists the commands with
the largest bounds. Needs a CUDA toolkit and no GPU.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, HERE)

import bounds  # noqa: E402

ROWS = {"amp": ["--recipe=amp"], "llm": ["--recipe=llm"], "fast": ["--recipe=llm", "--numerics=fast"]}
DROPS = ("resid_pdrop", "embd_pdrop", "attn_pdrop")


def call(command):
    """The standard output of a command; ends this script if it fails."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except OSError as error:
        sys.exit(f"step_bounds.py: error: cannot start {command[0]}: {error.strerror}")
    if done.returncode != 0:
        sys.exit(f"{done.stderr}step_bounds.py: error: {' '.join(command)}: ended with {done.returncode}")
    return done.stdout


def write_model(source, folder):
    """config.json of the model in folder `source`, without dropout; the weights do not matter."""
    path = os.path.join(source, "config.json")
    try:
        with open(path) as file:
            config = json.load(file)
    except (OSError, ValueError) as error:
        sys.exit(f"step_bounds.py: error: expects the folder of a GPT-2, but got {path}: {error}")
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump({**config, **dict.fromkeys(DROPS, 0)}, file)


def count(row, options, work):
    """The sums of one row, from its program."""
    program = os.path.join(work, row)
    call([options.weft, "compile", work, "-o", program, f"--target={options.target}", "--precision=f16",
          f"--batch={options.batch}", f"--seq={options.seq}", *ROWS[row], *options.compile])
    commands = bounds.commands_of(json.loads(call([options.weft, "inspect", program, "--json"])))
    sums = bounds.summarise(commands, options.device, {})
    sums["largest"] = bounds.largest(commands, options.device, {}, options.names)
    return sums


def print_row(row, sums):
    shares = ", ".join(f"{name} {ms:.2f}" for name, ms in sums["by_bound_ms"].items())
    print(f"{row}: {sums['commands']} commands, {sums['bytes_outside'] / 1e9:.2f} GB outside products and attention, "
          f"bounds {sums['bound_ms']:.2f} ms ({shares})")
    for name in sums["largest"]:
        print(f"  {name['calls']:4} x {name['bound_ms']:7.3f} ms {name['limit']:8} {name['bytes'] / 1e9:8.3f} GB  "
              f"{name['name']}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", default="weft")
    parser.add_argument("--model", default=os.path.join(ROOT, "examples", "gpt2-124m"))
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=list(ROWS))
    parser.add_argument("--target", default="cuda:sm_90")
    parser.add_argument("--device", choices=bounds.DEVICES, default="h200", help="whose rates give the bounds")
    parser.add_argument("--batch", type=int, default=32, help="rows of a step")
    parser.add_argument("--seq", type=int, default=1024, help="tokens of a row")
    parser.add_argument("--names", type=int, default=0, help="names of commands to list in each row")
    parser.add_argument("--compile", action="append", default=[], metavar="FLAG",
                        help="a flag of weft compile, as --compile=--attention=cudnn")
    parser.add_argument("--json", help="a file for all numbers")
    return parser.parse_args()


def main():
    options = parse()
    results = {}
    with tempfile.TemporaryDirectory() as work:
        write_model(options.model, work)
        for row in options.rows:
            results[row] = count(row, options, work)
            print_row(row, results[row])
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
