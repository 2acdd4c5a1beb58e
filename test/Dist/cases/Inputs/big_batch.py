#!/usr/bin/env python3
"""Trains a classifier on several ranks, and on one that has all of their rows.

usage: big_batch.py WORK MODEL --ranks 2,4,2x2 [--stages 0,1,2,3] [--rows 8] [--steps 5]
                    [--accum K] [--tolerance X] [--compile=FLAG]... [--mesh-compile=FLAG]...
                    [--run=FLAG]...

The ranks divide the rows, and with --accum K each rank its rows over K micro-steps;
the one rank takes all of them at once. Losses, norms and weights are compared, relative
to the largest of each; norms too are finite, and losses fall.
"""
import argparse
import os
import random
import shutil

from ranks import Program, count_ranks, expect_close, write_tensors

FEATURES, CLASSES = 6, 3


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("work")
    parser.add_argument("model")
    parser.add_argument("--ranks", required=True)
    parser.add_argument("--stages", default="0,1,2,3")
    parser.add_argument("--rows", type=int, default=8)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--accum", type=int, default=1)
    parser.add_argument("--tolerance", type=float, default=1e-5)
    parser.add_argument("--compile", action="append", default=[])
    parser.add_argument("--mesh-compile", action="append", default=[])
    parser.add_argument("--run", action="append", default=[])
    return parser.parse_args()


def write_rows(path, rows):
    """Writes the rows of a step; all steps have the same."""
    rng = random.Random(3)
    write_tensors(path, {"x": ("F32", [rows, FEATURES], [rng.gauss(0, 1) for _ in range(rows * FEATURES)]),
                         "label": ("I32", [rows], [rng.randrange(CLASSES) for _ in range(rows)])})


def train(options, data, mesh, stage):
    """Losses, norms, and weights by name."""
    ranks = int(count_ranks(mesh))
    accum = options.accum if ranks > 1 else 1
    program = Program(options.work, options.model, mesh, stage, *options.compile,
                      *(options.mesh_compile if ranks > 1 else []), rows=options.rows // ranks // accum)
    run = program.train("saves", data, "--steps", options.steps, "--accum", accum, *options.run)
    return {"losses": run.metrics("loss"), "norms": run.metrics("grad_norm"), **run.weights()}


def main():
    options = parse()
    shutil.rmtree(options.work, ignore_errors=True)
    os.makedirs(options.work)
    data = os.path.join(options.work, "rows.safetensors")
    write_rows(data, options.rows)
    alone = train(options, data, "1", 0)
    if not alone["losses"][-1] < alone["losses"][0]:
        raise SystemExit(f"expects losses that fall, but got {alone['losses']}")
    count = 0
    for mesh in options.ranks.split(","):
        for stage in options.stages.split(","):
            found = train(options, data, mesh, stage)
            for name, wanted in alone.items():
                expect_close(wanted, found[name], options.tolerance, f"{mesh} ranks, stage {stage}: {name}")
            count += 1
    print(f"{count} programs train as one rank")


if __name__ == "__main__":
    main()
