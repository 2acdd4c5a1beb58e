#!/usr/bin/env python3
"""Every call of driver and cuBLASLt fails once.

usage: errors.py PROGRAM DATA EMULATION TWINS WORK [--calls some|three|all]
                 [--only TEXT] [--table HEADER] [--run FLAG]...

Runs a program for a CUDA device on the emulated one. A clean run records the
calls that it makes. Then, in a run for each, calls of each entry point fail, by
--calls the first, the middle and the last one (three, the default), one of these
in turn (some), or every one: the program ends with exit 4 (no memory) or 9, with
one error that names the call, and each file that it leaves is the one that the
clean run leaves. What gives something back may fail unnoticed, and so may the
last synchronization of each stream before that: all files are there then. Prints which entry points of the driver's table in HEADER
(CudaDriver.h) are never called.
"""
import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys

FAILED, NO_MEMORY = 719, 2
# Of cuBLASLt: CUBLAS_STATUS_EXECUTION_FAILED.
PRODUCT_FAILED = 13
GIVES_BACK = re.compile(r"cu(Mem|MemFree|Stream|Event|Graph|GraphExec|Module|blasLt\w*)"
                        r"(Free|FreeHost|Host|Destroy|Unload)(_v2)?|cuMemUnmap|cuMemAddressFree|"
                        r"cuDevicePrimaryCtxRelease(_v2)?")
# Fields of files that depend on the clock.
TIMES = re.compile(rb'"(time|ms|wall_ms|tokens_per_s|created|seconds|\w*_ms|\w*_per_s\w*)": *'
                   rb'("[^"]*"|[-0-9.e+]+)')


class Program:
    def __init__(self, options):
        self.options = options
        self.environment = dict(
            os.environ, LD_LIBRARY_PATH=options.emulation,
            WEFT_TWINS=f"{options.twins}:{os.path.join(options.emulation, 'kernels.so')}")

    def run(self, **environment):
        """The process that has ended, and the files that it leaves, by name."""
        folder = os.path.join(self.options.work, "run")  # its name is in checkpoints
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        ended = subprocess.run(
            [self.options.program, "--data", self.options.data, "--steps", "3",
             "--save-every", "2", "--progress", "none", "--save-dir", "saves",
             "--metrics", "m.jsonl", *self.options.run],
            capture_output=True, text=True, timeout=600, cwd=folder,
            env=dict(self.environment, **environment))
        files = {}
        for place, _, names in os.walk(folder):
            for file in names:
                path = os.path.join(place, file)
                with open(path, "rb") as content:
                    files[os.path.relpath(path, folder)] = content.read()
        shutil.rmtree(folder)
        return ended, files


def calls_of(path):
    """How often each entry point was called, in the order of first calls."""
    with open(path) as lines:
        return collections.Counter(line.split()[1] for line in lines
                                   if line.startswith("call "))


def entries_of(header):
    """The entry points in the table of the driver."""
    with open(header) as text:
        table = re.search(r"#define WEFT_CUDA_DRIVER_CALLS\(X\)(.*?[^\\])\n", text.read(), re.S)
    return re.findall(r"X\((\w+)\)", table[1])


def choose(calls, count, turn):
    """The numbers of the calls that fail."""
    if calls == "all":
        return range(1, count + 1)
    three = [1, (count + 1) // 2, count]
    return sorted(set(three)) if calls == "three" else [three[turn % 3]]


def expectation(entry):
    """Error and exit code."""
    if entry.startswith("cublasLt"):
        return PRODUCT_FAILED, 9
    if entry == "cuMemCreate":
        return NO_MEMORY, 4
    return FAILED, 9


def is_part(name, content, clean):
    """Whether a file is whole: what the clean run left, or lines of its metrics."""
    if name not in clean:
        return False
    got, expected = (TIMES.sub(rb'"\1": 0', text) for text in (content, clean[name]))
    if name == "m.jsonl":
        return got == b"" or (got.endswith(b"\n") and expected.startswith(got))
    return got == expected


def problems_of(ended, files, clean, entry, code, is_at_end):
    lines = [line for line in ended.stderr.splitlines() if line.startswith("weft: error: ")]
    if GIVES_BACK.fullmatch(entry) or is_at_end:
        if ended.returncode == 0 and set(files) != set(clean):
            yield f"left {sorted(files)}"
        code = 0
    elif len(lines) != 1 or entry not in lines[0]:
        yield f"expects one error that names the call, got {lines or ended.stderr[-300:]}"
    if ended.returncode != code:
        yield f"exit {ended.returncode} instead of {code}"
    for name in sorted(files):
        if not is_part(name, files[name], clean):
            yield f"left {name} ({len(files[name])} bytes) half-written"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("program", "data", "emulation", "twins", "work"):
        parser.add_argument(name, type=os.path.abspath)
    parser.add_argument("--calls", default="three", choices=["some", "three", "all"])
    parser.add_argument("--only", default="")
    parser.add_argument("--table")
    parser.add_argument("--run", action="append", default=[])
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    program = Program(options)
    record = os.path.join(options.work, "record")
    if os.path.exists(record):
        os.remove(record)
    ended, clean = program.run(WEFT_EMULATION_RECORD=record)
    if ended.returncode != 0 or len(clean) < 4:
        sys.exit(f"the clean run ends with {ended.returncode}, {sorted(clean)}: {ended.stderr}")
    again, same = program.run()
    for name in clean:
        if not is_part(name, same[name], clean):
            sys.exit(f"{name} differs from run to run")
    faults = wrong = 0
    called = calls_of(record)
    for turn, (entry, count) in enumerate(called.items()):
        if options.only not in entry:
            continue
        error, code = expectation(entry)
        for call in choose(options.calls, count, turn):
            ended, files = program.run(WEFT_EMULATION_FAIL=f"{entry}:{call}:{error}")
            is_at_end = entry == "cuStreamSynchronize" and call > count - called["cuStreamDestroy_v2"]
            problems = list(problems_of(ended, files, clean, entry, code, is_at_end))
            faults, wrong = faults + 1, wrong + bool(problems)
            print(f"{entry} {call} of {count}: {'; '.join(problems) or 'as expected'}", flush=True)
    if options.table:
        never = sorted(set(entries_of(options.table)) - set(called))
        print(f"never called: {', '.join(never)}")
    print(f"{faults} faults, {wrong} wrong")
    return wrong != 0 or faults == 0


if __name__ == "__main__":
    sys.exit(main())
