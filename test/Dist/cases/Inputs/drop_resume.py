#!/usr/bin/env python3
"""Takes a run with a layer that ranks drop through other meshes and stages.

usage: drop_resume.py WORK MODEL --chain 2:3,4:1,2x2:2,...

Each program of the chain trains two steps of SGD from the checkpoint of the one before
it, as threads of a process and as processes of MPI: the same bits. Weights and the step
counter of the layer, which counts steps in which some rank kept it, are those of the
formulas. Printed are the counters.
"""
import os
import shutil

from ranks import Program, call, expect, expect_close, parse_case, read_step, write_tensors

RATE, STEPS = 0.1, 2
DROPPED = (0, 2, 3, 7, 8, 9, 10, 11)  # rows, of the first 12, that drop the layer of MODEL


class Wanted:
    """The expected weights after a step with the mean over the ranks' gradients."""

    def __init__(self):
        self.a, self.w, self.counter, self.row = [1.0, 1.0], [2.0, 2.0], 0, 0

    def step(self, ranks, rows):
        sums = {"a": [0.0, 0.0], "w": [0.0, 0.0]}
        kept = False
        for rank in range(ranks):
            x = rows[(self.row + rank) % len(rows)]
            drops = self.row + rank in DROPPED
            kept = kept or not drops
            for i in range(2):
                sums["a"][i] += x[i] * (1 if drops else self.w[i])
                sums["w"][i] += 0 if drops else x[i] * self.a[i]
        self.row += ranks
        self.counter += kept
        self.a = [a - RATE * g / ranks for a, g in zip(self.a, sums["a"])]
        self.w = [w - RATE * g / ranks for w, g in zip(self.w, sums["w"])]


def by_mpi(program, data, flags):
    saves = program.path + ".mpi"
    shutil.rmtree(saves, ignore_errors=True)
    call("weft", "launch", "-n", program.ranks, program.path, "--data", data, "--no-shuffle", "--threads", 1,
         "--save-dir", saves, "--save-every", 1, "--keep", 0, *flags)
    return [read_step(os.path.join(saves, name)) for name in sorted(os.listdir(saves)) if name.startswith("step_")]


def main():
    args = parse_case("--chain")
    rows = [[0.5, 1.0], [1.0, -0.5], [-0.25, 0.75], [1.5, 0.25]]
    data = os.path.join(args.work, "rows.safetensors")
    write_tensors(data, {"x": ("F32", [4, 2], sum(rows, []))})
    wanted, before = Wanted(), None
    for number, link in enumerate(args.chain.split(",")):
        mesh, stage = link.split(":")
        program = Program(os.path.join(args.work, str(number)), args.model, mesh, stage, "--optimizer=sgd")
        flags = ["--lr", RATE, "--steps", STEPS * (number + 1), *(["--resume", before] if before else [])]
        run = program.train("saves", data, *flags)
        steps = run.steps()
        expect(STEPS, len(steps), f"checkpoints of {link}")
        for step in steps:
            wanted.step(program.ranks, rows)
            for name in ("a", "w"):
                expect_close(getattr(wanted, name), step[name], 1e-6, f"{link}: {name}")
            expect(wanted.counter, step["step.presence.w"][0], f"{link}: counter")
        if program.ranks > 1:
            expect(steps, by_mpi(program, data, flags), f"{link}: processes")
        print(f"{mesh} ranks, stage {stage}: step {steps[-1]['step'][0]}, presence {steps[-1]['step.presence.w'][0]}")
        before = run.saves


main()
