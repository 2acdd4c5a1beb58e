#!/usr/bin/env python3
"""usage: weft inspect PROGRAM --sharding --json | held.py

Prints how many elements of each parameter ranks 0, 1, ... hold, then those of each
bucket, and the padding among them.
"""
import json
import sys

sharding = json.load(sys.stdin)["sharding"]
buckets = {bucket["name"]: bucket for bucket in sharding["buckets"]}
for param in sharding["parameters"]:
    ranges = buckets[param["bucket"]]["ranges"]
    held = [max(0, min(end, param["end"]) - max(begin, param["begin"])) for begin, end in ranges]
    print(param["name"] + ":", *held)
for name, bucket in buckets.items():
    print(f"bucket {name}:", *(end - begin for begin, end in bucket["ranges"]), "padding", bucket["padding"])
