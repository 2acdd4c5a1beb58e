"""memory-ulimits.py --weft WEFT --work DIR --source DIR --threads LIB [--limits N] [--only COMMAND]: too little memory.

`weft compile`, `weft train`, `weft inspect` and a compiled program run under N limits on their address space
(ulimit -v), from the smallest at which they say their version to one that suffices; and with threads that cannot be
made, from the first, the second, ... on (pthread_create of LIB fails). Each run ends with 0, or with 4 and one error
of one sentence (9 too where threads are missing), never by a signal, within 10 s more than it takes with all memory,
and leaves no temporary or partial file.
"""
import argparse
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--weft", default="weft")
parser.add_argument("--work", type=pathlib.Path, required=True)
parser.add_argument("--source", type=pathlib.Path, required=True)
parser.add_argument("--threads", type=pathlib.Path, required=True)
parser.add_argument("--limits", type=int, default=40)
parser.add_argument("--only", help="one of the commands")
parser.add_argument("--at", type=int, help="one limit, in KiB")
args = parser.parse_args()

TEMPORARY = re.compile(r"-\d+-\d+(/|$)")
failures = []


class Run:
    """One run of a command in an empty folder."""

    def __init__(self, command, kib=None, seconds=600, **settings):
        folder = args.work / "run"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "TMPDIR": str(folder), **settings}

        def limit():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if kib:
                resource.setrlimit(resource.RLIMIT_AS, (kib << 10, kib << 10))

        begin = time.monotonic()
        child = subprocess.Popen(list(map(str, command)), cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=open(folder / "stderr", "wb"), preexec_fn=limit)
        try:
            self.code = child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.code = None
            child.kill()
            child.wait()
        self.seconds = time.monotonic() - begin
        self.text = (folder / "stderr").read_text(errors="replace")
        self.files = {str(path.relative_to(folder)) for path in folder.rglob("*")}
        self.outputs = {path for path in self.files if path == "out" or "saves/step_" in path or path.startswith("saves/.tmp")}

    def wrong(self, codes):
        """The problem of the end, or ""."""
        if self.code is None:
            return "hangs"
        if self.code not in codes:
            return f"ends with {self.code}"
        if left := [path for path in self.files if TEMPORARY.search(path)]:
            return f"leaves {left}"
        errors = re.findall(r"^weft: error: .*", self.text, re.M)
        if len(errors) != (self.code != 0):
            return f"says {len(errors)} errors"
        if self.code == 4 and not re.search("memory|address space", errors[0]):
            return "does not say that memory ran out"
        if self.code != 0 and self.outputs:
            return f"leaves {self.outputs}"
        return ""


def smallest(works, low, high):
    """The smallest number from `low` to `high`, to 1024, that works."""
    while high - low > 1024:
        middle = (low + high) // 2
        low, high = (low, middle) if works(middle) else (middle, high)
    return high


def expect(name, what, run, codes):
    wrong = run.wrong(codes)
    if wrong:
        failures.append(f"{name}, {what}: {wrong}\n{run.text[:600]}")
    return run.code


def sweep(name, command, version):
    """Ends of the command under limits, which are counted by code."""
    whole = Run(command)
    assert whole.code == 0, whole.text
    seconds = 10 + 3 * whole.seconds
    if args.at:
        limits = [args.at]
    else:
        most = 1 << 23
        least = smallest(lambda kib: Run(version, kib, 60).code == 0, 1 << 12, most)
        enough = smallest(lambda kib: Run(command, kib, seconds).code == 0, least, most)
        limits = [least + (enough - least) * i // max(1, args.limits - 2) for i in range(args.limits - 1)]
        limits.append(enough + (enough - least) // 20 + 1024)
    codes = {}
    for kib in limits:
        code = expect(name, f"{kib} KiB", Run(command, kib, seconds), (0, 4))
        codes[code] = codes.get(code, 0) + 1
    return codes


def without_threads(name, command):
    """The same of threads that cannot be made: 1, 2, ... until none is missing."""
    seconds = 10 + 3 * Run(command).seconds
    codes = {}
    for number in range(1, 100):
        run = Run(command, None, seconds, LD_PRELOAD=str(args.threads), THREADS_AT=str(number))
        code = expect(name, f"thread {number}", run, (0, 4, 9))
        codes[code] = codes.get(code, 0) + 1
        if code == 0 and "warning" not in run.text:
            break
    return codes


def main():
    args.work, args.threads = args.work.resolve(), args.threads.resolve(strict=True)
    args.work.mkdir(parents=True, exist_ok=True)
    model, data = args.source / "examples/gpt2-mini", args.source / "test/Inputs/corpus.txt"
    small = ["--batch", "1", "--seq", "32"]
    training = ["--data", data, "--steps", "2", "--progress", "none"]
    program, ranks = args.work / "program", args.work / "ranks"
    subprocess.run([args.weft, "compile", model, *small, "-o", program], check=True)
    subprocess.run([args.weft, "compile", model, *small, "--mesh", "dp:3", "-o", ranks], check=True)
    weft_version, program_version, ranks_version = ([tool, "--version"] for tool in (args.weft, program, ranks))
    commands = {
        "compile": ([args.weft, "compile", model, *small, "-o", "out"], weft_version),
        "train": ([args.weft, "train", model, *small, *training], weft_version),
        "inspect": ([args.weft, "inspect", program, "--memory"], weft_version),
        "program": ([program, *training, "--save-dir", "saves"], program_version),
        "ranks": ([ranks, *training, "--loopback", "3"], ranks_version),
    }
    for name, (command, version) in commands.items():
        if args.only and name != args.only:
            continue
        codes = sweep(name, command, version)
        print(f"{name}: limits {codes}", end="", flush=True)
        print(f", threads {without_threads(name, command)}", flush=True)
        if not args.at and not codes.get(4):
            failures.append(f"{name}: no limit was too small")
    if failures:
        sys.exit("\n".join(failures) + f"\n{len(failures)} ends are wrong")
    print("every command ended well")


if __name__ == "__main__":
    main()
