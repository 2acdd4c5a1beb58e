#!/usr/bin/env python3
"""Adds a product that no program has to a file of tuning.

usage: more-tuning.py TUNING OUT
"""
import copy
import json
import sys

with open(sys.argv[1]) as source:
    tuning = json.load(source)
extra = copy.deepcopy(tuning["products"][0])
extra["record"]["m"] = 99
tuning["products"].append(extra)
with open(sys.argv[2], "w") as out:
    json.dump(tuning, out, indent=2)
