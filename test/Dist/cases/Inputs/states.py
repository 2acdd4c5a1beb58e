#!/usr/bin/env python3
"""Takes a run through programs of other ranks and stages: all states have the same bits.

usage: states.py WORK MODEL --chain 1:0,4:3,...

Each program of the chain trains two steps of Adam under a loss scale, the fourth of
which is skipped, from the checkpoint of the one before it. All ranks read the same
row, so that each checkpoint has to hold what one rank holds that was never stopped:
weights, moments, step, scale and its count of clean steps. Of each program's last one
the elements of `w` are printed that each rank has written, and the scale and the count.
"""
import glob
import os
import re

from ranks import Program, call, expect, parse_case, read_step, read_tensors, write_tensors

FLAGS = ["--optimizer=adamw", "--loss-scale=dynamic", "--scaler-interval=3"]
FAULT = "num:inf@step=4"


def pieces(step):
    """How many elements of w each rank has written."""
    counts = []
    for path in sorted(glob.glob(os.path.join(step, "rank_*.safetensors"))):
        tensors = read_tensors(path)
        counts.append(sum(len(values) for name, values in tensors.items() if re.fullmatch(r"w(\[.*)?", name)))
    return counts


def continue_run(args, number, ranks, stage, before):
    program = Program(os.path.join(args.work, str(number)), args.model, ranks, stage, *FLAGS)
    resume = ["--resume", before] if before else ["--init-from", args.start]
    return program.train("saves", args.rows, "--steps", 2 * number + 2, "--lr", 0.01, *resume, fault=FAULT)


def check(run, whole, number):
    for step in range(2 * number + 1, 2 * number + 3):
        folder = f"step_{step:08}"
        expect(read_step(os.path.join(whole.saves, folder)), read_step(os.path.join(run.saves, folder)), folder)
    expect(read_step(os.path.join(run.saves, folder))["w"], run.weights()["w"], "an export")
    call("weft", "ckpt", "verify", run.saves)
    return os.path.join(run.saves, folder)


def main():
    args = parse_case("--chain")
    args.rows, args.start = (os.path.join(args.work, name) for name in ("rows.st", "start.st"))
    write_tensors(args.rows, {"x": ("F32", [1, 7], [0.5, -1, 0.75, 2, 1, -0.25, 1.5])})
    write_tensors(args.start, {"w": ("F32", [7], [1, 2, 3, 4, 5, 6, 7])})
    chain = [tuple(map(int, link.split(":"))) for link in args.chain.split(",")]
    whole = Program(args.work, args.model, 1, 0, *FLAGS).train(
        "whole", args.rows, "--steps", 2 * len(chain), "--lr", 0.01, "--init-from", args.start, fault=FAULT)
    before = None
    for number, (ranks, stage) in enumerate(chain):
        run = continue_run(args, number, ranks, stage, before)
        step = check(run, whole, number)
        before = run.saves
        state = read_step(step)
        print(f"{ranks} ranks:", *pieces(step), f"scale {state['loss_scale'][0]:g}, {state['loss_scale.state'][0]} clean,",
              f"step {state['step'][0]}")


main()
