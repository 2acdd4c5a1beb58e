#!/usr/bin/env python3
"""Sends a signal to one rank of a run, or to its launcher, and waits for its end.

usage: signal_rank.py SAVES SIGNAL RANK SECONDS [LATER] -- COMMAND...

RANK is a number, or "launcher". The signal comes when SAVES holds a checkpoint, or
LATER seconds later: then the run has to go on until then. The
run has to end within SECONDS of it, with no process of it left; prints its code.
"""
import os
import signal
import subprocess
import sys
import time

# nohup around the tests would let the run ignore it.
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def ranks_of(program):
    """Process of each rank that runs the program."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            with open(f"/proc/{name}/environ", "rb") as file:
                settings = dict(line.partition(b"=")[::2] for line in file.read().split(b"\0"))
        except OSError:
            continue
        rank = settings.get(b"OMPI_COMM_WORLD_RANK", settings.get(b"RANK"))
        if os.fsdecode(words[0]) == program and rank is not None:
            found[int(rank)] = int(name)
    return found


def main():
    dashes = sys.argv.index("--")
    saves, name, rank, seconds = sys.argv[1:5]
    later = sum(map(float, sys.argv[5:dashes]))
    command = sys.argv[dashes + 1:]
    program = next(word for word in command if os.path.isabs(word) and os.access(word, os.X_OK))
    run = subprocess.Popen(command)
    deadline = time.monotonic() + 60
    while not any(step.startswith("step_") for step in
                  (os.listdir(saves) if os.path.isdir(saves) else [])):
        if run.poll() is not None or time.monotonic() > deadline:
            raise SystemExit("the run has not saved")
        time.sleep(0.05)
    time.sleep(later)
    if run.poll() is not None:
        raise SystemExit(f"the run has ended with {run.poll()} before the signal")
    number = getattr(signal, "SIG" + name)
    target = run.pid if rank == "launcher" else ranks_of(program)[int(rank)]
    begin = time.monotonic()
    os.kill(target, number)
    try:
        code = run.wait(timeout=float(seconds))
    except subprocess.TimeoutExpired:
        run.kill()
        raise SystemExit(f"the run goes on {seconds} s after the signal")
    took = time.monotonic() - begin
    left = ranks_of(program)
    for process in left.values():
        os.kill(process, signal.SIGKILL)
    if left:
        raise SystemExit(f"ranks {sorted(left)} are left")
    print(f"ended with {code}", file=sys.stderr)
    print(f"after {took:.1f} s")


if __name__ == "__main__":
    main()
