#!/usr/bin/env python3
"""Compares persistent bytes of a rank at each ZeRO stage with their formula.

usage: persistent.py FOLDER PARAMETERS RANKS

FOLDER has the output of `weft inspect --memory --json` for each stage. It has to account for every byte beyond 16P, and
a rank has at most the bytes of the formula of its stage and those of differences that are named.
"""
import json
import sys

ALIGNMENT = 512  # bytes

folder, parameters, ranks = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
last = None
for stage, formula in enumerate((16, 4 + 12 / ranks, 2 + 14 / ranks, 16 / ranks)):
    with open(f"{folder}/{stage}.json") as file:
        report = json.load(file)
    report = report.get("memory", report)
    state = report["state_formula"]
    if state["state_bytes"] != state["formula_bytes"] + sum(line["bytes"] for line in state["differences"]):
        raise SystemExit(f"stage {stage}: expects differences that account for all bytes, but got {state}")
    held = report["persistent_bytes"]
    named = sum(max(0, line["bytes"]) for line in state["differences"])
    if not state["parameters"] == parameters or not held <= formula * parameters + named + ALIGNMENT:
        raise SystemExit(f"stage {stage} has {held} bytes, expects at most {formula * parameters:.0f} and {named}")
    if abs(held / parameters - formula) > 0.03 * formula:
        raise SystemExit(f"stage {stage} has {held / parameters}P, expects {formula}P")
    if last is not None and held >= last:
        raise SystemExit(f"stage {stage} has {held} bytes, and the one before it {last}")
    print(f"stage {stage}: {held / parameters:.1f}P of {formula:.3g}P")
    last = held
