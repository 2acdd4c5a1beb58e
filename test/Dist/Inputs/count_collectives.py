#!/usr/bin/env python3
"""Counts the commands of each ZeRO stage that move something.

usage: count_collectives.py MODEL OUT MESH [FLAG]...

For each stage and program of a step (first, later, last micro-steps, where they have one
of their own): reduce_scatter, all_gather, all_reduce, copies of more than one number.
"""
import re
import subprocess
import sys

from meshes import text_of

KINDS = ("reduce_scatter", "all_gather", "all_reduce", r"copy .*memref<\d+x")


def count(plan, program):
    body = re.search(rf'plan.program "\w+" @{program} .*?\n  }}', plan, re.S)
    if not body:
        return None
    return " ".join(str(len(re.findall(rf"^ *plan.{kind}", body.group(0), re.M))) for kind in KINDS)


model, out, mesh, *flags = sys.argv[1:]
for stage in range(4):
    subprocess.run(["weft", "compile", model, f"--mesh={text_of(mesh)}", f"--zero={stage}", *flags,
                    "--emit=plan", "-o", out], check=True)
    with open(out) as file:
        plan = file.read()
    counts = {program: count(plan, program) for program in
              ("micro", "micro_later", "micro_keep", "micro_later_keep", "apply")}
    print(f"zero {stage}:", ", ".join(f"{name} {text}" for name, text in counts.items() if text))
