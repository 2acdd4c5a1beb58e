"""Compares the metrics of a model in the metrics files of several runs.

usage: same-metrics.py ONE STAGE...

Each line of a STAGE has the numbers of ONE within 1e-6, and all stages have the same bits.
"""
import json
import sys


def read(path):
    with open(path) as lines:
        found = [json.loads(line) for line in lines][1:]
    return [line.get("metrics", line.get("val_metrics")) for line in found]


one, *stages = map(read, sys.argv[1:])
for path, stage in zip(sys.argv[2:], stages):
    if stage != stages[0]:
        sys.exit(f"{path}: expects the bits of {sys.argv[2]}, {stages[0]}, but got {stage}")
    for expected, got in zip(one, stage, strict=True):
        if expected.keys() != got.keys() or any(abs(expected[name] - got[name]) > 1e-6 for name in got):
            sys.exit(f"{path}: expects {expected}, but got {got}")
print(f"{len(one)} lines: within 1e-6 of one rank, equal at {len(stages)} stages")
