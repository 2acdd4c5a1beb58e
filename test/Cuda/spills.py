#!/usr/bin/env python3
"""Reads the report of ptxas on hand-written kernels: memory that their registers spill to.

usage: spills.py BUILD

Compiles the sources of kernels/cuda with the commands of a folder that cmake has
configured, and prints a line for each source and chip: its kernels, the most
registers of one, and how many functions have a frame in memory, or store and load
what was spilled. Those are named on stderr.
"""
import concurrent.futures
import os
import re
import shlex
import subprocess
import sys

FUNCTION = re.compile(r"Function properties for (\S+)\s+(\d+) bytes stack frame, "
                      r"(\d+) bytes spill stores, (\d+) bytes spill loads")


def commands_of(build):
    """Names of cubins, and the commands that make them."""
    with open(os.path.join(build, "build.ninja")) as lines:
        for line in lines:
            for part in line.split(" && "):
                words = shlex.split(part) if " -cubin " in part else []
                if words:
                    yield os.path.basename(words[words.index("-o") + 1]), words


def compile_verbosely(command):
    for option in ("-o", "-MF"):
        os.makedirs(os.path.dirname(command[command.index(option) + 1]), exist_ok=True)
    result = subprocess.run([*command, "-Xptxas", "-v"], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{shlex.join(command)}: ended with {result.returncode}\n{result.stderr[-2000:]}")
    return result.stderr


def describe(cubin, report):
    kernels = report.count("Compiling entry function")
    registers = [int(used) for used in re.findall(r"Used (\d+) registers", report)]
    functions = FUNCTION.findall(report)
    if not kernels <= len(functions) or len(registers) < kernels:
        sys.exit(f"{cubin}: expects registers and a frame of each of {kernels} kernels\n{report}")
    for name, *numbers in functions:
        if any(map(int, numbers)):
            print("{}: {}: frame {}, stores {}, loads {}".format(cubin, name, *numbers), file=sys.stderr)
    frames, stores, loads = (sum(int(one[i]) > 0 for one in functions) for i in (1, 2, 3))
    return (f"{cubin}: {kernels} kernels of up to {max(registers)} registers, {frames} with a frame, "
            f"{stores} that store spills, {loads} that load them")


def main(build):
    cubins, commands = zip(*commands_of(build))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for cubin, report in zip(cubins, pool.map(compile_verbosely, commands)):
            print(describe(cubin, report), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
