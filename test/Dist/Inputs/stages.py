#!/usr/bin/env python3
"""Trains a model with every ZeRO stage: the weights have the same bits.

usage: stages.py FOLDER --model M --data FILE [--ranks 2,3,2x2] [--stages 0,1,2,3]
                 [--compile=FLAG]... [--run=FLAG]... [--mpi W,...]

Each program evaluates after each step, and saves. Validation losses, and the weights
that `weft ckpt export` writes, are compared with those of stage 0 at the same number of
ranks, by bytes; weights also with those of the first step, from which they must differ.
With --mpi those of so many ranks are trained as processes as well.
"""
import argparse
import filecmp
import json
import os
import shutil
import subprocess

from meshes import count_ranks, text_of

MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n"]


def call(*command):
    subprocess.run(command, check=True)


def export(saves, out):
    call("weft", "ckpt", "export", saves, out)
    return os.path.join(out, "model.safetensors")


def train(args, program, name, launch, steps=4):
    folder = os.path.join(args.folder, name)
    metrics = folder + ".jsonl"
    command = launch + [program] if launch[:1] == MPIRUN[:1] else [program] + launch
    call(*command, "--data", args.data, "--progress", "none", "--steps", str(steps),
         "--val-fraction", "0.1", "--eval-every", "1", "--eval-steps", "2", "--metrics", metrics,
         "--save-dir", folder, *args.run)
    with open(metrics) as file:
        losses = [line["val_loss"] for line in map(json.loads, file) if "val_loss" in line]
    if len(losses) != steps:
        raise SystemExit(f"{metrics} has {len(losses)} evaluations of {steps}")
    return losses, export(folder, folder + ".export")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--ranks", default="2,3")
    parser.add_argument("--stages", default="0,1,2,3")
    parser.add_argument("--mpi", default="")
    parser.add_argument("--compile", action="append", default=[])
    parser.add_argument("--run", action="append", default=[])
    args = parser.parse_args()
    shutil.rmtree(args.folder, ignore_errors=True)
    os.makedirs(args.folder)
    count = 0
    for mesh in args.ranks.split(","):
        first = None
        ranks = count_ranks(mesh)
        for stage in args.stages.split(","):
            name = f"w{mesh}.z{stage}"
            program = os.path.join(args.folder, name)
            call("weft", "compile", args.model, f"--mesh={text_of(mesh)}", f"--zero={stage}",
                 *args.compile, "-o", program)
            launches = {"loopback": ["--loopback", ranks]}
            if mesh in args.mpi.split(","):
                launches["mpi"] = MPIRUN + [ranks]
            for kind, launch in launches.items():
                losses, weights = train(args, program, f"{name}.{kind}", launch)
                first = first or (losses, weights)
                if not filecmp.cmp(first[1], weights, shallow=False):
                    raise SystemExit(f"{weights} differs from {first[1]}")
                if losses != first[0]:
                    raise SystemExit(f"{weights}: losses {losses} differ from {first[0]}")
                count += 1
        _, start = train(args, os.path.join(args.folder, f"w{mesh}.z{args.stages[0]}"),
                      f"w{mesh}.start", ["--loopback", ranks], steps=1)
        if filecmp.cmp(first[1], start, shallow=False):
            raise SystemExit(f"{first[1]} has the weights of the first step")
    print(f"{count} runs have the same bits as their first")


if __name__ == "__main__":
    main()
