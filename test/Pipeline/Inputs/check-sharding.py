#!/usr/bin/env python3
"""Checks the numbers of `weft inspect --sharding --memory --json` on standard input.

usage: check-sharding.py RANKS ZERO < report.json

Slices of the ranks make up each bucket, every rank that holds some of a parameter
is named and no other, and bytes are those of the memory report.
"""
import json
import sys

SIZES = {"f32": 4, "f16": 2, "bf16": 2}
FIELDS = {"param": "parameters", "gradient": "gradients", "optimizer": "optimizer_state",
          "working": "working_copies", "gathered": "gathered",
          "accumulator": "accumulators"}
ranks, zero = map(int, sys.argv[1:])
report = json.load(sys.stdin)
sharding, memory = report["sharding"], report["memory"]
assert (sharding["ranks"], sharding["zero"]) == (ranks, zero), sharding
assert sharding["mesh"] == f"dp:{ranks}"

held = {kind: 0 for kind in FIELDS}
buckets = {}
for bucket in sharding["buckets"]:
    buckets[bucket["name"]] = bucket
    ranges = bucket["ranges"]
    size = bucket["elements"] // bucket["slices"]
    assert bucket["slices"] in (1, ranks), bucket
    assert ranges == [[r % bucket["slices"] * size, (r % bucket["slices"] + 1) * size]
                      for r in range(ranks)], bucket
    assert bucket["states"][0]["slot"] == "", bucket
    for state in bucket["states"]:
        assert state["bytes"] * state["slices"] == bucket["elements"] * SIZES[state["dtype"]]
        held[state["kind"]] += state["bytes"]
for kind, field in FIELDS.items():
    rest = memory.get(field, 0) - held[kind]  # step counters
    assert 0 <= rest <= (64 if kind == "optimizer" else 0), (field, rest)
    if field not in memory:
        continue
    assert sharding["bytes"][field]["held"] == memory[field]
    assert (sharding["bytes"][field]["whole"] == 0) == (memory[field] == 0 or kind == "gathered")

used = {name: 0 for name in buckets}
for parameter in sharding["parameters"]:
    bucket = buckets[parameter["bucket"]]
    begin, end = parameter["begin"], parameter["end"]
    used[parameter["bucket"]] += end - begin
    expected = {r for r, (b, e) in enumerate(bucket["ranges"]) if b < end and begin < e}
    named = {r for first, last in parameter["ranks"] for r in range(first, last + 1)}
    assert named == expected, parameter
    assert parameter["whole"] == (bucket["slices"] == 1), parameter
for name, bucket in buckets.items():
    assert bucket["padding"] == bucket["elements"] - used[name], bucket
    assert 0 <= bucket["padding"], bucket
names = [parameter["name"] for parameter in sharding["parameters"]]
assert len(set(names)) == len(names), names
whole = sum(buckets[p["bucket"]]["slices"] == 1 for p in sharding["parameters"])
print(f"{len(names)} parameters, {whole} whole, in {len(buckets)} buckets")
