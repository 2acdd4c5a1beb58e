#!/usr/bin/env python3
"""Runs ranks that are threads under ThreadSanitizer: it has nothing to report.

usage: thread_races.py FOLDER --source DIR --weft PROGRAM --model M --data FILE [--threads N]

The runtime and the kernels are built with GCC's sanitizer, which comes with g++, and linked to the objects that
`weft compile` makes, which are not instrumented. Neither is oneDNN, whose cache of products ranks share: what it does
itself is not looked at, and nothing else is suppressed. Three ranks train, evaluate, save, compare replicas, go on,
sample, stop and fail. A program with a race shows that the sanitizer would tell.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

RANKS = 3
LIBRARIES = ["WeftRuntimeMpi", "WeftRuntimeMain", "WeftRuntime", "WeftCpuKernels", "WeftHostDevice", "WeftRuntimeCore",
             "WeftFormats", "WeftBase"]
FOUND = 66
IGNORED = "called_from_lib:libdnnl.so\n"
RACE = """#include <thread>
int count;
int main() { std::thread other([] { ++count; }); ++count; other.join(); return 0; }
"""


def need(code, *command, **settings):
    """Runs the command, which ends with the code and without a report."""
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, errors="replace",
                            env={**os.environ, **settings})
    said = result.stdout[-3000:] + result.stderr[-6000:]
    if result.returncode != code or ("ThreadSanitizer:" in said and code != FOUND):
        sys.exit(f"{' '.join(map(str, command))} ended with {result.returncode}, not {code}:\n{said}")


def build(args):
    """Builds the libraries next to a copy of the compiler, which links programs with them."""
    folder = args.folder / "build"
    need(0, "cmake", "-S", args.source, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
         "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g1", "-DWEFT_SANITIZER=thread", "-DCMAKE_C_COMPILER=gcc",
         "-DCMAKE_CXX_COMPILER=g++", "-DWEFT_BUILD_TESTS=OFF")
    need(0, "cmake", "--build", folder, "--target", *LIBRARIES)
    (folder / "bin").mkdir(exist_ok=True)
    shutil.copy2(args.weft, folder / "bin/weft")
    linker = args.folder / "link"
    linker.write_text('#!/bin/sh\nexec g++ -fsanitize=thread "$@"\n')
    linker.chmod(0o755)
    return folder / "bin/weft", linker


def show_race(folder):
    """The sanitizer works here."""
    (folder / "race.cpp").write_text(RACE)
    need(0, "g++", "-fsanitize=thread", "-g", "-O1", folder / "race.cpp", "-o", folder / "race")
    need(FOUND, folder / "race", TSAN_OPTIONS=f"exitcode={FOUND}")


class Program:
    def __init__(self, args, weft, linker, name, *flags):
        self.args, self.path, self.runs = args, args.folder / name, 0
        need(0, weft, "compile", args.model, "--batch=1", "--seq=16", f"--mesh=dp:{RANKS}", *flags, "-o", self.path,
             WEFT_CXX=str(linker))

    def run(self, code, *flags, fault="", before=()):
        ignored = self.args.folder / "ignored"
        ignored.write_text(IGNORED)
        settings = {"TSAN_OPTIONS": f"exitcode={FOUND} suppressions={ignored.resolve()}"}
        if fault:
            settings["WEFT_FAULT"] = fault
        need(code, *before, self.path, "--loopback", RANKS, "--threads", self.args.threads, "--progress=none", *flags,
             **settings)
        self.runs += 1

    def train(self):
        saves = self.path.with_suffix(".saves")
        shutil.rmtree(saves, ignore_errors=True)
        data = ["--data", self.args.data, "--val-fraction=0.1", "--eval-steps=4"]
        steps = [*data, "--accum=2", "--clip=1", "--eval-every=2", "--save-every=2", "--save-dir", saves,
                 "--metrics", self.path.with_suffix(".jsonl")]
        self.run(0, *steps, "--steps=4", "--check-replicas=1", "--trace", self.path.with_suffix(".trace"))
        self.run(0, *steps, "--steps=6", "--resume=must", fault="slow@save=1,rank=1;slow@step=6,rank=2")
        self.run(0, *data, "--resume", saves, "--eval-only")
        self.run(0, "--resume", saves, "--generate=weft", "--max-new-tokens=4")

    def fail(self):
        """All ranks hold the parameters, of which one changes in one of them."""
        steps = ["--data", self.args.data, "--steps=6"]
        self.run(6, *steps, fault="num:inf@step=3")
        self.run(7, *steps, "--check-replicas=2", fault="flip@step=3,rank=1,param=wpe")
        self.run(7, *steps, "--timeout=3", fault="skip@collective=40,rank=1")

    def stop(self):
        """Without --foreground timeout signals the process and then its group: the second one would end the run."""
        saves = self.path.with_suffix(".stopped")
        shutil.rmtree(saves, ignore_errors=True)
        self.run(75, "--data", self.args.data, "--steps=1000000", "--save-dir", saves,
                 before=["timeout", "--foreground", "--preserve-status", "-s", "TERM", "6"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--weft", type=pathlib.Path, required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    show_race(args.folder)
    weft, linker = build(args)
    programs = [Program(args, weft, linker, "each", "--zero=3", "--sync=each"),
                Program(args, weft, linker, "last", "--zero=0", "--precision=bf16")]
    for program in programs:
        program.train()
    programs[0].stop()
    programs[1].fail()
    print(f"{sum(program.runs for program in programs)} runs, no report")


if __name__ == "__main__":
    main()
