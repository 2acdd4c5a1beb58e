#!/usr/bin/env python3
"""ptxas of a toolkit that writes machine code for drivers of CUDA 12.

usage: old_ptxas.py PTXAS ARGUMENTS...

Runs PTXAS and gives its output version 7 of NVIDIA's ELF ABI, which has the number of the chip in another byte.
"""
import struct
import subprocess
import sys

ABI_VERSION, FLAGS = 8, 48


def make_old(path):
    with open(path, "r+b") as file:
        header = file.read(64)
        if header[ABI_VERSION] < 8:
            return
        chip = struct.unpack_from("<I", header, FLAGS)[0] >> 8 & 0xff
        file.seek(ABI_VERSION)
        file.write(b"\7")
        file.seek(FLAGS)
        file.write(struct.pack("<I", chip))


def main():
    arguments = sys.argv[1:]
    subprocess.run(arguments, check=True)
    make_old(arguments[arguments.index("-o") + 1])


if __name__ == "__main__":
    main()
