#!/usr/bin/env python3
"""Compares the gradients that ranks dump with the gradients of one rank that has all rows.

usage: gradients.py FOLDER --model M --data FILE [--compile=FLAG]...

For each mesh the files of all stages and of both ways to reduce have the same bytes, as
threads and as processes; they differ from those of one rank by at most 1e-4 of the
largest number of each tensor.
"""
import argparse
import filecmp
import os
import shutil
import subprocess

from meshes import count_ranks, text_of
from tensors import read_floats

ROWS = 12


def dump(args, mesh, *flags, launch=()):
    ranks = int(count_ranks(mesh))
    program = os.path.join(args.folder, "program")
    out = os.path.join(args.folder, f"{mesh}-{'-'.join(flags)}-{len(launch)}.safetensors")
    mesh_flags = [f"--mesh={text_of(mesh)}", *flags] if ranks > 1 else []
    subprocess.run(["weft", "compile", args.model, f"--batch={ROWS // ranks}", "--seq=8", *mesh_flags, *args.compile,
                    "-o", program], check=True)
    loopback = ["--loopback", str(ranks)] if ranks > 1 and not launch else []
    subprocess.run([*launch, program, *loopback, "--data", args.data, "--steps", "1", "--progress", "none",
                    "--dump-grads", out], check=True)
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--compile", action="append", default=[])
    args = parser.parse_args()
    shutil.rmtree(args.folder, ignore_errors=True)
    os.makedirs(args.folder)
    one = read_floats(dump(args, "1"))
    mpirun = ("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3")
    for mesh in ("3", "2x2"):
        files = [dump(args, mesh, f"--zero={stage}", f"--sync={sync}") for stage in (0, 2, 3)
                 for sync in ("last", "each")]
        if mesh == "3":
            files += [dump(args, mesh, "--zero=3", sync, launch=mpirun) for sync in ("--sync=last", "--sync=each")]
        for file in files[1:]:
            if not filecmp.cmp(files[0], file, shallow=False):
                raise SystemExit(f"{file} differs from {files[0]}")
        many = read_floats(files[0])
        if many.keys() != one.keys():
            raise SystemExit(f"expects gradients of {list(one)}, but got {list(many)}")
        for name, numbers in one.items():
            worst = max(abs(a - b) for a, b in zip(numbers, many[name]))
            if not worst <= 1e-4 * max(map(abs, numbers)):
                raise SystemExit(f"{mesh}: {name} differs by {worst}")
    print(f"{len(one)} gradients of two meshes")


if __name__ == "__main__":
    main()
