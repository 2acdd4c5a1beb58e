"""Lets system calls of a saving run fail, one after the other.

Usage: storage-faults.py --program TOY --faults LIBRARY --weft WEFT --work DIR [--tries N] [--seed S] [--only CASE]

Three scenarios: a run from the beginning, one that continues, and one that continues past a damaged checkpoint. Each is
recorded once; then every call that concerns its folder is a case: it fails with an error that it may have, once or from
then on, does half of a write, or the process is killed before it. After each case

- the exit code is 0 or 8 (0 where the error is one to live with), 4 if the call had no
  memory, with a message;
- every checkpoint that was there or that the run reported is whole, but for those that --keep may remove;
- every directory with the name of a step is whole, and nothing whole is called damaged;
- the log shows write, fsync, rename and fsync of the folder in this order;
- the same run without faults continues to the same checkpoints and metrics as one that was never disturbed.

--tries N takes N cases, drawn so that all kinds of call, error and mode appear; without it all are run.
"""

import argparse
import errno
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

KEEP, STEPS = 2, 6
STEP = re.compile(r"step_\d{8}$")
DAMAGED = re.compile(r"step_\d{8}\.damaged")
E = errno
ERRORS = {
    "open": [E.EACCES, E.EMFILE, E.EIO],
    "create": [E.ENOSPC, E.EACCES, E.EMFILE],
    "opendir": [E.EACCES, E.ENFILE],
    "readdir": [E.EIO],
    "read": [E.EIO, E.ENOMEM],
    "mmap": [E.EIO, E.ENOMEM],
    "write": [E.ENOSPC, E.EIO],
    "ftruncate": [E.EIO],
    "fsync": [E.EIO, E.ENOSPC],
    "close": [E.EIO],
    "mkdir": [E.ENOSPC, E.EACCES],
    "rename": [E.EIO, E.EACCES],
    "renameat2": [E.EIO, E.ENOSPC],
    "unlink": [E.EIO, E.EACCES],
    "unlinkat": [E.EIO, E.EACCES],
    "rmdir": [E.EBUSY],
    "flock": [E.EIO],
    "stat": [E.EACCES, E.EIO],
    "lstat": [E.EACCES, E.EIO],
    "fstat": [E.EIO],
    "statvfs": [E.EIO, E.ENOSYS],
}
# Faults that a run tolerates: (call, mode, error).
HARMLESS = [(call, "burst", E.EINTR) for call in ("open", "create", "read", "fsync", "flock", "renameat2", "rename")]
HARMLESS += [("write", "burst", E.EINTR), ("write", "once", 0), ("write", "forever", 0), ("close", "once", E.EINTR)]
HARMLESS += [("renameat2", "forever", error) for error in (E.EINVAL, E.ENOSYS)]
HARMLESS += [("flock", "forever", error) for error in (E.ENOLCK, E.EOPNOTSUPP, E.ENOSYS)]

parser = argparse.ArgumentParser()
parser.add_argument("--program", required=True)
parser.add_argument("--faults", required=True)
parser.add_argument("--weft", default="weft")
parser.add_argument("--work", required=True, type=pathlib.Path)
parser.add_argument("--tries", type=int, default=0)
parser.add_argument("--seed", type=int, default=8)
parser.add_argument("--only", help="one case, as printed: SCENARIO/NUMBER/CALL/MODE/ERROR")
args = parser.parse_args()

work = args.work.resolve()
shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
data, trial, log = work / "data.txt", work / "trial", work / "log"
data.write_text("the quick brown fox jumps over the lazy dog\n" * 60)
saves = trial / "runs" / "saves"


def run(*more, keep=KEEP, faults=None):
    command = [args.program, f"--data={data}", f"--steps={STEPS}", "--save-every=2", f"--keep={keep}",
               f"--metrics={trial / 'metrics'}", f"--save-dir={saves}", "--threads=1", "--progress=line", *more]
    # With the spin count set, the program does not start itself again.
    environment = dict(os.environ, GOMP_SPINCOUNT="1000")
    if faults is not None:
        log.unlink(missing_ok=True)
        environment.update(faults, LD_PRELOAD=args.faults, FAULTS_UNDER=str(trial), FAULTS_LOG=str(log))
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def expect_success(result, what):
    if result.returncode != 0:
        sys.exit(f"{what}: exit {result.returncode}: {result.stderr}")


def tensors(step):
    """The contents by which checkpoints are compared: tensors and their entries in the manifest."""
    manifest = json.loads((step / "MANIFEST.json").read_text())
    assert STEP.match(step.name) is None or manifest["step"] == int(step.name[5:]), step
    return [manifest["step"], manifest["files"], (step / "rank_00000.safetensors").read_bytes(),
            (step / "model.json").read_bytes()]


def metrics():
    lines = [json.loads(line) for line in (trial / "metrics").read_text().splitlines()]
    return [(line["step"], line["loss"], line["grad_norm"]) for line in lines[1:]]


def clear():
    shutil.rmtree(trial, ignore_errors=True)
    trial.mkdir()


# ---------------------------------------------------------------------------
# The files of an undisturbed run
# ---------------------------------------------------------------------------

clear()
expect_success(run(keep=0), "the undisturbed run")
whole = {step.name: tensors(step) for step in saves.iterdir()}
whole_metrics = metrics()
assert sorted(whole) == [f"step_{step:08d}" for step in (2, 4, 6)], sorted(whole)
subprocess.run([args.weft, "ckpt", "verify", saves], check=True, stdout=subprocess.DEVNULL)
clear()
expect_success(run("--stop-after=4"), "the run to continue")
shutil.copytree(trial, work / "resume")
left = work / "resume" / "runs" / "saves"
(left / ".lock").write_text("process 1 on nowhere")
(left / ".tmp-step_00000005-1-0").mkdir()
(left / ".tmp-step_00000005-1-0" / "x").write_text("x")
shutil.copytree(trial, work / "damaged")
hurt = work / "damaged" / "runs" / "saves"
damage = bytearray(whole["step_00000004"][2])
damage[-1] ^= 1
(hurt / "step_00000004" / "rank_00000.safetensors").write_bytes(damage)
(hurt / "step_00000004.damaged").mkdir()
(work / "fresh").mkdir()
SCENARIOS = {"fresh": "never", "resume": "auto", "damaged": "auto"}


def begin(scenario, faults):
    """Runs a scenario; the result, and the whole steps that were there before."""
    clear()
    shutil.copytree(work / scenario, trial, dirs_exist_ok=True)
    before = {path.name for path in saves.iterdir() if STEP.match(path.name)} if saves.exists() else set()
    if scenario == "damaged":
        before.discard("step_00000004")
    return run(f"--resume={SCENARIOS[scenario]}", faults=faults), before


def calls():
    result = []
    for line in log.read_text().splitlines():
        number, call, value, path, other = line.split("\t")
        result.append((int(number), call, int(value), path, other))
    return result


# ---------------------------------------------------------------------------
# Checks
# ---------------------------------------------------------------------------


def check_order(finished):
    """write -> fsync -> rename -> fsync of the folder, for files, steps and new folders."""
    unwritten, names = set(), set()  # files and folders with something that is not on the disk
    renamed = None  # the last committed step, until its folder is flushed
    for number, call, value, path, other in calls():
        if call == "write" and value > 0:
            unwritten.add(path)
        elif value != 0:
            continue
        elif call == "create":
            names.add(os.path.dirname(path))
        elif call == "mkdir":
            names.add(os.path.dirname(path))
            names.discard(path)
        elif call == "fsync":
            unwritten.discard(path)
            names.discard(path)
            if renamed and path == os.path.dirname(renamed):
                renamed = None
        elif call in ("rename", "renameat2"):
            inside = [name for name in unwritten | names if name == path or name.startswith(path + "/")]
            if inside:
                return f"call {number} renames {path} before {inside} is flushed"
            if renamed:
                return f"call {number} comes before the folder of {renamed} is flushed"
            names.add(os.path.dirname(other))
            if STEP.match(os.path.basename(other)):
                renamed = other
                outer = [name for name in names if str(saves).startswith(name + "/")]
                if outer:
                    return f"call {number} commits before new folders in {outer} are flushed"
    return f"the folder of {renamed} is never flushed" if finished and renamed else None


def check_steps(scenario, result, before):
    found = {path.name for path in saves.iterdir()} if saves.exists() else set()
    reported = {pathlib.Path(line[6:]).name for line in result.stdout.splitlines() if line.startswith("saved ")}
    committed = {name for name in found if STEP.match(name) and name in whole}
    if scenario == "damaged" and "step_00000004" not in reported:
        committed.discard("step_00000004")
    expected = sorted(before | reported | committed)[-KEEP:]
    if not found >= set(expected):
        return f"lost of {expected}: only {sorted(found)} are there"
    for name in sorted(found):
        path = saves / name
        hurts = scenario == "damaged" and name == "step_00000004" and name not in reported
        if DAMAGED.match(name) and list(path.iterdir()):
            hurts = True
        if hurts and (path / "rank_00000.safetensors").read_bytes() == bytes(damage):
            continue
        if hurts and DAMAGED.match(name):
            return f"{name} is whole"
        if STEP.match(name) and tensors(path) != whole[name]:
            return f"{name} is not what was saved"
    if result.returncode == 0 and "step_00000006" not in found:
        return "the last step is missing"
    return None


def check_end(scenario, finished):
    """A run without faults comes to the same end; where nothing was left to save, it removes no old step."""
    again = run("--resume=auto")
    if again.returncode != 0:
        return f"the next run ends with {again.returncode}: {again.stderr}"
    names = sorted(path.name for path in saves.iterdir())
    expected = ["step_00000004", "step_00000006"]
    if scenario == "damaged":
        expected = [expected[0], "step_00000004.damaged", "step_00000004.damaged.2", expected[1]]
    if names != expected and not (finished and names == sorted(expected + ["step_00000002"])):
        return f"the next run leaves {names}, not {expected}"
    for name in ("step_00000004", "step_00000006"):
        if tensors(saves / name) != whole[name]:
            return f"the next run leaves another {name}"
    if metrics() != whole_metrics:
        return f"the next run leaves other metrics: {metrics()}"
    return None


def check(case, result, before, deep):
    scenario, _, call, mode, error = case
    failure = 4 if error == E.ENOMEM else 8
    if result.returncode not in ([-9] if mode == "kill" else [0, failure]):
        return f"exit {result.returncode}"
    if result.returncode == failure and not re.search(r"weft: error: \S+: ", result.stderr):
        return "no message"
    if (call, mode, error) in HARMLESS and result.returncode != 0:
        return f"exit {result.returncode} for an error to live with"
    problem = check_order(result.returncode == 0) or check_steps(scenario, result, before)
    problem = problem or check_end(scenario, (saves / "step_00000006").exists())
    if not problem and deep:
        verified = subprocess.run([args.weft, "ckpt", "verify", saves], capture_output=True, text=True)
        problem = verified.stderr if verified.returncode else None
    return problem


# ---------------------------------------------------------------------------
# Cases
# ---------------------------------------------------------------------------


def cases_of(scenario):
    result, before = begin(scenario, {})
    expect_success(result, scenario)
    problem = check_order(True) or check_steps(scenario, result, before) or check_end(scenario, False)
    if problem:
        sys.exit(f"{scenario}, without a fault: {problem}")
    begin(scenario, {})
    for number, call, _, path, _ in calls():
        removes = ".tmp-retired" in path or ".tmp-step_00000005" in path
        faults = [(mode, error) for error in ERRORS[call] for mode in ("once", "forever", "all")]
        # The C++ library opens a folder that it removes, and does not retry that.
        faults += [(mode, error) for name, mode, error in HARMLESS if name == call and not removes]
        faults += [("kill", 0)] + ([("torn", E.ENOSPC)] if call == "write" else [])
        for mode, error in faults:
            yield (scenario, number, call, mode, error)


def draw(cases):
    """One case of each kind of call, error and mode, then others, in any order."""
    random.Random(args.seed).shuffle(cases)
    kinds, first, rest = set(), [], []
    for case in cases:
        kind = case[2:]
        (rest if kind in kinds else first).append(case)
        kinds.add(kind)
    return (first + rest)[:args.tries]


if args.only:
    scenario, number, call, mode, error = args.only.split("/")
    cases = [(scenario, int(number), call, mode, int(error))]
else:
    cases = [case for scenario in SCENARIOS for case in cases_of(scenario)]
    if args.tries:
        cases = draw(cases)
failures, codes = 0, {}
for count, case in enumerate(cases):
    scenario, number, call, mode, error = case
    faults = {"FAULTS_AT": str(number), "FAULTS_MODE": mode, "FAULTS_ERROR": str(error)}
    result, before = begin(scenario, faults)
    codes[result.returncode] = codes.get(result.returncode, 0) + 1
    problem = check(case, result, before, deep=args.only or count % 20 == 0)
    if problem:
        failures += 1
        name = "/".join(map(str, case))
        print(f"--only {name} ({errno.errorcode.get(error, 'short')}): {problem}\n{result.stderr}", flush=True)
if failures:
    sys.exit(f"{failures} of {len(cases)} cases fail")
print(f"{len(cases)} cases, by exit code: {dict(sorted(codes.items()))}, nothing lost")
