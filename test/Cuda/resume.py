#!/usr/bin/env python3
"""Checkpoints go from a program for a CUDA device to one for the CPU and back.

usage: resume.py BUILD WORK MODEL DATA [--precision P] [--compile FLAG]... [--run FLAG]...

Six steps in three programs, two steps each, in both orders: the losses are those
of the CPU's program alone, within the bounds of train.py. Then each program makes
a step of size 0 from a checkpoint of the other one, with moments that decay by
1e-10: no bit of a parameter changes, and moments by at most 1e-6 of their norm.
"""
import os
import subprocess
import sys

from train import BOUND, Case, compare, losses_of, parse


def train(case, program, saves, *flags):
    environment = case.device(1) if program == "cuda" else None
    case.run(program, "--save-dir", case.path(saves), *flags, environment=environment)


def check_still(case, program, start):
    """A step of `program` that changes next to nothing."""
    saves = f"{program}-still"
    train(case, program, saves, "--resume", case.path(start), "--stop-after", "1", "--lr=0",
          "--weight-decay=0", "--beta1=0.9999999999", "--beta2=0.9999999999")
    result = subprocess.run([case.weft, "ckpt", "diff", case.path(start), case.path(saves)],
                            capture_output=True, text=True)
    for line in result.stdout.splitlines():
        name, change = line.split(": ", 1)
        # A loss scale counts the step as well.
        if name in ("step", "rows read") or (
                name == "loss_scale.state" and change.startswith("1 of 3 ")
                and ", largest 1," in change):
            continue
        relative = float(change.split("relative ")[1])
        if not name.endswith((".exp_avg", ".exp_avg_sq")) or relative > 1e-6:
            sys.exit(f"{program} has not kept the checkpoint {start}: {line}")
    if result.returncode != 1 or "step: 2 against 3" not in result.stdout:
        sys.exit(f"expects another step, but got {result.stdout}{result.stderr}")


def main():
    options = parse(sys.argv[1:] + ["--steps", "6"])
    case = Case(options)
    case.compile_all()
    expected, _ = case.train("cpu", "alone")
    worst = 0.0
    for order in (("cuda", "cpu", "cuda"), ("cpu", "cuda", "cpu")):
        name = "-".join(order)
        metrics = name + ".jsonl"
        for program in order:
            train(case, program, name, "--stop-after", "2", "--resume", "auto",
                  "--metrics", case.path(metrics))
        losses = losses_of(case.path(metrics))
        worst = max(worst, compare(expected, losses, BOUND[options.precision]))
    check_still(case, "cuda", "cpu-cuda-cpu/step_00000002")
    check_still(case, "cpu", "cuda-cpu-cuda/step_00000002")
    print(f"6 steps in 2 orders, largest difference from the CPU {worst:.1e}")


if __name__ == "__main__":
    main()
