"""Programs of several ranks against one rank with all of their rows.

usage: data_parallel.py WORK --model MODEL --data FILE --rows N --seq T --ranks 1,2,2x2
                        [--compile FLAG]... [--mesh-compile FLAG]... [--run FLAG]... [--tolerance X]
                        [--steps 6] [--lr 1e-3]

The ranks of each mesh divide the rows; losses are within the tolerance (relative, 1e-5) of those of one rank. Two runs
have the same weights to the bit, and so has one that stops half-way and goes on; the weights are no longer the first
ones.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys

from meshes import count_ranks, text_of

parser = argparse.ArgumentParser()
parser.add_argument("work", type=pathlib.Path)
parser.add_argument("--model", required=True)
parser.add_argument("--data", required=True)
parser.add_argument("--rows", type=int, required=True)
parser.add_argument("--seq", type=int, required=True)
parser.add_argument("--ranks", required=True)
parser.add_argument("--compile", action="append", default=[])
parser.add_argument("--mesh-compile", action="append", default=[])
parser.add_argument("--run", action="append", default=[])
parser.add_argument("--tolerance", type=float, default=1e-5)
parser.add_argument("--steps", type=int, default=6)
parser.add_argument("--lr", default="1e-3")
args = parser.parse_args()
STEPS = args.steps


def need(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"expects exit 0 of {' '.join(map(str, command))}, but got {result.returncode}:\n{result.stderr}")


def losses(path):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [line["loss"] for line in lines if "loss" in line]


class Mesh:
    def __init__(self, mesh):
        self.ranks, self.folder = int(count_ranks(mesh)), args.work / f"ranks-{mesh}"
        self.folder.mkdir(parents=True, exist_ok=True)
        flags = [f"--mesh={text_of(mesh)}", *args.mesh_compile] if self.ranks > 1 else []
        need("weft", "compile", args.model, f"--batch={args.rows // self.ranks}", f"--seq={args.seq}", *flags,
             *args.compile, "-o", self.folder / "program")

    def train(self, name, *flags):
        need(self.folder / "program", "--data", args.data, "--steps", STEPS, "--lr", args.lr, "--clip", "1", "--threads",
             "1", "--loopback", self.ranks, "--progress", "none", "--metrics", self.folder / f"{name}.jsonl",
             "--save-dir", self.folder / name, *args.run, *flags)

    def weights(self, name):
        shutil.rmtree(self.folder / f"{name}.out", ignore_errors=True)
        need("weft", "ckpt", "export", self.folder / name, self.folder / f"{name}.out")
        return (self.folder / f"{name}.out" / "model.safetensors").read_bytes()

    def check(self):
        for name in "ab":
            self.train(name)
        self.train("c", "--stop-after", STEPS // 2)
        first = self.weights("c")
        self.train("c", "--resume", "must")
        if not self.weights("a") == self.weights("b") == self.weights("c") != first:
            sys.exit(f"{self.ranks} ranks: expects the same weights of two runs and of one that goes on")
        return losses(self.folder / "a.jsonl")


def main():
    wanted = None
    for mesh in args.ranks.split(","):
        found = Mesh(mesh).check()
        wanted = wanted or found
        if len(found) != STEPS or any(not abs(a - b) <= args.tolerance * abs(b) for a, b in zip(found, wanted)):
            sys.exit(f"{mesh} ranks: expects the losses {wanted}, but got {found}")
    print(f"{len(args.ranks.split(','))} meshes, {STEPS} steps")


main()
