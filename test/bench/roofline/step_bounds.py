#!/usr/bin/env python3
"""Counts bytes, commands and lower bounds of a training step of GPT-2 on a GPU, without one.

usage: step_bounds.py [--weft WEFT] [--rows amp llm fast] [--batch 32] [--seq 1024] [--names 12] [--nvdisasm PATH] ...

Compiles the model (examples/gpt2-124m, dropout 0, f16) for each row: recipe amp, recipe llm, and recipe llm with
--numerics=fast. A row has the commands of a step; the bytes that commands outside products and attention read and
write, in 10^9 bytes; and the sum over all commands of the largest bound of each, in ms. Then come the instructions of
threads per element of the loss (a logit), of GELU and of its gradient: counted in PTX, and in machine code where
NVIDIA's nvdisasm is at hand (in the CUDA toolkit, on PATH, or in the package nvidia-cuda-nvdisasm). --no-instructions
leaves out the bound of instructions, which takes most of the time. --names lists the commands with the largest bounds.
Needs a CUDA toolkit and no GPU.
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
import instructions  # noqa: E402

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


# Kernels of which instructions per element are printed, by what they are called.
CHOSEN = {"loss": lambda name: "cross_entropy" in name and not name.split()[1].endswith("x1"),
          "gelu": lambda name: name.startswith("gelu "),
          # Alone, or with the sum over its rows.
          "gelu_grad": lambda name: name.startswith(("gelu_grad ", "gelu_grad+"))}


def count_instructions(compile_command, program, meta, options, work, counter):
    """Adds the kernels of a program to `counter`."""
    text = os.path.join(work, "kernels.ptx")
    call([*compile_command, "-o", text, "--emit=ptx", "--overwrite"])
    chip = options.target.removeprefix("cuda:")
    code = instructions.disassemble(program, chip, options.nvdisasm, work, call) if options.nvdisasm else None
    with open(text) as file:
        counter.add(file.read(), code, meta["launches"])


def count(row, options, work, counter):
    """The sums of one row, from its program."""
    program = os.path.join(work, row)
    command = [options.weft, "compile", work, f"--target={options.target}", "--precision=f16",
               f"--batch={options.batch}", f"--seq={options.seq}", *ROWS[row], *options.compile]
    call([*command, "-o", program])
    meta = json.loads(call([options.weft, "inspect", program, "--json"]))
    if options.instructions:
        count_instructions(command, program, meta, options, work, counter)
    counts = os.path.join(work, "counts.json")
    with open(counts, "w") as file:
        json.dump(counter.issued(), file)
    roofline = json.loads(call([options.weft, "inspect", program, "--roofline", f"--device={options.device}",
                                f"--instructions={counts}", "--json"]))["roofline"]
    commands = roofline["commands"]
    sums = bounds.summarise(roofline)
    sums["largest"] = roofline["kinds"][:options.names]
    sums["per_element"] = {name: instructions.per_element(commands, counter.known, chosen)
                           for name, chosen in CHOSEN.items()}
    sums["kernels"] = {command["symbol"]: {"name": command["name"], **counter.known[command["symbol"]]}
                       for command in commands if command["symbol"] in counter.known}
    return sums


def print_row(row, sums):
    shares = ", ".join(f"{name} {ms:.2f}" for name, ms in sums["by_bound_ms"].items())
    print(f"{row}: {sums['commands']} commands, {sums['bytes_outside'] / 1e9:.2f} GB outside products and attention, "
          f"bounds {sums['bound_ms']:.2f} ms ({shares})")
    for name, counts in sums["per_element"].items():
        if counts:
            texts = ", ".join(f"{count:.2f} in {code.upper()}" for code, count in counts.items())
            print(f"  {name}: instructions per element {texts}")
    for kernel in sums["kernels"].values():
        if kernel["unknown"]:
            print(f"  {kernel['name']}: instructions unknown, {kernel['unknown']}")
    for name in sums["largest"]:
        print(f"  {name['calls']:4} x {name['bound_us'] / 1e3:7.3f} ms {name['limit']:8} {name['bytes'] / 1e9:8.3f} GB  "
              f"{name['name']}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", default="weft")
    parser.add_argument("--model", default=os.path.join(ROOT, "examples", "gpt2-124m"))
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=list(ROWS))
    parser.add_argument("--target", default="cuda:sm_90")
    parser.add_argument("--device", default="h200", help="whose rates give the bounds, as for weft inspect")
    parser.add_argument("--batch", type=int, default=32, help="rows of a step")
    parser.add_argument("--seq", type=int, default=1024, help="tokens of a row")
    parser.add_argument("--names", type=int, default=0, help="names of commands to list in each row")
    parser.add_argument("--nvdisasm", default=instructions.find_nvdisasm(), help="NVIDIA's disassembler")
    parser.add_argument("--no-instructions", dest="instructions", action="store_false",
                        help="bounds of arithmetic and memory alone")
    parser.add_argument("--compile", action="append", default=[], metavar="FLAG",
                        help="a flag of weft compile, as --compile=--attention=cudnn")
    parser.add_argument("--json", help="a file for all numbers")
    return parser.parse_args()


def main():
    options = parse()
    results, counter = {}, instructions.Counter()
    with tempfile.TemporaryDirectory() as work:
        write_model(options.model, work)
        for row in options.rows:
            results[row] = count(row, options, work, counter)
            print_row(row, results[row])
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
