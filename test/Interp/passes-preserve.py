#!/usr/bin/env python3
"""Checks that every pass keeps what a model computes, up to its finished plan.

usage: passes-preserve.py [--since=PHASE] MODEL [compile flags]

Compiles MODEL with a dump of every phase that has passes, up to verify-plan, then runs each dump
and the next, and the first and the last, through `weft-interp --compare` (two
steps, f64). With --since the dumps before PHASE are left out: a model with
dropout has no random numbers before derive-programs. Dumps that are the same text are not run again. Where a phase
may round, its bound is in BOUNDS; elsewhere the bound is EXACT. Prints one line
for each comparison; exit 1 if one fails.
"""

import pathlib
import subprocess
import sys
import tempfile

LAST = "verify-plan"
# Reordered sums differ in the last bits of a double.
EXACT = "1e-12"
# Commands do the arithmetic of the ops that they come from, in its order.
PLAN_PHASES = ["lower-to-plan", "align-products", "group-launches", "estimate", "schedule", "assign-streams",
               "plan-memory", "verify-plan"]
# Constants of formulas (eps, sqrt(2/pi), ...) become f32.
BOUNDS = {"decompose": "2e-7"} | dict.fromkeys(PLAN_PHASES, "0")
# Adam divides by |gradient| + eps: with eps = 1e-8 a gradient of that size would
# turn differences in the last bits into differences of the learning rate.
ADAM_EPS = "1e-3"


def phase_of(dump):
    return dump.stem.split("-", 1)[1]


def compare(before, after, bound):
    command = ["weft-interp", "--compare", str(before), str(after), "--steps=2",
               f"--tolerance={bound}", "--set", f"eps={ADAM_EPS}"]
    result = subprocess.run(command, capture_output=True, text=True)
    good = result.returncode == 0
    print(f"{'equal' if good else 'DIFFERENT'}: {phase_of(before)} -> {phase_of(after)}"
          f" within {bound}")
    if not good:
        print(result.stdout, result.stderr)
    return good


def main():
    arguments, since = sys.argv[1:], "import"
    if arguments[0].startswith("--since="):
        since = arguments.pop(0).split("=")[1]
    model, *flags = arguments
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["weft", "compile", model, *flags, f"--to={LAST}",
                        f"--dump-dir={folder}"], check=True, stdout=subprocess.DEVNULL)
        dumps = sorted(pathlib.Path(folder).glob("*.mlir"))
        if not dumps or phase_of(dumps[-1]) != LAST:
            sys.exit(f"expects dumps up to {LAST}, but got {[d.name for d in dumps]}")
        dumps = dumps[[phase_of(d) for d in dumps].index(since):]
        good, bound, compared = True, EXACT, 0
        for before, after in zip(dumps, dumps[1:]):
            if before.read_text() == after.read_text():
                continue
            bound_here = BOUNDS.get(phase_of(after), EXACT)
            bound = max(bound, bound_here, key=float)
            good &= compare(before, after, bound_here)
            compared += 1
        good &= compare(dumps[0], dumps[-1], bound)
        print(f"{compared} phases changed the module")
    sys.exit(0 if good and compared else 1)


main()
