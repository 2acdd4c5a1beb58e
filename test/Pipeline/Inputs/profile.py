"""profile.py PROFILE SCHEDULE TRACE METRICS: the sums of a profile.

Per program, kernel and scope they are those of the trace's events; work is that
of the schedule times the calls; the steps are as long as the metrics say, but
for what a step does beside its commands.
"""
import json
import sys
from math import isclose


def load(path):
    with open(path) as f:
        return json.load(f)


def main(profile, schedule, trace, metrics):
    profile = load(profile)["profile"]
    events = [e for e in load(trace)["traceEvents"] if e["ph"] == "X" and e["pid"] == 0]
    # The clock of processor time is read outside of the duration.
    assert all(e["tdur"] > 0 for e in events), [e for e in events if e["tdur"] <= 0]
    commands = load(schedule)["schedule"]
    total = sum(e["dur"] for e in events)
    assert isclose(profile["total_us"], total, rel_tol=1e-6), (profile["total_us"], total)
    for table in ("programs", "kernels", "scopes"):
        rows = profile[table]
        assert isclose(sum(r["us"] for r in rows), total, rel_tol=1e-6), table
        assert isclose(sum(r["share"] for r in rows), 1, rel_tol=1e-6), table
        assert sum(r["calls"] for r in rows) == len(events), table
        assert all(0 <= r["peak_share"] <= 1 for r in rows), (table, rows)
        assert [r["us"] for r in rows] == sorted((r["us"] for r in rows), reverse=True), table

    # Work: a product by its sizes, everything by the schedule.
    products = [r for r in profile["kernels"] if r["routine"] == "gemm"]
    assert products
    for row in products:
        sizes, inner = row["name"].split()[1], int(row["name"].split()[3])
        flops = 2 * inner * row["calls"]
        for size in sizes.split("x"):
            flops *= int(size)
        assert isclose(row["gflops"], flops / row["us"] * 1e-3, rel_tol=1e-3), row
    for name in ("micro", "apply"):
        row = next(r for r in profile["programs"] if r["name"] == name)
        moved = sum(c[6] for c in commands[name]) * row["calls"] / len(commands[name])
        assert isclose(row["gigabytes_per_second"], moved / row["us"] * 1e-3, rel_tol=1e-6), row
    assert profile["events"] == 0 and profile["peak"]["source"] == "trace", profile
    tables = profile["kernels"] + profile["scopes"] + profile["programs"]
    for field in ("gflops", "gigabytes_per_second"):
        fastest = max(r[field] for r in tables if r["share"] >= 0.01)
        assert isclose(profile["peak"][field], fastest), profile["peak"]

    with open(metrics) as f:
        steps = [e for e in map(json.loads, f) if "loss" in e]
    assert profile["steps"] == len(steps), profile["steps"]
    measured = sum(e["compute_ms"] for e in steps) * 1e3
    within = profile["steps"] * profile["step_us"]
    assert 0.5 * measured <= within <= 1.01 * measured, (within, measured)


if __name__ == "__main__":
    main(*sys.argv[1:])
