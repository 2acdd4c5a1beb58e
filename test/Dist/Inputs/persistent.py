#!/usr/bin/env python3
"""Compares persistent bytes of each ZeRO stage at four ranks with their formula.

usage: persistent.py FOLDER PARAMETERS

FOLDER has the output of `weft inspect --memory --json` for each stage.
"""
import json
import sys

folder, parameters = sys.argv[1], int(sys.argv[2])
last = None
for stage, formula in enumerate((16, 4 + 12 / 4, 2 + 14 / 4, 16 / 4)):
    with open(f"{folder}/{stage}.json") as file:
        report = json.load(file)
    held = report.get("memory", report)["persistent_bytes"] / parameters
    if last is not None and held >= last:
        raise SystemExit(f"stage {stage} has {held}P, and the one before it {last}P")
    if abs(held - formula) > 0.02 * formula:
        raise SystemExit(f"stage {stage} has {held}P, expects {formula}P")
    print(f"stage {stage}: {held:.1f}P of {formula:g}P")
    last = held
