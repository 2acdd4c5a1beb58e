#!/usr/bin/env python3
"""Compares the plans of the CPU and of a CUDA device.

usage: plans.py WORK MODEL [FLAG]...
       plans.py --compare PLAN PLAN

With one --bucket for both, programs, their inputs and outputs, and all states
(names, kinds, types) are the same, and so are the commands of libraries in their
order: their kind, types, scopes and attributes. What may differ, as
docs/explanation/codegen-cuda.md says: places in memory and workspaces; the costs, which know the
machine; the copies between host and device; all that CUDA devices generate as
kernels where the CPU has routines, or in other kernels; and what products compute
beside their sums, which is left to kernels here (--epilogues=off).
"""
import collections
import os
import re
import subprocess
import sys

# Commands that are kernels on a CUDA device, and ops that place their results.
GENERATED = {"adam", "adamw", "clip_coefficient", "cross_entropy", "cross_entropy_grad",
             "dropout", "norm_and_check", "optimizer", "random_normal", "random_uniform",
             "scaler_update", "sgd", "step_increment", "total_norm"}
KERNELS = {"launch", "view", "alloc", "constant", "use"}
TRANSFERS = {"upload", "readback", "staging", "event", "record", "wait"}
# Of attributes: places, costs, and the code of attention.
APART = re.compile(r"(offset|est_us|plan\.alignment|cuda\.attention|stream|wait\w*) = [^,}]*,? ?")


def write_plans(work, model, *flags):
    """The paths of both plans."""
    os.makedirs(work, exist_ok=True)
    for target, own in ("cpu", []), ("cuda:sm_90", ["--epilogues=off"]):
        path = os.path.join(work, target.split(":")[0] + ".mlir")
        subprocess.run(["weft", "compile", model, f"--target={target}", "--emit=plan",
                        "--bucket=scope", "-o", path, *flags, *own], check=True)
        yield path


def normal(line):
    """A command without names of values, places and workspaces."""
    line = re.sub(r"%\w+(#\d+)?", "%", line)
    line = re.sub(r" workspace\([^)]*\)", "", line)
    return re.sub(r", }| {}", "", APART.sub("", line)).strip()


def moves_port(line, ports):
    """Whether a command copies an input in transit, or to a result in transit: without a time, as it is added later.
    A copy that computes a result has one."""
    copy = re.search(r"plan\.copy (%\w+) to (%\w+)", line)
    return copy and "est_us" not in line and (copy[1] in ports["input"] or copy[2] in ports["staging"])


def parts_of(path):
    """The lines of a plan by kind; commands by program."""
    with open(path) as plan:
        lines = plan.read().splitlines()
    parts, program = collections.defaultdict(list), ""
    ports = collections.defaultdict(set)
    has_streams = any("plan.event" in line for line in lines)
    for line in lines:
        found = re.search(r"(?:= |^\s*)plan\.(\w+)", line)
        if not found:
            continue
        op = found[1]
        if op == "program":
            program = line.split('"')[1]
            ports = collections.defaultdict(set)
        if op in ("input", "staging"):
            ports[op].add(line.split(" =")[0].strip())
        if has_streams and moves_port(line, ports):
            continue
        if op in ("state", "program", "input", "output"):
            parts[op].append(f"{program}: {normal(line)}" if op != "state" else normal(line))
        elif op not in GENERATED | KERNELS | TRANSFERS:
            parts["commands of libraries"].append(f"{program}: {normal(line)}")
    return parts


def main():
    paths = (sys.argv[2:] if sys.argv[1] == "--compare" else write_plans(*sys.argv[1:]))
    cpu, cuda = (parts_of(path) for path in paths)
    for part in sorted(cpu.keys() | cuda.keys()):
        for number, (x, y) in enumerate(zip(cpu[part], cuda[part])):
            if x != y:
                sys.exit(f"{part} {number} differs:\n{x}\n{y}")
        if len(cpu[part]) != len(cuda[part]):
            sys.exit(f"{part}: {len(cpu[part])} and {len(cuda[part])}")
        print(f"{part}: {len(cpu[part])} equal")


if __name__ == "__main__":
    main()
