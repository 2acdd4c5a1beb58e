#!/usr/bin/env python3
"""Takes a checkpoint through programs of other ranks and ZeRO stages.

usage: reshard.py FOLDER --model M --data FILE --chain MESH:STAGE,...
                  [--compile=FLAG]...

The first program of the chain trains two steps. Each further one goes on from the
checkpoint of the one before it with a step that a loss scale skips, since its
gradients are infinite, and saves. The weights that `weft ckpt export` writes of each
checkpoint are the same bytes.
"""
import argparse
import filecmp
import os
import shutil
import subprocess

from meshes import count_ranks, text_of


def call(*command):
    subprocess.run(command, check=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--chain", required=True)
    parser.add_argument("--compile", action="append", default=[])
    args = parser.parse_args()
    shutil.rmtree(args.folder, ignore_errors=True)
    os.makedirs(args.folder)
    links = [tuple(link.split(":")) for link in args.chain.split(",")]
    first = before = None
    for number, (mesh, stage) in enumerate(links):
        ranks = count_ranks(mesh)
        step = number + 2
        program = os.path.join(args.folder, f"{number}")
        flags = [f"--mesh={text_of(mesh)}", f"--zero={stage}"] if ranks != "1" else []
        loopback = ["--loopback", ranks] if ranks != "1" else []
        call("weft", "compile", args.model, *flags, *args.compile, "-o", program)
        saves = program + ".saves"
        run = [program, "--data", args.data, "--progress", "none", *loopback]
        if before is None:
            call(*run, "--steps", "2", "--save-dir", saves)
        else:
            call("env", f"WEFT_FAULT=num:inf@step={step}", *run, "--steps", str(step),
                 "--resume", before, "--save-dir", saves)
        out = program + ".export"
        call("weft", "ckpt", "export", saves, out)
        weights = os.path.join(out, "model.safetensors")
        first = first or weights
        if not filecmp.cmp(first, weights, shallow=False):
            raise SystemExit(f"{weights} differs from {first}")
        before = saves
    print("weights went through", args.chain.replace(",", ", "), "with the same bits")


if __name__ == "__main__":
    main()
