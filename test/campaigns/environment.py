"""Runs one program in many environments: the same bytes, or a clear error.

Usage: environment.py --program PROGRAM --data FILE --work DIR [--seeds A:B] [--only TEXT]

What must not change a run (OpenMP's variables, affinity, limits, locale, memory
allocator) is set, each alone and then in random combinations, one per seed. The
losses, gradient norms and every byte of the checkpoint must be those of an
undisturbed run with one thread. Where a setting takes away what a run needs, it
must end with a documented exit code and an error of weft's own, and leave no
checkpoint. oneDNN's variables that choose kernels may change roundings: there
losses must be close, and equal for one and for two threads.
"""

import argparse
import json
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys

STEPS = 3
MIB = 1 << 20
# Exit codes of docs/reference/exit-codes.md that a limit may lead to.
MEMORY, STORAGE, DEVICE = 4, 8, 9

parser = argparse.ArgumentParser()
parser.add_argument("--program", required=True, type=pathlib.Path)
parser.add_argument("--data", required=True, type=pathlib.Path)
parser.add_argument("--work", required=True, type=pathlib.Path)
parser.add_argument("--seeds", default="0:0")
parser.add_argument("--only", default="", help="cases whose name contains this")
args = parser.parse_args()


class Setting:
    """One change of the environment. `codes`: exits besides 0 that it may lead to."""

    def __init__(self, name, variables=None, limit=None, cpus=None, codes=(), rounds=False):
        self.name = name
        self.variables = variables or {}
        self.limit = limit  # (resource, bytes or count)
        self.cpus = cpus
        self.codes = set(codes)
        self.rounds = rounds  # other kernels, so other roundings

    def apply(self):
        if self.cpus is not None:
            os.sched_setaffinity(0, self.cpus)
        if self.limit:
            resource.setrlimit(self.limit[0], (self.limit[1], self.limit[1]))


def of(name, *values, **more):
    return [Setting(f"{name}={value}", {name: value}, **more) for value in values]


CPUS = sorted(os.sched_getaffinity(0))
SETTINGS = [
    *of("OMP_DYNAMIC", "true", "false"),
    *of("OMP_NUM_THREADS", "1", "2", "7", "2,3", "x"),
    *of("OMP_THREAD_LIMIT", "1", codes=[DEVICE]),
    *of("OMP_THREAD_LIMIT", "2", "64"),
    *of("OMP_MAX_ACTIVE_LEVELS", "0", "1", "3"),
    *of("OMP_NESTED", "true", "false"),
    *of("OMP_PROC_BIND", "true", "false", "close", "spread", "master"),
    *of("OMP_PLACES", "threads", "cores", "sockets", "{%d}" % CPUS[0], "nonsense"),
    *of("GOMP_CPU_AFFINITY", str(CPUS[0]), str(CPUS[-1]), f"{CPUS[0]}-{CPUS[-1]}"),
    *of("GOMP_SPINCOUNT", "0", "100", "infinity"),
    *of("OMP_WAIT_POLICY", "active", "passive"),
    *of("OMP_SCHEDULE", "dynamic,1", "guided", "static,7"),
    *of("OMP_STACKSIZE", "16k", "128k", codes=[DEVICE]),
    *of("OMP_STACKSIZE", "256k", "2M", "64M", "8", "nonsense"),
    *of("OMP_STACKSIZE", "1000000G", codes=[DEVICE]),
    *of("OMP_CANCELLATION", "true"),
    *of("OMP_DISPLAY_ENV", "true"),
    *of("OMP_TARGET_OFFLOAD", "disabled"),
    *of("ONEDNN_VERBOSE", "1"),
    *of("DNNL_VERBOSE", "2"),
    *of("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "0"),
    *of("ONEDNN_DEFAULT_FPMATH_MODE", "BF16", "ANY"),
    *of("ONEDNN_JIT_PROFILE", "0"),
    *of("ONEDNN_CPU_ISA_HINTS", "PREFER_YMM", rounds=True),
    *of("ONEDNN_MAX_CPU_ISA", "SSE41", "AVX2", "AVX512_CORE", rounds=True),
    *of("DNNL_MAX_CPU_ISA", "AVX", rounds=True),
    *of("MALLOC_ARENA_MAX", "1"),
    *of("MALLOC_PERTURB_", "165"),
    *of("MALLOC_CHECK_", "3"),
    *of("MALLOC_MMAP_THRESHOLD_", "1024"),
    *of("GLIBC_TUNABLES", "glibc.pthread.stack_cache_size=0"),
    *of("LC_ALL", "C", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8", "nonsense"),
    *of("LANG", "de_DE"),
    *of("TZ", "Asia/Kathmandu"),
    *of("LD_BIND_NOW", "1"),
    *of("TMPDIR", "/nonexistent"),
    *of("HOME", "/nonexistent", ""),
    *of("COLUMNS", "1"),
    *of("TERM", "dumb"),
    *[Setting(f"cpus {cpus}", cpus=cpus) for cpus in ({CPUS[0]}, {CPUS[-1]})],
    Setting("stack 256 KiB", limit=(resource.RLIMIT_STACK, MIB // 4), codes=[DEVICE]),
    Setting("stack 1 MiB", limit=(resource.RLIMIT_STACK, MIB)),
    Setting("address space 48 MiB", limit=(resource.RLIMIT_AS, 48 * MIB), codes=[MEMORY, DEVICE, 127]),
    Setting("address space 120 MiB", limit=(resource.RLIMIT_AS, 120 * MIB), codes=[MEMORY, DEVICE]),
    Setting("data 8 MiB", limit=(resource.RLIMIT_DATA, 8 * MIB), codes=[MEMORY, DEVICE, 127]),
    Setting("data 40 MiB", limit=(resource.RLIMIT_DATA, 40 * MIB), codes=[MEMORY, DEVICE]),
    Setting("40 files", limit=(resource.RLIMIT_NOFILE, 40)),
    Setting("8 files", limit=(resource.RLIMIT_NOFILE, 8), codes=[3, STORAGE]),
    Setting("file size 64 KiB", limit=(resource.RLIMIT_FSIZE, MIB // 16), codes=[STORAGE]),
    Setting("core 0", limit=(resource.RLIMIT_CORE, 0)),
    Setting("locked memory 0", limit=(resource.RLIMIT_MEMLOCK, 0)),
]


class Outcome:
    def __init__(self, name, code, errors, folder):
        self.name, self.code, self.errors, self.folder = name, code, errors, folder
        self.lines, self.files = [], {}
        metrics = folder / "metrics.jsonl"
        if metrics.exists():
            lines = [json.loads(line) for line in metrics.read_text().splitlines()]
            self.lines = [(line["step"], line["loss"], line["grad_norm"]) for line in lines if "loss" in line]
        for path in sorted(folder.glob("saves/step_*/*.safetensors")):
            self.files[str(path.relative_to(folder))] = path.read_bytes()

    def losses(self):
        return [loss for _, loss, _ in self.lines]


def run(name, settings, threads):
    folder = args.work / "run"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith(("OMP_", "GOMP_", "DNNL_", "ONEDNN_", "MALLOC_"))}
    for setting in settings:
        environment.update(setting.variables)

    def apply():
        for setting in settings:
            setting.apply()

    command = [args.program.resolve(), f"--data={args.data.resolve()}", f"--steps={STEPS}", "--lr=1e-3", "--clip=1",
               "--metrics=metrics.jsonl", "--save-dir=saves", "--progress=none"]
    if threads:
        command.append(f"--threads={threads}")
    try:
        done = subprocess.run(command, cwd=folder, env=environment, preexec_fn=apply, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=300)
    except subprocess.TimeoutExpired:
        return Outcome(name, "hang", "", folder)
    except OSError as error:  # the limit does not even let it start
        return Outcome(name, 127, str(error), folder)
    return Outcome(name, done.returncode, done.stderr.decode(errors="replace"), folder)


def compare(outcome, settings, want):
    """The problem of an outcome, or ""."""
    allowed = set().union(*(setting.codes for setting in settings))
    # More threads than the limit admits were asked for by name.
    if "OMP_THREAD_LIMIT=2" in outcome.name and "threads 3" in outcome.name:
        allowed.add(DEVICE)
    if outcome.code != 0:
        if outcome.code not in allowed:
            return f"exit {outcome.code}"
        if outcome.files:
            return f"exit {outcome.code}, but there is a checkpoint"
        if outcome.code != 127 and "weft: error: " not in outcome.errors:
            return f"exit {outcome.code} without an error message"
        return ""
    if any(setting.rounds for setting in settings):
        pairs = zip(outcome.losses(), want.losses())
        if len(outcome.lines) != STEPS or any(abs(a - b) > 1e-3 * abs(b) for a, b in pairs):
            return f"losses {outcome.losses()}, expected about {want.losses()}"
        return ""
    if outcome.lines != want.lines:
        return f"steps {outcome.lines}, expected {want.lines}"
    if outcome.files != want.files:
        return "another checkpoint"
    return ""


def trial(settings, threads, want):
    name = " ".join(setting.name for setting in settings) + f" threads {threads or 'default'}"
    outcome = run(name, settings, threads)
    return outcome, compare(outcome, settings, want)


def reduce(settings, threads, want):
    """The settings without which it does not fail any more."""
    for setting in list(settings):
        fewer = [other for other in settings if other is not setting]
        if fewer and trial(fewer, threads, want)[1]:
            settings = fewer
    return settings


def draw(seed):
    generator = random.Random(seed)
    settings = generator.sample(SETTINGS, generator.randint(2, 6))
    # Of one variable, and of one limit, only one value.
    kept = {}
    for setting in settings:
        key = (tuple(setting.variables), setting.limit and setting.limit[0], setting.cpus is not None)
        kept.setdefault(key, setting)
    return list(kept.values()), generator.choice([0, 1, 2, 3])


want = run("undisturbed", [], 1)
if want.code != 0 or len(want.lines) != STEPS or not want.files:
    sys.exit(f"the undisturbed run failed: exit {want.code}\n{want.errors}")
failures, cases, refused = [], 0, 0


def check(settings, threads, label):
    global cases, refused
    outcome, wrong = trial(settings, threads, want)
    cases += 1
    refused += outcome.code != 0
    if wrong:
        small = reduce(settings, threads, want)
        failures.append(f"{label}{outcome.name}: {wrong}\n  {outcome.errors.strip()}\n  "
                        f"reduced: {' '.join(s.name for s in small)}")
        print("FAILED", failures[-1], file=sys.stderr)
    return outcome


for setting in SETTINGS:
    if args.only not in setting.name:
        continue
    two = check([setting], 2, "")
    # Kernels of another instruction set: one thread must give the same bits there too.
    if setting.rounds and two.code == 0:
        one = check([setting], 1, "")
        if one.files != two.files or one.lines != two.lines:
            failures.append(f"{setting.name}: one thread and two differ")
for threads in (0, 2, 3):
    check([], threads, "")
first, last = map(int, args.seeds.split(":"))
for seed in range(first, last):
    settings, threads = draw(seed)
    check(settings, threads, f"seed {seed}: ")

shutil.rmtree(args.work / "run", ignore_errors=True)
if failures:
    sys.exit(f"{len(failures)} of {cases} environments failed:\n" + "\n".join(failures))
print(f"{cases} environments, {refused} refused with an error, the others with the same bytes")
