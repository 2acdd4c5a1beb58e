"""bytes-in-use.py SCHEDULE MEMORY TIMELINE: what the three say of the arena agrees."""
import json
import sys

schedule, memory, timeline = (json.load(open(path)) for path in sys.argv[1:])
memory = memory["memory"]
always = memory["persistent_bytes"] + memory.get("staging_bytes", 0)
most = {program: max(row[10] for row in rows) for program, rows in schedule["schedule"].items() if rows}
for program in memory["programs"]:
    assert most[program["name"]] == always + program["lower_bound"] <= memory["arena_bytes"], (program, most)
assert all(row[10] >= always for rows in schedule["schedule"].values() for row in rows)
counters = [event["args"]["bytes"] for event in timeline["traceEvents"] if event["ph"] == "C"]
assert max(counters) == max(most.values()) and len(set(counters)) > 10, counters
