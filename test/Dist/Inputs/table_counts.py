#!/usr/bin/env python3
"""table_counts.py PAGE MODEL DATA WORK UNREAD: collectives of runs against a page's table.

Runs a step of MODEL on four ranks at each stage, with each --sync, and 1 and 2 micro-steps,
and compares calls and bytes that the run counts with what the table of PAGE says of K
micro-steps, B buckets and P parameters. The backward pass does not read UNREAD buckets.
Prints what was compared.
"""
import json
import os
import re
import subprocess
import sys

page, model, data, work, unread = sys.argv[1:]
RANKS, FLOAT = 4, 4
ROWS = {"reduce_scatter": ["reduce_scatter"] * 5,
        "all_gather": ["all_gather, stage 0", *["all_gather, stages 1 and 2, and 3 with `--reshard=off`"] * 2,
                       "all_gather, stage 3", "all_gather, stages 1 and 2, and 3 with `--reshard=off`"],
        "all_reduce": ["all_reduce"] * 5}


def cells():
    """Cells of the table for --sync=last and --sync=each, by the name of the row."""
    rows = {}
    for line in open(page):
        parts = [part.strip() for part in line.strip().strip("|").split("|")]
        if line.startswith("|") and len(parts) == 4:
            last, each = parts[1], parts[2]
            rows[parts[0]] = {"last": last, "each": last if each == "the same" else each}
    return rows


def number(cell, k, buckets):
    """A product such as `2 K B`; what the backward pass does not gather is subtracted."""
    factors, *less = cell.split(",")
    value = 1
    for factor in factors.split():
        value *= {"K": k, "B": buckets}.get(factor) or int(factor)
    return value - (k * int(unread) if less and "backward" in less[0] else 0)


def compile_program(stage, sync):
    program = os.path.join(work, f"z{stage}-{sync}")
    if stage != 4:
        flags = [f"--zero={stage}"]
    else:
        flags = ["--zero=3", "--reshard=off"]
    subprocess.run(["weft", "compile", model, "--batch=1", "--seq=16", f"--mesh=dp:{RANKS}", f"--sync={sync}", *flags,
                    "-o", program], check=True)
    return program


def counted(program, k):
    metrics = os.path.join(work, "metrics.jsonl")
    said = subprocess.run([program, "--data", data, "--threads=1", "--steps=1", f"--accum={k}", f"--loopback={RANKS}",
                           "--metrics", metrics], check=True, capture_output=True, text=True)
    line = re.search(r"^comm .*", said.stdout + said.stderr, re.M).group(0)
    with open(metrics) as file:
        (step,) = [entry for entry in map(json.loads, file) if "loss" in entry]
    return {kind: int(calls) for kind, calls in re.findall(r"(\w+) (\d+) calls", line)}, step["comm_bytes"]


def shape(program):
    """Buckets and padded elements."""
    said = subprocess.run(["weft", "inspect", program, "--sharding", "--json"], check=True, capture_output=True, text=True)
    buckets = json.loads(said.stdout)["sharding"]["buckets"]
    return len(buckets), sum(bucket["elements"] for bucket in buckets)


os.makedirs(work, exist_ok=True)
table, compared = cells(), 0
for stage in range(5):
    for sync in ("last", "each"):
        program = compile_program(stage, sync)
        buckets, elements = shape(program)
        for k in (1, 2):
            calls, sent = counted(program, k)
            wanted = {kind: number(table[ROWS[kind][stage]][sync], k, buckets) for kind in ROWS}
            where = f"stage {stage}, --sync={sync}, {k} micro-steps"
            if calls != wanted:
                sys.exit(f"table_counts.py: error: {where}: expects {wanted} calls, but got {calls}")
            # Buckets that the backward pass does not gather may have any size, so a part of
            # a round counts as none or all of it. Reductions of single numbers add a few bytes.
            each = elements * FLOAT * (RANKS - 1) // RANKS
            whole = (wanted["reduce_scatter"] + wanted["all_gather"]) / buckets
            most = each * -(-(wanted["reduce_scatter"] + wanted["all_gather"]) // buckets) + 1000
            least = each * (int(whole) if int(unread) else whole)
            if not least <= sent <= most:
                sys.exit(f"table_counts.py: error: {where}: expects {least:.0f} to {most:.0f} bytes, but got {sent}")
            compared += 1
print(f"{compared} runs as the table says, {buckets} buckets")
