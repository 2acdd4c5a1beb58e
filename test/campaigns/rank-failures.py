"""Three or four ranks of which one fails at a random time: the run ends in time, says
whom it misses, leaves nothing behind, and goes on from its checkpoints with the same bits.

usage: rank-failures.py --work FOLDER --model M --data FILE [--seeds FIRST:LAST]

A seed chooses the mesh, ZeRO stage, --sync, the rank, what happens to it and when:

  kill   SIGKILL                             stop   SIGSTOP
  exit   the process ends after a step       skip   it leaves out a collective
  slow   a save that takes longer than --timeout, which is none of a failure

Ends within --timeout (3 s) and 5 s, with 7 (0 of a slow save); no process of it is
left and nothing in shared memory; all checkpoints are whole. The run goes on with
--resume=auto, and has the weights of one that nothing has happened to.
"""
import argparse
import filecmp
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from seeds import seed_range

MESHES = {"dp:3": 3, "replica:2,shard:2": 4}
TIMEOUT, EVERY, LAST = 3, 5, 200
KINDS = ["kill", "stop", "exit", "skip", "slow"]
SHARED = pathlib.Path("/dev/shm")


class Failed(Exception):
    """What a seed has found."""


def processes_of(program):
    """Process of each rank that runs the program."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            settings = dict(line.partition(b"=")[::2] for line in (folder / "environ").read_bytes().split(b"\0"))
        except OSError:
            continue
        if os.fsdecode(words[0]) == str(program) and b"OMPI_COMM_WORLD_RANK" in settings:
            found[int(settings[b"OMPI_COMM_WORLD_RANK"])] = int(folder.name)
    return found


def newest(saves):
    steps = sorted(saves.glob("step_????????"))
    return steps[-1] if steps else None


def need(*command):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if result.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))} ended with {result.returncode}: {result.stderr}")


def weights(step, out):
    shutil.rmtree(out, ignore_errors=True)
    need("weft", "ckpt", "export", step, out)
    return out / "model.safetensors"


class Programs:
    """A program for each mesh, stage and sync, and the checkpoints of its run that nothing happens to."""

    def __init__(self, args):
        self.args, self.known = args, {}

    def get(self, mesh, stage, sync):
        key = mesh, stage, sync
        if key not in self.known:
            program = self.args.work / f"w{MESHES[mesh]}-z{stage}-{sync}"
            need("weft", "compile", self.args.model, "--batch=1", "--seq=16", f"--mesh={mesh}", f"--zero={stage}",
                 f"--sync={sync}", "-o", program)
            saves = self.args.work / f"{program.name}.saves"
            need(program, *self.flags(LAST), "--keep", LAST, "--save-dir", saves, "--loopback", MESHES[mesh])
            self.known[key] = program, saves
        return self.known[key]

    def flags(self, steps):
        return ["--data", self.args.data, "--progress", "none", "--steps", steps, "--save-every", EVERY, "--accum", 2,
                "--threads", 1, "--timeout", TIMEOUT]


class Case:
    def __init__(self, seed, programs):
        choose = random.Random(seed)
        self.programs, self.seed = programs, seed
        self.kind = KINDS[seed % len(KINDS)]
        self.stage, self.sync = choose.randrange(4), choose.choice(["last", "each"])
        self.mesh = choose.choice(list(MESHES))
        self.rank = choose.randrange(MESHES[self.mesh])
        self.seconds = choose.uniform(0, 1.5)
        self.step = choose.randrange(EVERY + 1, 8 * EVERY)
        self.collective = choose.randrange(100, 600)
        self.save = choose.randrange(2, 5)
        self.saves = programs.args.work / "saves"
        self.metrics = programs.args.work / "metrics.jsonl"
        # Of this run alone: others of the machine come and go.
        self.shared = pathlib.Path(tempfile.mkdtemp(prefix="weft-", dir=SHARED))

    def __str__(self):
        when = {"exit": f"after step {self.step}", "skip": f"in collective {self.collective}",
                "slow": f"in save {self.save}"}.get(self.kind, f"{self.seconds:.2f} s after the first save")
        return f"seed {self.seed}: {self.kind} of rank {self.rank} of {self.mesh} {when}, stage {self.stage}, sync {self.sync}"

    def fault(self):
        return {"exit": f"exit@step={self.step},rank={self.rank}",
                "skip": f"skip@collective={self.collective},rank={self.rank}",
                "slow": f"slow@save={self.save},rank={self.rank},seconds={2 * TIMEOUT}"}.get(self.kind, "")

    def temporary(self):
        """Where mpirun keeps what it would share with other runs of the machine."""
        folder = self.programs.args.work / "tmp"
        folder.mkdir(exist_ok=True)
        return folder

    def run(self):
        program, clean = self.programs.get(self.mesh, self.stage, self.sync)
        shutil.rmtree(self.saves, ignore_errors=True)
        steps = self.save * EVERY if self.kind == "slow" else LAST
        self.metrics.unlink(missing_ok=True)
        words = ["weft", "launch", program, *self.programs.flags(steps), "--save-dir", self.saves, "--metrics",
                 self.metrics]
        launch = subprocess.Popen(list(map(str, words)), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                                  env={**os.environ, "WEFT_FAULT": self.fault(), "TMPDIR": str(self.temporary()),
                                       "OMPI_MCA_btl_vader_backing_directory": str(self.shared)})
        try:
            code, took, said = self.watch(launch, program)
        finally:
            left = processes_of(program)
            for process in left.values():
                os.kill(process, signal.SIGKILL)
        if left:
            raise Failed(f"ranks {sorted(left)} are left")
        self.check_end(code, took, said)
        if kept := os.listdir(self.shared):
            raise Failed(f"shared memory has {kept}")
        self.check_resume(program, clean)

    def watch(self, launch, program):
        """Exit code, seconds after the failure, if it is known when that was, and what was said."""
        began = time.monotonic()
        if self.kind in ("kill", "stop"):
            while not newest(self.saves) and launch.poll() is None and time.monotonic() < began + 60:
                time.sleep(0.02)
            time.sleep(self.seconds)
            if not os.listdir(self.shared):
                raise Failed("expects memory that ranks share in a folder of the run")
            process = processes_of(program).get(self.rank)
            if process is None:
                launch.kill()
                raise Failed("the run has ended before its failure: " + launch.communicate()[1])
            began = time.monotonic()
            os.kill(process, getattr(signal, "SIG" + self.kind.upper()))
        try:
            said = launch.communicate(timeout=90)[1]
        except subprocess.TimeoutExpired:
            launch.kill()
            raise Failed("the run does not end") from None
        if self.kind in ("kill", "stop"):
            return launch.returncode, time.monotonic() - began, said
        # The last line of a step is older than the failure.
        took = time.time() - self.metrics.stat().st_mtime if self.metrics.exists() else 0
        return launch.returncode, took, said

    def check_end(self, code, took, said):
        wanted = 0 if self.kind == "slow" else 7
        if code != wanted:
            raise Failed(f"expects exit {wanted}, but got {code}: {said}")
        if took > (5 if self.kind in ("kill", "exit") else TIMEOUT + 5):
            raise Failed(f"the run ended {took:.1f} s after its failure: {said}")
        pattern = {"kill": rf"rank {self.rank} was ended by signal 9",
                   "stop": rf"expects rank(s .*\b| ){self.rank}\b.*for {TIMEOUT} s",
                   "exit": rf"rank {self.rank} has ended with 3 without a word",
                   "skip": r"expects (all ranks in one collective|ranks? .*for 3 s)"}.get(self.kind, "")
        if not re.search(pattern, said):
            raise Failed(f"expects {pattern}, but got: {said}")
        if self.kind in ("stop", "skip") and not re.search(r"step \d+", said):
            raise Failed(f"expects a step, but got: {said}")

    def check_resume(self, program, clean):
        step = newest(self.saves)
        if step is None:
            if self.kind in ("kill", "stop", "slow"):
                raise Failed("no checkpoint")
            return
        for saved in self.saves.glob("step_????????"):
            need("weft", "ckpt", "verify", saved)
        goal = int(step.name[5:]) + EVERY
        if goal > LAST:
            return
        need(program, *self.programs.flags(goal), "--save-dir", self.saves, "--resume", "auto", "--loopback", MESHES[self.mesh])
        mine = weights(self.saves, self.saves / "export")
        other = weights(clean / f"step_{goal:08d}", clean / "export")
        if not filecmp.cmp(mine, other, shallow=False):
            raise Failed(f"other weights at step {goal} than without a failure")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--seeds", type=seed_range, default=range(8))
    args = parser.parse_args()
    shutil.rmtree(args.work, ignore_errors=True)
    args.work.mkdir(parents=True)
    programs = Programs(args)
    failures = 0
    for seed in args.seeds:
        case = Case(seed, programs)
        try:
            case.run()
        except Failed as failed:
            failures += 1
            print(f"{case}: {failed}", flush=True)
        finally:
            shutil.rmtree(case.shared, ignore_errors=True)
    print(f"{len(args.seeds)} runs, {failures} failures")
    sys.exit(1 if failures else 0)


main()
