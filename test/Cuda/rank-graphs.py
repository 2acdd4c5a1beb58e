#!/usr/bin/env python3
"""Launches of the programs of a step where ranks share the work.

usage: rank-graphs.py BUILD PROGRAM TWINS DATA LOG

PROGRAM has two ranks on the emulated device. As processes, each rank launches one graph for each run of a program once
the graphs are recorded, and nothing else: no kernel, product or collective. As threads of one device, both ranks
together launch one graph.
"""
import os
import pathlib
import subprocess
import sys

build, program, twins, data, log = sys.argv[1:]
RANKS, ACCUM = 2, 2
LAUNCHES = ("cuGraphLaunch", "cuLaunchKernel", "cublasLtMatmul", "ncclAllGather", "ncclAlltoAll")
STEP = ["denominators", "denominators", "micro", "micro", "apply"]
RECORDED = 3  # steps after which each program of a step has a graph
emulation = pathlib.Path(build, "test/emulation")


def call(command, **environment):
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL,
                   env=dict(os.environ, LD_LIBRARY_PATH=str(emulation), WEFT_TWINS=f"{twins}:{emulation / 'kernels.so'}",
                            NVTX_INJECTION64_PATH=str(emulation / "nvtx-tool.so"), **environment))


def flags(steps):
    return ["--data", data, "--progress", "none", "--accum", ACCUM, "--steps", steps]


def runs_of(path):
    """Each run of a program, and how often each call of LAUNCHES is made in it."""
    runs, depth = [], 0
    for line in path.read_text().splitlines():
        words = line.split()
        if words[0] == "push":
            if depth == 0:
                runs.append((words[2], {}))
            depth += 1
        elif words[0] == "pop":
            depth -= 1
        elif runs and words[1] in LAUNCHES:
            calls = runs[-1][1]
            calls[words[1]] = calls.get(words[1], 0) + 1
    return runs


def check_processes(steps):
    logs = [pathlib.Path(f"{log}.{rank}") for rank in range(RANKS)]
    for path in logs:
        path.unlink(missing_ok=True)
    start = pathlib.Path(__file__).parent.parent / "Dist/Inputs/start_ranks.py"
    call([sys.executable, start, RANKS, *(f"{rank}:WEFT_EMULATION_RECORD={path}" for rank, path in enumerate(logs)), "--",
          program, *flags(steps)])
    for rank, path in enumerate(logs):
        runs = [(name.partition("_")[0], calls) for name, calls in runs_of(path) if name != "init"]
        if [name for name, _ in runs] != STEP * steps:
            sys.exit(f"rank {rank}: expects {STEP} {steps} times, but got {runs}")
        recorded = runs[len(STEP) * RECORDED:]
        if not recorded or any(calls != {"cuGraphLaunch": 1} for _, calls in recorded):
            sys.exit(f"rank {rank}: expects one launch of a graph for each run, but got {recorded}")
        print(f"rank {rank}: {len(recorded)} runs of programs in {steps - RECORDED} steps, one graph each")


def count_calls(steps):
    """Calls that threads of one device make."""
    path = pathlib.Path(f"{log}.threads")
    path.unlink(missing_ok=True)
    call([program, *flags(steps), "--loopback", RANKS], WEFT_EMULATION_RECORD=str(path))
    names = [line.split()[1] for line in path.read_text().splitlines() if line.startswith("call")]
    return {name: names.count(name) for name in LAUNCHES}


def check_threads(steps):
    first, all = count_calls(RECORDED), count_calls(steps)
    added = {name: all[name] - first[name] for name in LAUNCHES if all[name] != first[name]}
    wanted = len(STEP) * (steps - RECORDED)
    if added != {"cuGraphLaunch": wanted}:
        sys.exit(f"expects {wanted} launches of graphs in {steps - RECORDED} steps, but got {added}")
    print(f"threads: {wanted} runs of programs in {steps - RECORDED} steps, one graph each")


check_processes(8)
check_threads(8)
