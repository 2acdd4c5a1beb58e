#!/usr/bin/env python3
"""Whether products ran the algorithms of a file of tuning.

usage: tuned.py TUNING RAN

RAN is what the emulated cuBLASLt has written: a line "M N K NUMBER PROCESSORS" for each
call. The number stands in the high half of the fourth word of an algorithm, as
test/emulation/CublasLtObjects.h has it.
"""
import json
import sys


def number_of(algorithm):
    """Algorithm::number: bytes 28 to 31 of the text of 64-bit words."""
    return int(algorithm[48:64], 16) >> 32


def main(tuning, ran):
    with open(tuning) as file:
        products = json.load(file)["products"]
    allowed = {}
    for product in products:
        record = product["record"]
        key = (record["m"], record["n"], record["k"])
        allowed.setdefault(key, set()).add(number_of(product["algorithm"]))
    lines = [tuple(map(int, line.split()))[:4] for line in open(ran)]
    others = 0
    for m, n, k, number in lines:
        if number not in allowed.get((m, n, k), set()):
            sys.exit(f"product {m} x {n} x {k} ran algorithm {number}, not {allowed}")
        others += number != 0
    print(f"{len(lines)} products ran the algorithm of the file, {others} not the first one")


if __name__ == "__main__":
    main(*sys.argv[1:])
