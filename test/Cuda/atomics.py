#!/usr/bin/env python3
"""Atomic operations in device code, which adds in a fixed order without them.

usage: atomics.py FILE|FOLDER...

Looks at the instructions of PTX (*.ptx) and, in sources, at functions and inline
PTX that make such an instruction. Prints what it finds and ends with 1, or says
how many instructions and lines there were. What lanes of a warp compute together
(redux, shfl) is none.
"""
import os
import re
import sys

# atom, red, red.async, multimem.red, cp.reduce.async.bulk: each by its full name.
OPCODE = r"(?:atom|red|multimem\.(?:ld_reduce|red)|cp\.reduce)\."
PTX = re.compile(r"(?:^|[;{}])\s*(?:@!?%\w+\s+)?([a-z][\w.:]*)")
SOURCE = re.compile(rf"\b(?:{OPCODE}\w|atomic\w*\s*[(<:]|atomic_ref\b|__\w*atomic\w*|reduce_async|[Rr]ed(?:uce)?Async)")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


def without_comments(text):
    """The same lines."""
    return COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)


def look_at(path, text):
    """The number of instructions or lines, and the atomic ones."""
    lines = without_comments(text).splitlines()
    if not path.endswith(".ptx"):
        return len(lines), [(number, line) for number, line in enumerate(lines, 1) if SOURCE.search(line)]
    count, found = 0, []
    for number, line in enumerate(lines, 1):
        for opcode in PTX.findall(line):
            count += 1
            if re.match(OPCODE, opcode):
                found.append((number, line))
    return count, found


def files_in(places):
    for place in places:
        if not os.path.isdir(place):
            yield place
        for folder, _, names in os.walk(place):
            yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith((".ptx", ".cu", ".cpp", ".h")))


def main(places):
    instructions = lines = 0
    wrong = False
    for path in files_in(places):
        with open(path) as file:
            count, found = look_at(path, file.read())
        if path.endswith(".ptx"):
            if count == 0:
                sys.exit(f"{path}: expects instructions")
            instructions += count
        else:
            lines += count
        for number, line in found:
            wrong = True
            print(f"{path}:{number}: {line.strip()}")
    if wrong:
        sys.exit(1)
    print(f"{instructions} instructions and {lines} lines without atomics")


main(sys.argv[1:])
