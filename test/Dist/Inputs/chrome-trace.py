"""chrome-trace.py FILE PROCESS...: a trace whose processes have what computes, gathers and reductions.

The format is that of Chrome's trace events: complete events with times of microseconds, which do not overlap within
one thread, and names of processes and threads.
"""
import collections
import json
import sys

trace = json.load(open(sys.argv[1]))
slices, threads = collections.defaultdict(list), {}
for event in trace["traceEvents"]:
    assert event["ph"] in "XM", event
    if event["ph"] == "M":
        if event["name"] == "thread_name":
            threads[event["pid"], event["tid"]] = event["args"]["name"]
        continue
    assert event["dur"] >= 0 and event["ts"] >= 0 and event["name"] and event["cat"], event
    slices[event["pid"], event["tid"]].append((event["ts"], event["dur"], event["name"]))
for process in map(int, sys.argv[2:]):
    for stream, name, kind in ((0, "compute", "gemm"), (3, "gathers", "all_gather"), (4, "reductions", "reduce_scatter")):
        assert threads[process, stream] == name, threads
        found = sorted(slices[process, stream])
        assert any(what.startswith(kind) for _, _, what in found), (process, name)
        for (begin, time, what), (after, _, other) in zip(found, found[1:]):
            assert after >= begin + time - 0.01, (process, name, what, other)
