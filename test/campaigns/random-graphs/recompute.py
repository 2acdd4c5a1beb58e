"""Marks of ops that the backward pass computes again, at random.

A mark is put on the generic text of a module behind weft-derive-programs, so that segments
are of any shape: not in a row, and each reads what the others made.
"""
import random
import re

OP = re.compile(r'^\s+%[^=]+ = "weft\.(\w+)"\(')
KEPT = {"read", "constant", "iota"}


def mark(text, seed):
    dice = random.Random(f"recompute {seed}")
    segments = dice.choice([1, 2, 3, 5])
    share = dice.choice([0.3, 0.7, 1.0])
    lines, is_micro = text.split("\n"), False
    for number, line in enumerate(lines):
        if '"weft.program"' in line:
            is_micro = "kind = #weft.kind<micro>" in line or "kind = #weft<kind micro>" in line
        op = OP.match(line)
        if not is_micro or not op or op[1] in KEPT or dice.random() > share:
            continue
        segment = f'weft.recompute = "s{dice.randrange(segments)}"'
        head, colon, types = line.rpartition(" : (")
        if head.endswith("}") and not head.endswith("}>"):
            lines[number] = f"{head[:-1]}, {segment}}}{colon}{types}"
        else:
            lines[number] = f"{head} {{{segment}}}{colon}{types}"
    return "\n".join(lines)
