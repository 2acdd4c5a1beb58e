#!/usr/bin/env python3
"""Changes from step to step when gradients are reduced, and how many micro-steps.

usage: interleaved.py WORK MODEL

Two ranks reduce in each micro-step of the first and the third step, which have three,
and in the last one of the second step, which has one; each goes on from the checkpoint
of the one before it. At all stages the weights are those of one rank with all rows, to
1e-6, which trains the three steps alike.
"""
import os
import shutil
import sys

from big_batch import write_rows
from ranks import Program, expect_close

ROWS = 12
FLAGS = ["--lr", 0.1, "--momentum", 0.9]


def train(programs, data):
    """One step with each program and its number of micro-steps; the weights at last."""
    before = []
    for number, (program, accum) in enumerate(programs):
        run = program.train(f"step{number}", data, "--steps", number + 1, "--accum", accum, *FLAGS, *before)
        before = ["--resume", run.saves]
    return run.weights()


def main():
    work, model = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    data = os.path.join(work, "rows.safetensors")
    write_rows(data, ROWS)

    def program(name, ranks, stage, rows, *flags):
        return Program(os.path.join(work, name), model, ranks, stage, "--optimizer=sgd", *flags, rows=rows)
    whole, third = program("whole", 1, 0, ROWS), program("third", 1, 0, ROWS // 3)
    wanted = train([(whole, 1), (third, 1), (whole, 1)], data)
    for stage in range(4):
        each = program("each", 2, stage, ROWS // 6, "--sync=each")
        last = program("last", 2, stage, ROWS // 6)
        found = train([(each, 3), (last, 1), (each, 3)], data)
        for name, weights in wanted.items():
            expect_close(weights, found[name], 1e-6, f"stage {stage}: {name}")
    print("4 stages train as one rank")


main()
