#!/usr/bin/env python3
"""test-tiers.py [TEST]: which lit tests are in which tier, a line each.

The first tier is what scripts/test.sh runs. Tests with `REQUIRES: full` are in
the second tier alone, which scripts/test.sh --full runs as well.
"""
import os
import re
import sys


def main(top):
    tiers = {"first": [], "second": []}
    for folder, _, names in sorted(os.walk(top)):
        parts = os.path.relpath(folder, top).split(os.sep)
        if "Inputs" in parts or parts[0] in ("unit", "fuzz", "reference", "bench"):
            continue
        for name in sorted(names):
            if not name.endswith((".test", ".mlir")):
                continue
            path = os.path.join(folder, name)
            with open(path, errors="replace") as file:
                lines = re.findall(r"^\W*REQUIRES:(.*)$", file.read(), re.M)
            needs = {word for line in lines for word in re.split(r"[,\s]+", line)}
            tiers["second" if "full" in needs else "first"].append(os.path.relpath(path, top))
    for tier, tests in tiers.items():
        for test in tests:
            print(tier, test)
        print(f"{len(tests)} tests in the {tier} tier")


main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "../test"))
