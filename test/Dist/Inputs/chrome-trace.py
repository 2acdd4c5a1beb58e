"""chrome-trace.py FILE PROCESS...: a trace whose processes have what computes, gathers and reductions.

The format is that of Chrome's trace events: complete events with times of microseconds, which do not overlap within
one thread, counters of bytes, and names of processes and threads.
"""
import collections
import json
import sys

trace = json.load(open(sys.argv[1]))
slices, threads, counters = collections.defaultdict(list), {}, collections.defaultdict(list)
for event in trace["traceEvents"]:
    assert event["ph"] in "XMC", event
    if event["ph"] == "M":
        if event["name"] == "thread_name":
            threads[event["pid"], event["tid"]] = event["args"]["name"]
        continue
    if event["ph"] == "C":
        counters[event["pid"]].append((event["ts"], event["args"]["bytes"]))
        continue
    assert event["dur"] >= 0 and event["ts"] >= 0 and event["name"] and event["cat"], event
    slices[event["pid"], event["tid"]].append((event["ts"], event["dur"], event["name"]))
for process in map(int, sys.argv[2:]):
    assert len({value for _, value in counters[process]}) > 3, counters
    assert all(a[0] < b[0] and a[1] != b[1] for a, b in zip(counters[process], counters[process][1:])), counters
    for stream, name, kind in ((0, "compute", "gemm"), (3, "gathers", "all_gather"), (4, "reductions", "reduce_scatter")):
        assert threads[process, stream] == name, threads
        found = sorted(slices[process, stream])
        assert any(what.startswith(kind) for _, _, what in found), (process, name)
        for (begin, time, what), (after, _, other) in zip(found, found[1:]):
            assert after >= begin + time - 0.01, (process, name, what, other)
