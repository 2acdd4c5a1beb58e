#!/usr/bin/env python3
"""The ranges that a program for a CUDA device makes for a profiler.

usage: ranges.py BUILD WORK MODEL DATA

Trains on the emulated device with a tool that records ranges between the calls
of the driver. With --no-graph every command of every run is given to the device
in the range of its scope, in those of the scopes around it, in that of its
program; with graphs the first run and the recording have them, and a launch of a
graph is in the range of its program alone. Without a tool there are none.
"""
import collections
import json
import os
import re
import subprocess
import sys

build, work, model, data = sys.argv[1:]
weft = os.path.join(build, "bin", "weft")
emulation = os.path.join(build, "test", "emulation")
program, twins, log = (os.path.join(work, name) for name in ("model", "twins.so", "log"))
STEPS = 4
WORK = re.compile(r"call (cuLaunchKernel|cublasLtMatmul|cuGraphLaunch)$")


def call(command, **environment):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=dict(os.environ, **environment))


def trained(*flags, **environment):
    """The lines of a recording of a run."""
    if os.path.exists(log):
        os.remove(log)
    call([program, "--data", data, "--steps", str(STEPS), "--progress", "none", *flags], LD_LIBRARY_PATH=emulation,
         WEFT_TWINS=f"{twins}:{os.path.join(emulation, 'kernels.so')}", WEFT_EMULATION_RECORD=log, **environment)
    with open(log) as lines:
        return lines.read().splitlines()


def runs_in(lines):
    """Runs of programs: name, and the work given to the device with the innermost range."""
    runs, ranges = [], []
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "push":
            domain, _, text = rest.partition(" ")
            outer = ranges[-1] if len(ranges) > 1 else None
            if domain != "weft" or (outer and text.rpartition(".")[0] != outer):
                sys.exit(f"expects a range of weft in {ranges}, but got {line}")
            if not ranges:
                runs.append((text, []))
            ranges.append(text)
        elif word == "pop":
            ranges.pop()
        elif ranges and WORK.match(line):
            runs[-1][1].append((rest, ranges[-1] if len(ranges) > 1 else ""))
    if ranges:
        sys.exit(f"ranges {ranges} do not end")
    return runs


def check_scopes(runs):
    """Every command of each run stands in the range of its scope."""
    schedule = json.loads(subprocess.run([weft, "inspect", program, "--schedule", "--json"], check=True,
                                         capture_output=True, text=True).stdout)["schedule"]
    for name, done in runs:
        expected = {command[1] for command in schedule[name]}
        got = {scope for _, scope in done}
        if not got <= expected or (name == "micro" and not {"h.0.up", "h.0.act", "h.1", "head"} <= got):
            sys.exit(f"{name}: expects work in {sorted(expected)}, but got {done}")


call([weft, "compile", model, "--target=cuda:sm_90", "-o", program])
call([weft + "-twins", model, "--target=cuda:sm_90", "-o", twins])
tool = {"NVTX_INJECTION64_PATH": os.path.join(emulation, "nvtx-tool.so")}

plain = runs_in(trained("--no-graph", **tool))
check_scopes(plain)
names = collections.Counter(name for name, _ in plain)
if names["micro"] != STEPS or names["apply"] != STEPS:
    sys.exit(f"expects {STEPS} runs of micro and apply, but got {names}")
first = [done for name, done in plain if name == "micro"]
if any(done != first[0] for done in first):
    sys.exit(f"expects equal runs without a graph, but got {first}")

graphs = [done for name, done in runs_in(trained(**tool)) if name == "micro"]
launch = ("cuGraphLaunch", "")
recorded = [one for one in graphs[1] if one != launch]
launches = graphs[1].count(launch)
if graphs[0] != first[0] or recorded != first[0] or not launches or graphs[2:] != [[launch] * launches] * (STEPS - 2):
    sys.exit(f"expects a run, a recording and launches of a graph, but got {graphs}")

if any(line.startswith(("push", "pop")) for line in trained()):
    sys.exit("expects no ranges without a tool")
print(f"{len(plain)} runs, {sum(len(done) for _, done in plain)} launches in ranges")
