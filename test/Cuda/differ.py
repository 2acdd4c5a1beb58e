#!/usr/bin/env python3
"""Whether the losses of two runs differ, and by how much.

usage: differ.py METRICS METRICS LEAST MOST
"""
import json
import sys


def losses_of(path):
    with open(path) as lines:
        return [step["loss"] for step in map(json.loads, lines) if "loss" in step]


a, b = losses_of(sys.argv[1]), losses_of(sys.argv[2])
difference = max(abs(x - y) / abs(x) for x, y in zip(a, b))
if len(a) != len(b) or not float(sys.argv[3]) < difference < float(sys.argv[4]):
    sys.exit(f"losses differ by {difference:.1e}: {a} and {b}")
print(f"losses differ by {difference:.1e}")
