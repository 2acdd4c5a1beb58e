#!/usr/bin/env python3
"""When the host waits for a CUDA device.

usage: no-waits.py BUILD WORK MODEL DATA

Of runs on the emulated device, with a tool that records where a program is given
to it: the update of a step, the denominators and the micro-step of the next one
are given without waiting for anything, and whenever the host gives it another run, one that nobody has
waited for is still under way. Each run of a program is one launch of a graph once its graph is recorded.
"""
import os
import subprocess
import sys

build, work, model, data = sys.argv[1:]
weft = os.path.join(build, "bin", "weft")
emulation = os.path.join(build, "test", "emulation")
program, twins, log = (os.path.join(work, name) for name in ("model", "twins.so", "log"))
STEPS = 8


def call(command, **environment):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=dict(os.environ, **environment))


def events_of(accum):
    """Names of programs that are given to the device, and "wait" for each that is waited for; graphs that each launches."""
    if os.path.exists(log):
        os.remove(log)
    call([program, "--data", data, "--steps", str(STEPS), "--accum", str(accum), "--progress", "none"],
         LD_LIBRARY_PATH=emulation, WEFT_TWINS=f"{twins}:{os.path.join(emulation, 'kernels.so')}",
         WEFT_EMULATION_RECORD=log, NVTX_INJECTION64_PATH=os.path.join(emulation, "nvtx-tool.so"))
    events, launches, depth, waits, streams = [], [], 0, 0, 0
    with open(log) as lines:
        for line in lines:
            streams += line.startswith("call cuStreamCreate")
            if line.startswith("push"):
                if depth == 0:
                    events.append(line.split()[2])
                    launches.append([events[-1], 0])
                depth += 1
            elif line.startswith("pop"):
                depth -= 1
            elif line == "call cuGraphLaunch\n":
                launches[-1][1] += 1
            elif line == "call cuEventSynchronize\n":
                waits += 1
                # A run is over when each of the program's streams is.
                events += ["wait"] if waits % streams == 0 else []
    return events[events.index("denominators"):], launches


call([weft, "compile", model, "--target=cuda:sm_90", "-o", program])
call([weft + "-twins", model, "--target=cuda:sm_90", "-o", twins])
for accum in 1, 4:
    events, launches = events_of(accum)
    steps = [i for i, event in enumerate(events) if event == "apply"]
    for i in steps[1:-1]:
        if events[i + 1:i + 3] != ["denominators", "micro"] and accum == 1:
            sys.exit(f"expects the next step behind update {steps.index(i) + 1}, but got {events[i - 4:i + 5]}")
    under_way = 0
    for i, event in enumerate(events):
        if event != "wait" and 2 * (2 * accum + 1) < i < steps[-1] and under_way < 1:
            sys.exit(f"expects work under way, but got {events[max(0, i - 6):i + 2]}")
        under_way += -1 if event == "wait" else 1
    # Two runs of each program and value of its flags record it.
    steady = launches[next(i for i, run in enumerate(launches) if run[1]):][4 * accum + 4:]
    if not steady or any(count != 1 for _, count in steady):
        sys.exit(f"expects one launch of a graph for each run, but got {launches}")
    print(f"--accum={accum}: {len(events)} events, {len(steady)} graphs, the device always has work")
