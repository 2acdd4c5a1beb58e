"""Three or four ranks of which one fails at a random time: the run ends in time, says
whom it misses, leaves nothing behind, and goes on from its checkpoints with the same bits.

usage: rank-failures.py --work FOLDER --model M --data FILE [--seeds FIRST:LAST] [--launch mpi|tcp|cuda] [--build FOLDER]
                        [--mesh MESH] [--stage N] [--sync last|each] [--grace SECONDS]

--mesh, --stage and --sync replace what a seed chooses: with all three, all seeds share one program. With --launch=tcp the ranks talk over TCP. With cuda they have an emulated device each, of --build, and NCCL.

A seed chooses the mesh, ZeRO stage, --sync, the rank, what happens to it and when:

  kill   SIGKILL                             stop   SIGSTOP
  exit   the process ends after a step       skip   it leaves out a collective
  slow   a save that takes longer than --timeout, which is none of a failure
  nccl   a call of NCCL fails or never ends (cuda, in place of skip)

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
TIMEOUT, EVERY = 3, 5
LAUNCHES = {"mpi": ["weft", "launch"], "tcp": ["weft", "launch", "--tcp"], "cuda": ["weft", "launch"]}
LAST = {"mpi": 200, "tcp": 200, "cuda": 30}
KINDS = {"mpi": ["kill", "stop", "exit", "skip", "slow"], "tcp": ["kill", "stop", "exit", "skip", "slow"],
         "cuda": ["kill", "stop", "exit", "nccl", "slow"]}
# Calls are counted where they are given, `endless` and `async` where they run; {rank} is the rank that fails.
NCCL_FAULTS = ["ncclGetUniqueId:1:ncclSystemError", "ncclCommInitRankConfig:1:ncclSystemError@{rank}",
               "ncclCommInitRankConfig:1:absent@{rank}", "ncclAllGather:{call}:ncclSystemError@{rank}",
               "ncclAllGather:{run}:endless@{rank}", "async:{run}:ncclInternalError@{rank}",
               "async:{run}:ncclRemoteError@{rank}"]
SHARED = pathlib.Path("/dev/shm")


class Failed(Exception):
    """The failure of a seed."""


def processes_of(program):
    """Process of each rank that runs the program."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            settings = dict(line.partition(b"=")[::2] for line in (folder / "environ").read_bytes().split(b"\0"))
        except OSError:
            continue
        rank = settings.get(b"OMPI_COMM_WORLD_RANK", settings.get(b"RANK"))
        if os.fsdecode(words[0]) == str(program) and rank is not None:
            found[int(rank)] = int(folder.name)
    return found


def newest(saves):
    steps = sorted(saves.glob("step_????????"))
    return steps[-1] if steps else None


def need(*command, **settings):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, env={**os.environ, **settings})
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
            program, last = self.args.work / f"w{MESHES[mesh]}-z{stage}-{sync}", LAST[self.args.launch]
            arguments = [self.args.model, "--batch=1", "--seq=16", f"--mesh={mesh}", f"--zero={stage}", f"--sync={sync}"]
            if self.args.launch == "cuda":
                arguments.append("--target=cuda:sm_90")
                need("weft-twins", *arguments, "-o", f"{program}.so")
            need("weft", "compile", *arguments, "-o", program)
            saves = self.args.work / f"{program.name}.saves"
            need(program, *self.flags(last), "--keep", last, "--save-dir", saves, "--loopback", MESHES[mesh],
                 **self.settings(program))
            self.known[key] = program, saves
        return self.known[key]

    def settings(self, program):
        if self.args.launch != "cuda":
            return {}
        emulation = self.args.build / "test/emulation"
        return {"LD_LIBRARY_PATH": str(emulation), "WEFT_TWINS": f"{program}.so:{emulation}/kernels.so"}

    def flags(self, steps):
        return ["--data", self.args.data, "--progress", "none", "--steps", steps, "--save-every", EVERY, "--accum", 2,
                "--timeout", TIMEOUT, *([] if self.args.launch == "cuda" else ["--threads", 1])]


class Case:
    def __init__(self, seed, programs):
        choose = random.Random(seed)
        self.programs, self.seed = programs, seed
        self.launch = programs.args.launch
        self.kind = KINDS[self.launch][seed % len(KINDS[self.launch])]
        stage, sync, mesh = choose.randrange(4), choose.choice(["last", "each"]), choose.choice(list(MESHES))
        args = programs.args
        self.stage = stage if args.stage is None else args.stage
        self.sync, self.mesh = args.sync or sync, args.mesh or mesh
        self.rank = choose.randrange(MESHES[self.mesh])
        self.seconds = choose.uniform(0, 1.5)
        self.step = choose.randrange(EVERY + 1, min(8 * EVERY, LAST[self.launch] - EVERY))
        self.collective = choose.randrange(100, 600)
        self.save = choose.randrange(2, 5)
        self.nccl = choose.choice(NCCL_FAULTS).format(rank=self.rank, call=choose.randrange(1, 5),
                                                      run=choose.randrange(1, 300))
        self.saves = programs.args.work / "saves"
        self.metrics = programs.args.work / "metrics.jsonl"
        # Of this run alone: others of the machine come and go.
        self.shared = pathlib.Path(tempfile.mkdtemp(prefix="weft-", dir=SHARED))

    def __str__(self):
        when = {"exit": f"after step {self.step}", "skip": f"in collective {self.collective}",
                "slow": f"in save {self.save}", "nccl": self.nccl}.get(self.kind, f"{self.seconds:.2f} s after the first save")
        return f"seed {self.seed}: {self.kind} of rank {self.rank} of {self.mesh} {when}, stage {self.stage}, sync {self.sync}"

    def fault(self):
        return {"exit": f"exit@step={self.step},rank={self.rank}",
                "skip": f"skip@collective={self.collective},rank={self.rank}",
                "slow": f"slow@save={self.save},rank={self.rank},seconds={2 * TIMEOUT}"}.get(self.kind, "")

    def temporary(self):
        """A separate folder for files that mpirun would share with other runs of the machine."""
        folder = self.programs.args.work / "tmp"
        folder.mkdir(exist_ok=True)
        return folder

    def run(self):
        program, clean = self.programs.get(self.mesh, self.stage, self.sync)
        shutil.rmtree(self.saves, ignore_errors=True)
        steps = self.save * EVERY if self.kind == "slow" else LAST[self.launch]
        self.metrics.unlink(missing_ok=True)
        settings = self.programs.settings(program)
        if self.kind == "nccl":
            settings["WEFT_EMULATION_NCCL_FAIL"] = self.nccl
        words = [*LAUNCHES[self.launch], program, *self.programs.flags(steps), "--save-dir", self.saves, "--metrics",
                 self.metrics]
        launch = subprocess.Popen(list(map(str, words)), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                                  env={**os.environ, **settings, "WEFT_FAULT": self.fault(), "TMPDIR": str(self.temporary()),
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
            if self.launch == "mpi" and not os.listdir(self.shared):
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
        grace = self.programs.args.grace
        if took > (grace if self.kind in ("kill", "exit") else TIMEOUT + grace):
            raise Failed(f"the run ended {took:.1f} s after its failure: {said}")
        pattern = {"kill": rf"rank {self.rank} was ended by signal 9",
                   # The hosts of devices wait for each other once more, after --timeout.
                   "stop": rf"expects rank(s .*\b| ){self.rank}\b.*for {r'[0-9]+' if self.launch == 'cuda' else TIMEOUT} s",
                   "exit": rf"rank {self.rank} has ended with 3",
                   "nccl": r"fails as asked|has not moved for 3 s|has waited 3 s for other ranks",
                   "skip": r"expects (all ranks in one collective|ranks? .*for 3 s)"}.get(self.kind, "")
        if not re.search(pattern, said):
            raise Failed(f"expects {pattern}, but got: {said}")
        if said.count("weft: error:") > self.most_errors(said):
            raise Failed(f"expects at most {self.most_errors(said)} errors, but got: {said}")
        if self.kind in ("stop", "skip") and not re.search(r"step \d+", said):
            raise Failed(f"expects a step, but got: {said}")

    def most_errors(self, said):
        """One rank reports. `weft launch` without mpirun adds an error of its own for a rank that was lost. mpirun
        continues a stopped rank to end it: that finds its unfinished save removed."""
        if self.kind == "stop" and re.search(r"rank_0000\d\.safetensors: cannot finish", said):
            return 2
        return 2 if self.launch != "mpi" and self.kind in ("kill", "exit") else 1

    def check_resume(self, program, clean):
        step = newest(self.saves)
        if step is None:
            if self.kind in ("kill", "stop", "slow"):
                raise Failed("no checkpoint")
            return
        for saved in self.saves.glob("step_????????"):
            need("weft", "ckpt", "verify", saved)
        goal = int(step.name[5:]) + EVERY
        if goal > LAST[self.launch]:
            return
        need(program, *self.programs.flags(goal), "--save-dir", self.saves, "--resume", "auto", "--loopback",
             MESHES[self.mesh], **self.programs.settings(program))
        mine = weights(self.saves, self.saves / "export")
        other = weights(clean / f"step_{goal:08d}", clean / "export")
        if not filecmp.cmp(mine, other, shallow=False):
            raise Failed(f"other weights at step {goal} than without a failure")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--launch", choices=LAUNCHES, default="mpi")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--mesh", choices=MESHES)
    parser.add_argument("--stage", type=int, choices=range(4))
    parser.add_argument("--sync", choices=["last", "each"])
    parser.add_argument("--grace", type=float, default=5, help="seconds, of an idle machine")
    parser.add_argument("--seeds", type=seed_range, default=range(8))
    args = parser.parse_args()
    if args.launch == "cuda" and not args.build:
        parser.error("--launch=cuda expects --build")
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
