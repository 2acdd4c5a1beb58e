"""Two processes on one save directory at a time.

Usage: two-processes.py --program TOY --faults LIBRARY --weft WEFT --work DIR [--rounds N] [--seed S]

Both prove that they can fail: of the runs that are started together some have to be refused, and where the file system
has no locks the same checks have to find what goes wrong. Runs against runs (started together, with --keep, after a kill, against a stopped one, without locks), and a saving run
against those that read its directory (weft ckpt, sampling, a run that continues elsewhere). One run at a time writes;
what is committed stays what it was; metrics are those of the run that had the directory; readers never fail.
"""

import argparse
import atexit
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--program", required=True)
parser.add_argument("--faults", required=True)
parser.add_argument("--weft", default="weft")
parser.add_argument("--work", required=True, type=pathlib.Path)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--seed", type=int, default=8)
args = parser.parse_args()

work = args.work.resolve()
shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
data, saves, metrics, second = work / "data.txt", work / "saves", work / "metrics", work / "metrics-2"
data.write_text("the quick brown fox jumps over the lazy dog\n" * 60)
numbers = random.Random(args.seed)
# The holder writes its number when it has the lock: who comes in between reads none.
IN_USE = re.compile(r"expects a save directory that no other run uses, but (?:process (\d+) on |another process does)")
# A file system without locks: flock ends with ENOLCK.
NO_LOCKS = {"LD_PRELOAD": args.faults, "FAULTS_UNDER": str(work), "FAULTS_NAME": "flock", "FAULTS_AT": "1",
            "FAULTS_MODE": "forever", "FAULTS_ERROR": "37"}


# How often a check may be done again because its runs did not meet.
TRIES = 10


class Run:
    """A training run in the background."""

    def __init__(self, *more, steps=40, every=2, keep=0, folder=saves, environment=None):
        command = [args.program, f"--data={data}", f"--steps={steps}", f"--save-every={every}", f"--keep={keep}",
                   f"--save-dir={folder}", "--threads=1", "--progress=line", "--accum=20", *more]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=dict(os.environ, GOMP_SPINCOUNT="1000", **(environment or {})))
        # Nothing runs on when a check fails.
        atexit.register(self.process.kill)

    def end(self):
        self.out, self.err = self.process.communicate()
        self.saved = [pathlib.Path(line[6:]).name for line in self.out.splitlines() if line.startswith("saved ")]
        return self.process.returncode

    def send(self, number):
        self.process.send_signal(number)

    def running(self):
        return self.process.poll() is None


def expect(condition, text, *runs):
    if not condition:
        details = "".join(f"\nexit {run.process.returncode}: {run.err}" for run in runs)
        sys.exit(f"two-processes.py --seed {args.seed}: {text}{details}")


def stopped(condition, *more, **options):
    """A run that is stopped as soon as the condition holds; another one if it was faster than we are."""
    while True:
        clear()
        run = Run(*more, **options)
        while run.running() and not condition():
            time.sleep(0.0005)
        run.send(signal.SIGSTOP)
        if run.running():
            return run
        expect(run.end() == 0, "a run that nobody disturbs fails", run)


def steps_in(folder):
    return sorted(path.name for path in folder.iterdir() if re.match(r"step_\d{8}$", path.name))


def tensors(step):
    return (step / "rank_00000.safetensors").read_bytes()


def losses():
    lines = [json.loads(line) for line in metrics.read_text().splitlines()]
    return [(line["step"], line["loss"]) for line in lines[1:]]


def clear():
    for path in (saves, work / "other"):
        shutil.rmtree(path, ignore_errors=True)
    metrics.unlink(missing_ok=True)
    second.unlink(missing_ok=True)


def undisturbed(*more):
    """The tensors of every second step and the losses, from a run alone."""
    clear()
    run = Run(f"--metrics={metrics}", *more)
    expect(run.end() == 0, "the undisturbed run fails", run)
    return {name: tensors(saves / name) for name in steps_in(saves)}, losses()


def same_as(reference, names):
    for name in names:
        expect(tensors(saves / name) == reference[name], f"{name} is not what its run saved")


# ---------------------------------------------------------------------------
# Runs against runs
# ---------------------------------------------------------------------------


def started_together(reference, wanted, environment=None):
    """One gets the directory, the others do nothing at all: not to the metrics, not to steps that --keep removes.
    Returns how many were refused."""
    clear()
    runs = []
    for _ in range(4):
        runs.append(Run(f"--metrics={metrics}", "--resume=auto", keep=2, environment=environment))
        time.sleep(numbers.uniform(0, 0.02))
    for run in runs:
        run.end()
    refusals = 0
    for run in runs:
        refused = run.process.returncode == 5 and IN_USE.search(run.err) and not run.saved
        refusals += bool(refused)
        expect(run.process.returncode == 0 or refused, "a run neither ends well nor is refused", run)
    expect(sum(1 for run in runs if run.saved) == 1, "not one run saved, but others too", *runs)
    expect(steps_in(saves) == sorted(reference)[-2:], f"--keep=2 leaves {steps_in(saves)}", *runs)
    same_as(reference, steps_in(saves))
    expect(losses() == wanted, "the metrics are not those of one run", *runs)
    expect(not [path for path in saves.iterdir() if path.name.startswith(".")], "something hidden is left", *runs)
    return refusals


def finds_missing_locks(reference, wanted):
    """The checks of runs that are started together, where nothing keeps these apart."""
    for _ in range(TRIES):
        try:
            started_together(reference, wanted, environment=NO_LOCKS)
        except SystemExit:
            return
    sys.exit(f"two-processes.py --seed {args.seed}: runs without locks look as if they had some")


def against_a_holder(reference, wanted):
    """A stopped run keeps the directory; a killed one leaves it to the next."""
    holder = stopped(lambda: saves.exists() and len(steps_in(saves)) >= 2, f"--metrics={metrics}", keep=3)
    before = metrics.read_bytes(), steps_in(saves)
    for resume in ("never", "auto", "must"):
        other = Run(f"--metrics={metrics}", f"--resume={resume}", keep=1)
        expect(other.end() == 5 and IN_USE.search(other.err), f"--resume={resume} gets a directory in use", other)
        expect(IN_USE.search(other.err)[1] == str(holder.process.pid), "it names another process", other)
    expect((metrics.read_bytes(), steps_in(saves)) == before, "a refused run changed something", other)
    holder.send(signal.SIGKILL)
    expect(holder.end() == -signal.SIGKILL, "the holder was gone", holder)
    after = Run(f"--metrics={metrics}", "--resume=auto", keep=3)
    expect(after.end() == 0, "a killed run leaves a lock", after)
    expect(steps_in(saves) == sorted(reference)[-3:], f"--keep=3 leaves {steps_in(saves)}", after)
    same_as(reference, steps_in(saves))
    expect(losses() == wanted, "the metrics are not whole", after)


def without_locks(reference):
    """Nothing keeps the second run out; still the slower one replaces nothing."""
    slow = stopped(second.exists, "--seed=7", f"--metrics={second}", environment=NO_LOCKS)
    mine = {name: tensors(saves / name) for name in steps_in(saves)}
    fast = Run(*(["--resume=must", "--seed=7"] if mine else []), environment=NO_LOCKS)
    expect(fast.end() == 0, "a run on a file system without locks fails", fast)
    expect("the file system has no locks" in fast.err, "it does not warn", fast)
    saved = {name: tensors(saves / name) for name in steps_in(saves)}
    slow.send(signal.SIGCONT)
    expect(slow.end() == 5 and "is already saved" in slow.err, "the slower run does not end with exit 5", slow)
    expect({name: tensors(saves / name) for name in steps_in(saves)} == saved, "a committed step was replaced", slow)
    expect(all(saved[name] == mine[name] for name in mine), "a committed step was replaced", fast)
    if not mine:
        same_as(reference, steps_in(saves))


def one_export():
    """Exports into one folder: the first stays, the others say that it is there."""
    types = ["f32", "bf16", "f16"]
    wanted = {}
    for dtype in types:
        shutil.rmtree(work / "other", ignore_errors=True)
        result = subprocess.run([args.weft, "ckpt", "export", saves, work / "other", "--dtype", dtype])
        expect(result.returncode == 0, f"an export alone ends with {result.returncode}")
        wanted[dtype] = (work / "other" / "model.safetensors").read_bytes()
    shutil.rmtree(work / "other")
    started = [subprocess.Popen([args.weft, "ckpt", "export", saves, work / "other", "--dtype", dtype],
                                stderr=subprocess.PIPE, text=True) for dtype in types]
    errors = [process.communicate()[1] for process in started]
    codes = [process.returncode for process in started]
    # The file may be there as a process starts, or as it ends.
    expect(codes.count(0) == 1 and {*codes} <= {0, 2, 8}, f"exports into one folder end with {codes}: {errors}")
    expect((work / "other" / "model.safetensors").read_bytes() == wanted[types[codes.index(0)]],
           "the weights are not those of the export that ended well")


METRICS_IN_USE = re.compile(r"no other run writes|another program has made it")


def one_metrics_file():
    """Runs with a directory each and one metrics file: a run that does not get it does not change it. Returns how many these
    are."""
    wanted = []
    for seed in range(4):
        clear()
        run = Run(f"--metrics={metrics}", f"--seed={seed}", folder=work / "other" / "alone")
        expect(run.end() == 0, "a run alone fails", run)
        wanted.append(losses())
    clear()
    runs = []
    for seed in range(4):
        runs.append(Run(f"--metrics={metrics}", f"--seed={seed}", folder=work / "other" / str(seed)))
        time.sleep(numbers.uniform(0, 0.02))
    for run in runs:
        run.end()
        refused = run.process.returncode == 8 and METRICS_IN_USE.search(run.err) and not run.saved
        expect(run.process.returncode == 0 or refused, "a run neither ends well nor is refused", run)
    refusals = sum(1 for run in runs if run.process.returncode != 0)
    whole = [wanted[seed] for seed, run in enumerate(runs) if run.process.returncode == 0]
    expect(losses() in whole, "the metrics are not those of one run", *runs)
    writer = stopped(lambda: metrics.exists() and len(metrics.read_text().splitlines()) > 2, f"--metrics={metrics}",
                     folder=work / "other" / "writer")
    before = metrics.read_bytes()
    for more in (["--steps=3"], ["--steps=3", "--resume=auto", f"--save-dir={work / 'other' / 'more'}"],
                 ["--eval-only", f"--val-data={data}"]):
        result = subprocess.run([args.program, f"--data={data}", f"--metrics={metrics}", *more], capture_output=True,
                                text=True)
        expect(result.returncode == 8 and "no other run writes" in result.stderr,
               f"{more} gets metrics that a run writes: exit {result.returncode}: {result.stderr}")
        expect(metrics.read_bytes() == before, f"{more} changed metrics that a run writes")
    writer.send(signal.SIGCONT)
    expect(writer.end() == 0 and losses() == wanted[0], "the metrics are not whole", writer)
    return refusals


# ---------------------------------------------------------------------------
# Readers of a directory into which a run saves
# ---------------------------------------------------------------------------


def readers(count):
    """--keep=1 and a save every step: what a reader has chosen is about to go."""
    clear()
    writer = Run(keep=1, every=1, steps=10_000_000)
    # The pipe must not fill up.
    subprocess.Popen(["cat"], stdin=writer.process.stdout, stdout=subprocess.DEVNULL,
                     stderr=subprocess.DEVNULL)
    while writer.running() and not (saves.exists() and steps_in(saves)):
        time.sleep(0.001)
    sample = ["--generate=th", "--max-new-tokens=2"]
    commands = [[args.weft, "ckpt", "verify", saves], [args.weft, "ckpt", "ls", saves],
                [args.weft, "ckpt", "export", saves, work / "other" / "export"],
                [args.weft, "ckpt", "diff", saves, saves],
                [args.program, *sample, f"--resume={saves}"],
                [args.program, *sample, f"--save-dir={saves}", "--resume=auto"],
                [args.program, f"--data={data}", "--steps=10000000", "--stop-after=1", f"--resume={saves}",
                 f"--save-dir={work / 'other' / 'saves'}", "--progress=none"]]
    for i in range(count):
        shutil.rmtree(work / "other", ignore_errors=True)
        command = commands[i % len(commands)]
        result = subprocess.run(command, capture_output=True, text=True)
        # Two steps differ, and the program says so with 1.
        good = result.returncode == 0 or ("diff" in command and result.returncode == 1 and not result.stderr)
        text = f"a reader ends with {result.returncode}: {' '.join(map(str, command))}\n{result.stderr}"
        expect(good and "warning" not in result.stderr, text)
        expect("damaged" not in result.stdout, f"a reader sees damage: {result.stdout}")
    expect(writer.running(), "the writer ended", *([] if writer.running() else [writer]))
    writer.send(signal.SIGTERM)
    writer.process.wait()
    expect(writer.process.returncode == 75, f"the writer ends with {writer.process.returncode}")
    expect(1 <= len(steps_in(saves)) <= 2, f"--keep=1 leaves {steps_in(saves)}")


def until_refused(check, *inputs):
    """How many runs a check has seen refused: runs that follow one another say nothing."""
    for _ in range(TRIES):
        if refusals := check(*inputs):
            return refusals
    sys.exit(f"two-processes.py --seed {args.seed}: {check.__name__} refuses no run in {TRIES} tries")


reference, wanted = undisturbed()
finds_missing_locks(reference, wanted)
refused = 0
for _ in range(args.rounds):
    refused += until_refused(started_together, reference, wanted)
    against_a_holder(reference, wanted)
    without_locks(reference)
    one_export()
    refused += until_refused(one_metrics_file)
readers(7 * args.rounds)
print(f"{args.rounds} rounds, {refused} runs refused, nothing lost, nothing replaced")
