#!/usr/bin/env python3
"""Programs for a CUDA device, trained on the emulated one.

usage: train.py BUILD WORK MODEL DATA [--precision P] [--steps N] [--seeds A:B]
                [--compile FLAG]... [--cuda FLAG]... [--run FLAG]... [--jobs N]

Compiles the model for the CPU and for cuda:sm_90 (--cuda: flags of it alone),
trains both, and compares their losses and metrics: within 1e-4 in f32, 2e-2 in
f16 and bf16. Every seed is an order of streams, blocks and threads: all of them, a run
without a graph, and one whose memory starts as NaN instead of zeros give the
same bits in every loss and every weight. --jobs lets that many of them run at once.
"""
import argparse
import concurrent.futures
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys

BOUND = {"f32": 1e-4, "f16": 2e-2, "bf16": 2e-2}


def call(command, environment=None):
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: ended with {result.returncode}\n"
                 f"{result.stdout[-2000:]}{result.stderr[-2000:]}")


def losses_of(path):
    with open(path) as lines:
        steps = [json.loads(line) for line in lines]
    return [number for step in steps if "loss" in step for number in (step["loss"], *step.get("metrics", {}).values())]


def weights_of(folder):
    files = sorted(glob.glob(os.path.join(folder, "step_*", "*.safetensors")))
    if not files:
        sys.exit(f"{folder}: expects a checkpoint")
    digest = hashlib.sha256()
    for name in files:
        with open(name, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


class Case:
    def __init__(self, options):
        self.options = options
        self.flags = ["--precision", options.precision, *options.compile]
        self.weft = os.path.join(options.build, "bin", "weft")

    def path(self, name):
        return os.path.join(self.options.work, name)

    def compile(self, *flags):
        call([self.weft, "compile", self.options.model, *self.flags, *flags])

    def compile_all(self):
        """Programs `cpu` and `cuda`, and the twins of its kernels."""
        self.compile("-o", self.path("cpu"))
        device = ["--target=cuda:sm_90", *self.options.cuda]
        self.compile(*device, "-o", self.path("cuda"))
        call([self.weft + "-twins", "--checked", self.options.model, *self.flags, *device,
              "-o", self.path("twins.so")])

    def run(self, program, *flags, environment=None):
        call([self.path(program), "--data", self.options.data, "--steps",
              str(self.options.steps), "--progress", "none", *flags, *self.options.run],
             environment)

    def train(self, program, name, *flags, environment=None):
        """Losses, and a digest of the last checkpoint."""
        self.run(program, "--metrics", self.path(name + ".jsonl"), "--save-dir",
                 self.path(name), *flags, environment=environment)
        return losses_of(self.path(name + ".jsonl")), weights_of(self.path(name))

    def device(self, seed):
        emulation = os.path.join(self.options.build, "test", "emulation")
        twins = [self.path("twins.so"), os.path.join(emulation, "kernels.so")]
        return dict(os.environ, LD_LIBRARY_PATH=emulation, WEFT_TWINS=":".join(twins),
                    WEFT_EMULATION_SEED=str(seed))


def compare(expected, got, bound):
    worst = 0.0
    for step, (x, y) in enumerate(zip(expected, got), 1):
        if x is None or y is None:
            if x is not y:
                sys.exit(f"step {step}: the CPU has loss {x}, the device {y}")
            continue
        worst = max(worst, abs(x - y) / max(abs(x), 1e-30))
    if len(expected) != len(got) or worst > bound:
        sys.exit(f"losses differ by {worst:.2e}, more than {bound:.0e}: "
                 f"{expected} and {got}")
    return worst


def parse(arguments, description=None):
    parser = argparse.ArgumentParser(description=description)
    for name in ("build", "work", "model", "data"):
        parser.add_argument(name)
    parser.add_argument("--precision", default="f32", choices=sorted(BOUND))
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seeds", default="0:2")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--compile", action="append", default=[])
    parser.add_argument("--cuda", action="append", default=[])
    parser.add_argument("--run", action="append", default=[])
    options = parser.parse_args(arguments)
    shutil.rmtree(options.work, ignore_errors=True)
    os.makedirs(options.work)
    return options


def main():
    options = parse(sys.argv[1:], __doc__)
    case = Case(options)
    case.compile_all()
    expected, _ = case.train("cpu", "on-cpu")
    first, last = map(int, options.seeds.split(":"))
    orders = [(f"seed-{seed}", case.device(seed), ()) for seed in range(first, last)]
    orders.append(("no-graph", case.device(first), ("--no-graph",)))
    orders.append(("poisoned", dict(case.device(first), WEFT_FAULT="arena:poison"), ()))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        made = pool.map(lambda order: case.train("cuda", order[0], *order[2], environment=order[1]), orders)
        runs = {name: run for (name, _, _), run in zip(orders, made)}
    reference = runs[f"seed-{first}"]
    for name, run in runs.items():
        if run != reference:
            sys.exit(f"{name} differs from seed-{first}: {run[0]} and {reference[0]}")
    worst = compare(expected, reference[0], BOUND[options.precision])
    print(f"{options.steps} steps, {len(runs)} equal runs, "
          f"largest difference from the CPU {worst:.1e}")


if __name__ == "__main__":
    main()
