"""count-runs.py TRACE ROUTINE: how often the routine ran, by a trace.

One line for each program: `micro: 6 of 54 commands`. A trace that dropped
events is an error.
"""
import collections
import json
import sys


def main(path, routine):
    with open(path) as f:
        trace = json.load(f)
    if trace["otherData"]["dropped"]:
        sys.exit(f"{path}: expects all events, but it dropped some")
    events = [e for e in trace["traceEvents"] if e["ph"] == "X" and e["pid"] == 0]
    runs = collections.Counter(e["cat"] for e in events)
    found = collections.Counter(e["cat"] for e in events
                                if e["args"]["routine"] == routine)
    for program in sorted(runs):
        print(f"{program}: {found[program]} of {runs[program]} commands")


main(*sys.argv[1:])
