#!/usr/bin/env python3
"""Checks that Perfetto keeps all slices of Chrome traces.

usage: trace-nesting.py TRACE...

Perfetto drops a complete event ("ph": "X") that overlaps another one of its track
in part. Its importer takes times in microseconds, multiplies them by 1000 and cuts
the product to whole nanoseconds; other readers round it. With both, each slice of a
process and thread has to lie within the open slice before it or behind it. Prints
the number of slices of each trace; ends with 1 if one would be dropped.
"""
import collections
import json
import sys


def dropped(slices):
    """Slices (begin, duration, name) that overlap an open one in part."""
    found, open_ends = [], []
    for begin, time, name in sorted(slices, key=lambda each: (each[0], -each[1])):
        while open_ends and open_ends[-1] <= begin:
            open_ends.pop()
        if open_ends and begin + time > open_ends[-1]:
            found.append((name, begin, begin + time - open_ends[-1]))
            continue
        open_ends.append(begin + time)
    return found


def tracks(path, nanoseconds):
    """The slices of each process and thread."""
    found = collections.defaultdict(list)
    with open(path) as file:
        events = json.load(file)["traceEvents"]
    for event in events:
        if event["ph"] == "X":
            found[event["pid"], event["tid"]].append(
                (nanoseconds(event["ts"] * 1000), nanoseconds(event["dur"] * 1000), event["name"]))
    return found


def main():
    is_bad = False
    for path in sys.argv[1:]:
        for rule, nanoseconds in (("cut", int), ("rounded", round)):
            for track, slices in sorted(tracks(path, nanoseconds).items()):
                for name, begin, beyond in dropped(slices):
                    is_bad = True
                    print(f"{path}: track {track}, times {rule}: '{name}' at {begin} ns ends {beyond} ns too late")
        print(f"{path}: {sum(len(slices) for slices in tracks(path, round).values())} slices")
    return is_bad


sys.exit(main())
