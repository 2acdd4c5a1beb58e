"""Lets system calls of a save by several ranks fail, one after the other.

Usage: save-phases.py --program ToySaves --faults LIBRARY --work DIR [--tries N] [--seed S]

Three ranks save three steps in phases: one makes the directory, each writes its file, one commits. Every call that concerns
the save directory is a case: it fails once, once and ever after, or the process is killed before it, in whatever order the
ranks make their calls in this run. How often a directory is read that another rank writes to differs by run, so the last
calls of one run may be missing in the next: such a case is tried again. After each case

- all ranks end alike, with 0, 5 (the place of a step is taken) or 8 and a message;
- every step that is there is whole, and those that the run reported are there, but for what it may remove;
- the next run comes to the end of an undisturbed one, and nothing half-written is left.
"""

import argparse
import errno as E
import os
import pathlib
import random
import shutil
import subprocess
import sys

STEPS, KEEP = 3, 2
ERRORS = {
    "create": E.ENOSPC, "write": E.ENOSPC, "fsync": E.EIO, "close": E.EIO, "mkdir": E.ENOSPC, "rename": E.EIO,
    "renameat2": E.EIO, "open": E.EMFILE, "lstat": E.EIO, "flock": E.EIO, "unlink": E.EIO, "unlinkat": E.EIO,
}

parser = argparse.ArgumentParser()
parser.add_argument("--program", required=True)
parser.add_argument("--faults", required=True)
parser.add_argument("--work", required=True, type=pathlib.Path)
parser.add_argument("--tries", type=int, default=0)
parser.add_argument("--seed", type=int, default=3)
args = parser.parse_args()

work = args.work.resolve()
shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
saves, log = work / "trial" / "saves", work / "log"


def run(faults=None, steps=STEPS):
    environment = dict(os.environ, GOMP_SPINCOUNT="1000")
    if faults is not None:
        log.unlink(missing_ok=True)
        environment.update(faults, LD_PRELOAD=args.faults, FAULTS_UNDER=str(work / "trial"), FAULTS_LOG=str(log))
    return subprocess.run([args.program, saves, str(steps)], env=environment, capture_output=True, text=True, timeout=60)


def clear():
    shutil.rmtree(work / "trial", ignore_errors=True)
    (work / "trial").mkdir()


def files(step):
    return {path.name: path.read_bytes() for path in step.iterdir()}


def undisturbed():
    """The files of each step, from runs that end after it."""
    found = {}
    for last in range(1, STEPS + 1):
        result = run(steps=last)
        if result.returncode != 0:
            sys.exit(f"the undisturbed run: exit {result.returncode}: {result.stderr}")
        name = f"step_{last:08d}"
        found[name] = files(saves / name)
    return found


clear()
whole = undisturbed()
names = {"MANIFEST.json", "model.json", *(f"rank_0000{rank}.safetensors" for rank in range(3))}
assert all(set(found) == names for found in whole.values()), whole
last = sorted(whole)[-KEEP:]
assert sorted(path.name for path in saves.iterdir() if not path.name.startswith(".")) == last


def check(result, mode):
    if result.returncode not in ([-9] if mode == "kill" else [0, 5, 8]):
        return f"exit {result.returncode}"
    if result.returncode > 0 and "weft: error: " not in result.stderr:
        return "no message"
    found = [path.name for path in saves.iterdir()] if saves.exists() else []
    for name in found:
        if name in whole and files(saves / name) != whole[name]:
            return f"{name} is not whole"
        if name.startswith("step_") and name not in whole:
            return f"{name} is there"
    told = [line.split()[1] for line in result.stdout.splitlines()]
    if any(name not in found for name in told[-1:]):
        return f"{told[-1]} is missing"
    again = run()
    if again.returncode != 0:
        return f"the next run ends with {again.returncode}: {again.stderr}"
    left = sorted(path.name for path in saves.iterdir() if path.name != ".lock")
    # Where nothing was left to save, nothing is removed.
    if [name for name in left if name in last] != last or any(name not in whole for name in left):
        return f"the next run leaves {left}"
    return None if all(files(saves / name) == whole[name] for name in left) else "the next run leaves other files"


def calls_of_a_run():
    clear()
    run({})
    return [line.split("\t")[1] for line in log.read_text().splitlines()]


calls = sorted((calls_of_a_run() for _ in range(5)), key=len)[2]
cases = [(number, call, mode) for number, call in enumerate(calls, 1) for mode in ("once", "all", "kill")
         if mode == "kill" or call in ERRORS]
if args.tries:
    random.Random(args.seed).shuffle(cases)
    cases = cases[:args.tries]


def disturbed(number, call, mode):
    """A run that came as far as the call with this number."""
    for _ in range(100):
        clear()
        result = run({"FAULTS_AT": str(number), "FAULTS_MODE": mode, "FAULTS_ERROR": str(ERRORS.get(call, 0))})
        if result.returncode == -9 or len(log.read_text().splitlines()) >= number:
            return result
    sys.exit(f"no run made as many as {number} calls")


codes, failures = {}, 0
for number, call, mode in cases:
    result = disturbed(number, call, mode)
    codes[result.returncode] = codes.get(result.returncode, 0) + 1
    problem = check(result, mode)
    if problem:
        failures += 1
        print(f"{number} {call} {mode}: {problem}\n{result.stderr}", flush=True)
if failures:
    sys.exit(f"{failures} of {len(cases)} cases fail")
print(f"{len(cases)} cases, by exit code: {dict(sorted(codes.items()))}, nothing half-written")
