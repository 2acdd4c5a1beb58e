"""Checks what the metrics of runs of several ranks say of their steps.

usage: step_metrics.py SLOW RANKS ALONE FILE...

SLOW: step 2 was held up by rank 2 for a second. FILE: other runs of the same mesh.
ALONE: a run of one rank, which has the keys that it always had.
"""
import json
import sys

BASE = ["step", "loss", "lr", "grad_norm", "loss_scale", "skipped", "tokens_per_s", "step_ms", "compute_ms", "data_ms"]
RANKS = ["comm_ms", "comm_bytes", "lag_ms", "slowest_rank"]


def steps(path):
    return [entry for entry in map(json.loads, open(path)) if "loss" in entry]


def expect(good, what):
    if not good:
        sys.exit(f"wrong: {what}")


slow, ranks, alone, others = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]
for entry in steps(alone):
    expect(list(entry) == BASE + ["mem_bytes"], entry)
sent = None
for path in [slow] + others:
    for entry in steps(path):
        expect(list(entry) == BASE + RANKS + ["mem_bytes"], entry)
        parts = entry["compute_ms"] + entry["comm_ms"] + entry["data_ms"]
        expect(0 < parts <= entry["step_ms"], entry)
        sent = sent or entry["comm_bytes"]
        expect(entry["comm_bytes"] == sent > 0, entry)
        expect(0 <= entry["slowest_rank"] < ranks and entry["lag_ms"] >= 0, entry)
held = steps(slow)[1]
expect(held["slowest_rank"] == 2 and 900 < held["lag_ms"] < 1e4, held)
# The others waited for it.
expect(held["comm_ms"] > 900 * (ranks - 1) / ranks and held["step_ms"] > 1000, held)
print(f"{sent} bytes a step")
