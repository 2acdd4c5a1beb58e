#!/usr/bin/env python3
"""Generated code for the ops of a training step has the bits of the routines.

usage: generated-updates.py --work DIR --source DIR [--seeds A:B] [--steps N] [--model FILE]

A program is compiled twice: as it is, and with the choice of a routine put on the ops
in KINDS, which are generated otherwise. Both train, with overflows
in some steps. Checkpoints are the same bits and metrics the same numbers; the
norm alone is another order of f64 sums, so it may differ in its last places and
a run with --clip within CLIP_BOUND. Without --seeds the cases are those of CASES, else
random ones.
"""
import argparse
import json
import math
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys

KINDS = {"adamw": "optimizer", "adam": "optimizer", "sgd": "optimizer", "step_increment": "step_increment",
         "clip_coefficient": "clip_coefficient", "total_norm": "total_norm", "scaler_update": "scaler_update",
         "norm_and_check": "norm_and_check"}
CLAIMED = re.compile(r"= weft\.(" + "|".join(KINDS) + r")\b")
NORM_BOUND = 1e-14
CLIP_BOUND = 1e-6
SCALED = ["--precision", "f16", "--scaler-init", "65536", "--scaler-interval", "3"]
OVERFLOWS = "num:inf@step=4;num:nan@step=5;num:inf@step=13"

# Name, compile flags, run flags, fault.
CASES = [
    ("adamw", [], [], ""),
    ("adamw-clip", ["--clip-norm", "1"], ["--clip", "0.5"], ""),
    ("adam", ["--optimizer", "adam"], ["--weight-decay", "0.1", "--beta1", "0.3"], ""),
    ("adam-bf16", ["--optimizer", "adam", "--precision", "bf16", "--master-weights", "off"], [], ""),
    ("sgd", ["--optimizer", "sgd", "--clip-norm", "inf"], ["--momentum", "0.9", "--clip", "0.5"], ""),
    ("sgd-nesterov", ["--optimizer", "sgd", "--nesterov", "--clip-norm", "3", *SCALED],
     ["--momentum", "0.9", "--weight-decay", "0.01", "--clip", "0.5"], OVERFLOWS),
    ("adamw-torch", SCALED, [], OVERFLOWS),
    ("adamw-deepspeed", [*SCALED, "--scaler", "deepspeed", "--groups", "GROUPS"], ["--clip", "1"], OVERFLOWS),
    ("adam-mmcv", [*SCALED, "--scaler", "mmcv", "--optimizer", "adam", "--recipe", "llm"], [], OVERFLOWS),
    ("sgd-fused", [*SCALED, "--scaler", "deepspeed_fused", "--optimizer", "sgd"], [], OVERFLOWS),
    ("sgd-colossalai", [*SCALED, "--scaler", "colossalai", "--optimizer", "sgd"], [], OVERFLOWS),
]
GROUPS = """[[group]]
match = "bias$"
lr_scale = 2.0
weight_decay = 0.25
name = "biases"
"""


def call(*command, env=None):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300, env=env)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit {result.returncode}\n{result.stderr[-2000:]}")
    return result.stdout


def claim(line):
    """A line of the dump with the choice of a routine for an op in KINDS."""
    found = CLAIMED.search(line)
    if not found:
        return line
    impl = f'weft.impl = "{KINDS[found[1]]}"'
    head, types, tail = line.partition(" : ")
    brace = line.find("{")
    if 0 <= brace:
        return f"{line[:brace + 1]}{impl}, {line[brace + 1:]}"
    return f"{head} {{{impl}}}{types}{tail}"


def compile_both(model, flags, folder):
    dump, edited = folder / "generated.mlir", folder / "claimed.mlir"
    call("weft", "compile", model, *flags, "--to=select-kernels", "-o", dump)
    edited.write_text("\n".join(claim(line) for line in dump.read_text().split("\n")))
    for path in (dump, edited):
        call("weft", "compile", path, "--from=select-kernels", "-o", path.with_suffix(""))
    plans = [call("weft", "compile", path, "--from=select-kernels", "--emit=plan", "-o", "-") for path in (dump, edited)]
    for kind in set(KINDS.values()):
        if f"plan.{kind} " in plans[0]:
            raise RuntimeError(f"expects generated code alone, but got plan.{kind}")
        if f"weft.impl = \"{kind}\"" in edited.read_text() and f"plan.{kind} " not in plans[1]:
            raise RuntimeError(f"expects plan.{kind} beside generated code, but got none")


def train(folder, program, data, flags, fault, steps):
    call(folder / program, "--data", data, "--lr", "0.01", "--steps", steps, "--progress", "none", "--save-dir",
         folder / f"{program}.ckpt", "--metrics", folder / f"{program}.jsonl", *flags,
         env=dict(os.environ, WEFT_FAULT=fault))
    lines = [json.loads(line) for line in (folder / f"{program}.jsonl").read_text().splitlines()]
    return [line for line in lines if "loss" in line]


def is_near(x, y, bound):
    if x is None or y is None or not (math.isfinite(x) and math.isfinite(y)):
        return str(x) == str(y)
    return abs(x - y) <= bound * max(abs(x), abs(y))


def read_tensors(folder):
    """The tensors of a checkpoint as bytes, by name."""
    (path,) = folder.glob("step_*/*.safetensors")
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    return {name: (info["dtype"], data[slice(*(8 + length + at for at in info["data_offsets"]))])
            for name, info in header.items()}


def find_difference(first, second, bound):
    """What two checkpoints do not agree on, in words."""
    a, b = read_tensors(first), read_tensors(second)
    if a.keys() != b.keys() or not a:
        return "the names of tensors"
    for name, (kind, data) in a.items():
        if data == b[name][1]:
            continue
        if not bound or kind != "F32":
            return f"the bits of {name}"
        numbers = [struct.unpack(f"<{len(data) // 4}f", bits) for bits in (data, b[name][1])]
        largest = max(map(abs, numbers[0]))
        if not all(abs(x - y) <= bound * largest for x, y in zip(*numbers)):
            return f"{name} by more than {bound}"
    return ""


def compare(folder, flags, data, fault, steps):
    """Whether all bits are the same; an error if too much is not."""
    bound = CLIP_BOUND if "--clip" in flags else 0
    runs = [train(folder, name, data, flags, fault, steps) for name in ("claimed", "generated")]
    if len(runs[0]) != len(runs[1]) or not runs[0]:
        raise RuntimeError("expects as many steps of both")
    for a, b in zip(*runs):
        for key, limit in (("loss", bound), ("grad_norm", bound or NORM_BOUND), ("loss_scale", 0), ("skipped", 0)):
            if not is_near(a.get(key), b.get(key), limit):
                raise RuntimeError(f"step {a['step']}: {key} is {a.get(key)!r}, generated {b.get(key)!r}")
    first, second = folder / "claimed.ckpt", folder / "generated.ckpt"
    difference = find_difference(first, second, bound)
    if difference:
        raise RuntimeError(f"they differ in {difference}")
    return not find_difference(first, second, 0)


def random_case(seed):
    dice = random.Random(seed)
    optimizer = dice.choice(["adamw", "adam", "sgd"])
    precision = dice.choice(["f32", "f16", "bf16"])
    compile_flags = ["--optimizer", optimizer, "--clip-norm", dice.choice(["1", "2", "3", "inf"]),
                     "--precision", precision]
    if optimizer == "sgd" and dice.random() < 0.5:
        compile_flags.append("--nesterov")
    if dice.random() < 0.6:
        compile_flags += ["--loss-scale", "dynamic", "--scaler-init", str(2 ** dice.randrange(4, 17)),
                          "--scaler", dice.choice(["torch", "deepspeed", "mmcv", "deepspeed_fused", "colossalai"]),
                          "--scaler-interval", str(dice.randrange(1, 6)),
                          "--scaler-growth", str(dice.choice([2, 1.5, 4])),
                          "--scaler-backoff", str(dice.choice([0.5, 0.3]))]
        fault = ";".join(f"num:{dice.choice(['inf', 'nan'])}@step={dice.randrange(1, 20)}" for _ in range(3))
    else:
        compile_flags += ["--loss-scale", "none"]
        fault = ""
    if dice.random() < 0.5:
        compile_flags += ["--groups", "GROUPS"]
    if precision == "bf16" and dice.random() < 0.3:
        compile_flags += ["--master-weights", "off"]
    flags = ["--weight-decay", f"{dice.choice([0, dice.random()]):.3f}", "--accum", str(dice.randrange(1, 4))]
    if optimizer == "sgd":
        flags += ["--momentum", f"{dice.choice([0, dice.random()]):.3f}"]
    else:
        flags += ["--beta1", f"{dice.random():.3f}", "--beta2", f"{dice.choice([0.999, dice.random()]):.4f}",
                  "--eps", str(dice.choice([1e-8, 1e-4]))]
    if dice.random() < 0.4:
        flags += ["--clip", f"{dice.random():.3f}"]
    return f"seed {seed}", compile_flags, flags, fault


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--seeds")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--model", default="examples/mlp.mlir")
    args = parser.parse_args()
    shutil.rmtree(args.work, ignore_errors=True)
    args.work.mkdir(parents=True)
    (args.work / "groups.toml").write_text(GROUPS)
    call(sys.executable, args.source / "examples/make_mlp_data.py", args.work / "digits.safetensors", "--rows", "256")
    cases = CASES
    if args.seeds:
        cases = [random_case(seed) for seed in range(*map(int, args.seeds.split(":")))]
    wrong = 0
    for name, compile_flags, flags, fault in cases:
        folder = args.work / name.replace(" ", "-")
        folder.mkdir()
        compile_flags = [str(args.work / "groups.toml") if flag == "GROUPS" else flag for flag in compile_flags]
        try:
            compile_both(args.source / args.model, compile_flags, folder)
            same = compare(folder, flags, args.work / "digits.safetensors", fault, args.steps)
            print(f"{name}: {'the same bits' if same else 'within the bound'}", flush=True)
            shutil.rmtree(folder)
        except (RuntimeError, subprocess.TimeoutExpired) as failure:
            wrong += 1
            print(f"{name}: {failure}", flush=True)
    print(f"{len(cases)} programs, {wrong} wrong")
    sys.exit(1 if wrong or not cases else 0)


main()
