#!/usr/bin/env python3
"""Adds a product to a file of tuning: one that no program has, or its first again.

usage: more-tuning.py TUNING OUT [--again]
"""
import copy
import json
import sys

with open(sys.argv[1]) as source:
    tuning = json.load(source)
extra = copy.deepcopy(tuning["products"][0])
if "--again" in sys.argv:
    tuning["products"].insert(1, extra)
else:
    extra["record"]["m"] = 99
    tuning["products"].append(extra)
with open(sys.argv[2], "w") as out:
    json.dump(tuning, out, indent=2)
