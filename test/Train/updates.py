#!/usr/bin/env python3
"""Steps of programs against the interpreter of their graphs.

usage: updates.py --work DIR --source DIR [--seeds A:B] [--steps N] [--model FILE] [--keep]

A program trains on one batch, again and again. weft-interp runs the same steps on the graph, where updates,
norms and scaler are ops, not formulas. Loss scales that are too large at first make steps overflow, which are
skipped. Step counters, loss scales and what their policies remember are the same numbers; parameters and moments
are within BOUNDS of the largest element; all states but gradients and working copies are in the checkpoint. Without
--seeds the cases are those of CASES, else random ones.
"""
import argparse
import json
import math
import pathlib
import random
import shutil
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / "campaigns" / "random-graphs")]
from graph import read_tensors  # noqa: E402

# Of the largest element: other orders of sums, and roundings to the type of the products.
BOUNDS = {"f32": 2e-5, "f16": 1e-2, "bf16": 5e-2}
SCALED = ["--precision", "f16", "--scaler-init", "268435456", "--scaler-interval", "3"]
NUMBERS = {"lr": 0.01, "weight_decay": 0.0, "beta1": 0.9, "beta2": 0.95, "eps": 1e-2, "momentum": 0.0, "max_norm": 0.0}
FLAGS = {"weight_decay": "weight-decay", "max_norm": "clip"}

# Name, compile flags, and numbers that differ from NUMBERS.
CASES = [
    ("adamw", [], {"weight_decay": 0.1}),
    ("adamw-clip", ["--clip-norm", "1"], {"max_norm": 0.5}),
    ("adam", ["--optimizer", "adam"], {"weight_decay": 0.1, "beta1": 0.3}),
    ("adam-bf16", ["--optimizer", "adam", "--precision", "bf16", "--master-weights", "off"], {}),
    ("sgd", ["--optimizer", "sgd", "--clip-norm", "inf"], {"momentum": 0.9, "max_norm": 0.5}),
    ("sgd-nesterov", ["--optimizer", "sgd", "--nesterov", "--clip-norm", "3", *SCALED],
     {"momentum": 0.9, "weight_decay": 0.01, "max_norm": 0.5}),
    ("adamw-torch", SCALED, {}),
    ("adamw-deepspeed", [*SCALED, "--scaler", "deepspeed", "--groups", "GROUPS"], {"max_norm": 1.0}),
    ("adam-mmcv", [*SCALED, "--scaler", "mmcv", "--optimizer", "adam", "--recipe", "llm"], {}),
    ("sgd-fused", [*SCALED, "--scaler", "deepspeed_fused", "--optimizer", "sgd"], {}),
    ("sgd-colossalai", [*SCALED, "--scaler", "colossalai", "--optimizer", "sgd"], {}),
]
GROUPS = """[[group]]
match = "bias$"
lr_scale = 2.0
weight_decay = 0.25
name = "biases"
"""


def call(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit {result.returncode}\n{result.stderr[-2000:]}")


def reads(optimizer, number):
    """Whether a run of the optimizer has a flag for the number."""
    return number in {"sgd": ("lr", "weight_decay", "momentum", "max_norm")}.get(optimizer, NUMBERS.keys() - {"momentum"})


def train(folder, data, numbers, steps):
    """The checkpoint of a program and how many of its steps were skipped."""
    flags = [word for name, value in numbers.items() for word in (f"--{FLAGS.get(name, name)}", str(value))]
    call(folder / "program", "--data", data, "--init-from", folder / "start.safetensors", "--steps", steps, *flags,
         "--no-shuffle", "--progress", "none", "--save-dir", folder / "run", "--metrics", folder / "run.jsonl")
    lines = [json.loads(line) for line in (folder / "run.jsonl").read_text().splitlines()]
    (path,) = (folder / "run").glob("step_*/*.safetensors")
    return read_tensors(path), sum(bool(line.get("skipped")) for line in lines if "loss" in line)


def interpret(folder, data, numbers, steps):
    """The states of the graph after the same steps."""
    sets = [word for name, value in numbers.items() for word in ("--set", f"{name}={value}")]
    call("weft-interp", folder / "graph.mlir", "--mode=f32", f"--steps={steps}", "--print=off", "--inputs", data, *sets,
         "--state", folder / "begin.safetensors", "--save-state", folder / "states.safetensors")
    return read_tensors(folder / "states.safetensors")


def find_difference(found, expected, bound):
    """The difference between a checkpoint and the interpreter, in words."""
    kept = {name for name in expected
            if not name.endswith((".grad", ".f16", ".bf16")) and not name.startswith("denominator.")}
    if found.keys() != kept:
        return f"not in both: {', '.join(sorted(found.keys() ^ kept))}"
    for name, got in found.items():
        want = expected[name]
        exact = name == "step" or name.startswith("loss_scale")
        limit = 0 if exact else bound * max(max(map(abs, want)), 1e-3)
        if len(got) != len(want) or not all(abs(x - y) <= limit for x, y in zip(got, want)):
            return f"{name}: {got[:3]}.. and {want[:3]}.., allowed {limit}"
    return ""


def compare(args, folder, compile_flags, numbers, data):
    """How many steps were skipped; an error if something is wrong."""
    precision = dict(zip(compile_flags, compile_flags[1:])).get("--precision", "f32")
    model = args.source / args.model
    call("weft", "compile", model, *compile_flags, "--to=working-copies", "-o", folder / "graph.mlir")
    call("weft", "compile", model, *compile_flags, "-o", folder / "program")
    # The same parameters for both, and for the interpreter all other states.
    call("weft", "compile", model, *compile_flags, "--to=import", "-o", folder / "model.mlir")
    for graph, states in (("model", "start"), ("graph", "begin")):
        call("weft-interp", folder / f"{graph}.mlir", "--inputs", data, "--print=off", "--save-state",
             folder / f"{states}.safetensors", *(["--program=init"] if graph == "graph" else []))
    begin = read_tensors(folder / "begin.safetensors")
    if any(begin[name] != values for name, values in read_tensors(folder / "start.safetensors").items()):
        raise RuntimeError("expects the same parameters")
    found, skipped = train(folder, data, numbers, args.steps)
    expected = interpret(folder, data, numbers, args.steps)
    difference = find_difference(found, expected, BOUNDS[precision])
    if difference:
        raise RuntimeError(difference)
    return skipped


def random_case(seed):
    dice = random.Random(seed)
    optimizer, precision = dice.choice(["adamw", "adam", "sgd"]), dice.choice(["f32", "f16", "bf16"])
    flags = ["--optimizer", optimizer, "--clip-norm", dice.choice(["1", "2", "3", "inf"]), "--precision", precision]
    if optimizer == "sgd" and dice.random() < 0.5:
        flags.append("--nesterov")
    if precision == "f16" or dice.random() < 0.5:
        flags += ["--loss-scale", "dynamic", "--scaler-init", str(2 ** dice.randrange(20, 40)),
                  "--scaler", dice.choice(["torch", "deepspeed", "mmcv", "deepspeed_fused", "colossalai"]),
                  "--scaler-interval", str(dice.randrange(1, 6)), "--scaler-growth", str(dice.choice([2, 1.5, 4])),
                  "--scaler-backoff", str(dice.choice([0.5, 0.3]))]
    else:
        flags += ["--loss-scale", "none"]
    if dice.random() < 0.5:
        flags += ["--groups", "GROUPS"]
    if precision == "bf16" and dice.random() < 0.3:
        flags += ["--master-weights", "off"]
    numbers = {"weight_decay": round(dice.choice([0, dice.random()]), 3), "momentum": round(dice.random(), 3),
               "beta1": round(dice.random(), 3), "beta2": dice.choice([0.999, round(dice.random(), 4)]),
               "max_norm": dice.choice([0.0, round(dice.random(), 3)])}
    return f"seed {seed}", flags, numbers


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--seeds")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--model", default="examples/mlp.mlir")
    parser.add_argument("--keep", action="store_true", help="the programs, to look at a failure")
    args = parser.parse_args()
    shutil.rmtree(args.work, ignore_errors=True)
    args.work.mkdir(parents=True)
    (args.work / "groups.toml").write_text(GROUPS)
    data = args.work / "digits.safetensors"
    call(sys.executable, args.source / "examples/make_mlp_data.py", data, "--rows", "32")
    cases = CASES
    if args.seeds:
        cases = [random_case(seed) for seed in range(*map(int, args.seeds.split(":")))]
    wrong = skips = 0
    for name, flags, changed in cases:
        folder = args.work / name.replace(" ", "-")
        folder.mkdir()
        optimizer = dict(zip(flags, flags[1:])).get("--optimizer", "adamw")
        numbers = {key: value for key, value in {**NUMBERS, **changed}.items() if reads(optimizer, key)}
        flags = [str(args.work / "groups.toml") if flag == "GROUPS" else flag for flag in flags]
        try:
            skipped = compare(args, folder, flags, numbers, data)
            skips += skipped
            print(f"{name}: {skipped} of {args.steps} steps skipped", flush=True)
            if not args.keep:
                shutil.rmtree(folder)
        except (RuntimeError, subprocess.TimeoutExpired) as failure:
            wrong += 1
            print(f"{name}: {failure}", flush=True)
    if not skips:
        print("expects steps that overflow, but got none")
    print(f"{len(cases)} programs, {wrong} wrong")
    sys.exit(1 if wrong or not skips or not cases else 0)


main()
