#!/usr/bin/env python3
"""usage: state-bytes.py PLAN REPORT TEXT

Holds what `weft inspect --memory --json` says (REPORT), and without --json (TEXT), against the states of the
same program after the phase plan-memory (PLAN): every line, 16P, each difference
from it, and that all of them add up to the arena, byte for byte.
"""
import json
import math
import re
import sys

SIZES = {"f32": 4, "f16": 2, "bf16": 2, "i64": 8}
STATE = re.compile(r"plan\.state (\w+) @(\S+) : memref<((?:\d+x)*)(\w+)>(.*)")
LINES = {"parameters": "param", "gradients": "gradient", "optimizer_state": "optimizer",
         "scaler_state": "scaler", "working_copies": "working"}


def read_states(path):
    """Kind, parameter (or None), elements and type of each state."""
    with open(path) as file:
        for line in file:
            match = STATE.search(line)
            if not match:
                continue
            kind, name, shape, dtype, rest = match.groups()
            owner = re.search(r"param = @([^,}\s]+)", rest)
            owner = owner.group(1) if owner else name if kind == "param" else None
            yield kind, owner, math.prod(map(int, shape.split("x")[:-1])), dtype


def differences(states, elements):
    """Bytes of the states beyond 16 for each parameter, by name."""
    copied = {owner for kind, owner, _, _ in states if kind == "working"}
    result = {
        "gradients in f32": sum(2 * n for kind, _, n, dtype in states
                                if kind == "gradient" and dtype == "f32"),
        "parameters without a working copy":
            -sum(2 * n for owner, n in elements.items() if owner not in copied),
        "step counters and loss scale": sum(n * SIZES[dtype]
                                            for _, owner, n, dtype in states if not owner),
    }
    return {name: value for name, value in result.items() if value}


def expect(what, got, expected):
    if got != expected:
        sys.exit(f"state-bytes.py: expects {what} {expected}, but got {got}")


def in_words(count):
    """Bytes as the report writes them."""
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if count >= unit:
            return f"{count / unit:.2f} {name}"
    return f"{count} B"


def main():
    states = list(read_states(sys.argv[1]))
    with open(sys.argv[2]) as file:
        report = json.load(file)["memory"]
    for line, kind in LINES.items():
        expect(line, report.get(line, 0),
               sum(n * SIZES[dtype] for k, _, n, dtype in states if k == kind))
    elements = {owner: n for kind, owner, n, _ in states if kind == "param"}
    formula, count = report["state_formula"], sum(elements.values())
    named = {entry["what"]: entry["bytes"] for entry in formula["differences"]}
    expect("P", formula["parameters"], count)
    expect("16P", formula["formula_bytes"], 16 * count)
    expect("differences", named, differences(states, elements))
    expect("the state", formula["state_bytes"], 16 * count + sum(named.values()))
    expect("the state", formula["state_bytes"], sum(report.get(k, 0) for k in LINES))
    rest = {name: report[name] for name in ("activations", "temporaries", "workspaces", "inputs")}
    gaps = report["arena_bytes"] - formula["state_bytes"] - sum(rest.values())
    with open(sys.argv[3]) as file:
        said = re.search(r"alignment and gaps +(.+)\n", file.read())
    expect("alignment and gaps", in_words(gaps), said.group(1))
    expect("the arena", report["arena_bytes"],
           report["persistent_bytes"] + report["transient_bytes"])
    terms = [f"16 x {count}", *(f"{value:+d} ({name})" for name, value in named.items()),
             *(f"{value:+d} ({name})" for name, value in rest.items())]
    print(f"arena {report['arena_bytes']} =", *terms, f"{gaps:+d} (gaps)")


main()
