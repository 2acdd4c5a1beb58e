#!/usr/bin/env python3
"""Trains a small model on several numbers of ranks and prints the weights.

usage: train.py WORK MODEL --ranks 2,3,2x2 [--stages 0,1,2,3] [--row 1,2 | --rows JSON]
                [--init NAME=1,2]... [--steps N] [--show NAME]... [--digits D]
                [--compile=FLAG]... [--run=FLAG]... [--fault F] [--exit CODE] [--alike]
                [--comm]

"2x2" are two replicas of two slices. The input "x" of rank r in each step is r + 1
times --row, or the rows of --rows one after the other. For each number of ranks all
ZeRO stages have the same bits after each step, in weights, states and metrics, or it
is an error; the numbers of the first one are printed: of each step what --show names,
of metrics or of the checkpoint after it. With --alike other numbers of ranks have these
bits as well. With --comm the collectives of the last stage are printed, and what the
run said if its exit code is not to be 0.
"""
import argparse
import json
import os
import re
import shutil

from ranks import Program, count_ranks, expect, write_tensors


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("work")
    parser.add_argument("model")
    parser.add_argument("--ranks", required=True)
    parser.add_argument("--stages", default="0,1,2,3")
    parser.add_argument("--row", default="1")
    parser.add_argument("--rows")
    parser.add_argument("--init", action="append", default=[])
    parser.add_argument("--steps", type=int, default=1)
    parser.add_argument("--show", action="append", default=[])
    parser.add_argument("--digits", type=int, default=6)
    parser.add_argument("--compile", action="append", default=[])
    parser.add_argument("--run", action="append", default=[])
    parser.add_argument("--fault", default="")
    parser.add_argument("--exit", type=int, default=0)
    parser.add_argument("--alike", action="store_true")
    parser.add_argument("--comm", action="store_true")
    return parser.parse_args()


def write_rows(path, options, ranks):
    one = [float(x) for x in options.row.split(",")]
    rows = json.loads(options.rows) if options.rows else [[(rank + 1) * x for x in one] for rank in range(ranks)]
    write_tensors(path, {"x": ("F32", [len(rows), len(rows[0])], sum(rows, []))})


def write_start(path, options):
    tensors = {}
    for entry in options.init:
        name, values = entry.split("=")
        shape, values = values.split(":") if ":" in values else (str(values.count(",") + 1), values)
        tensors[name] = ("F32", [int(size) for size in shape.split("x")], [float(x) for x in values.split(",")])
    write_tensors(path, tensors)


def train(options, mesh, stage, data, start):
    """For each step the metrics and tensors by name, and what was said."""
    program = Program(options.work, options.model, mesh, stage, *options.compile)
    flags = ["--init-from", start] if options.init else []
    run = program.train("saves", data, "--steps", options.steps, *flags, *options.run, fault=options.fault,
                        code=options.exit)
    steps = run.steps()
    for key in ("loss", "grad_norm", "loss_scale", "skipped"):
        for step, value in zip(steps, run.metrics(key)):
            # Of this step, where the checkpoint holds the scale after it.
            step["used_scale" if key == "loss_scale" else key] = (value,)
    return steps, run.said


def bits(steps):
    return repr([sorted(step.items()) for step in steps])


def text_of(values, digits):
    return " ".join("null" if value is None else f"{float(value):.{digits}g}" for value in values)


def train_stages(options, mesh, data, start):
    """The checkpoints that all stages share, and the output of the last one."""
    first = None
    for stage in options.stages.split(",") if mesh != "1" else "0":
        steps, said = train(options, mesh, stage, data, start)
        first = first or steps
        expect(bits(first), bits(steps), f"{mesh} ranks, stage {stage}")
    return first, said


def show(options, mesh, steps, said):
    for number, step in enumerate(steps if options.show else []):
        values = (f"{name} {text_of(step[name], options.digits)}" for name in options.show)
        print(f"{mesh} ranks, step {number + 1}:", ", ".join(values))
    if options.comm:
        print(f"{mesh} ranks:", re.sub(r", [0-9.]+ ms", "", re.search(r"^comm +(.*)", said, re.M).group(1)))
    if options.exit:
        print(said, end="")


def main():
    options = parse()
    shutil.rmtree(options.work, ignore_errors=True)
    os.makedirs(options.work)
    data, start = (os.path.join(options.work, name) for name in ("rows.safetensors", "start.safetensors"))
    write_start(start, options)
    first = None
    for mesh in options.ranks.split(","):
        write_rows(data, options, int(count_ranks(mesh)))
        steps, said = train_stages(options, mesh, data, start)
        first = first or steps
        if options.alike:
            expect(bits(first), bits(steps), f"{mesh} ranks")
        show(options, mesh, steps, said)


main()
