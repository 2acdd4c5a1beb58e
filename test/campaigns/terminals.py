"""terminals.py EXAMPLES SEEDS: runs and help texts on terminals of random sizes.

SEEDS is A:B; each seed draws a command, the columns of the terminal (or none, with
COLUMNS), and TERM. No bar, step line or help text may be wrapped by the terminal. A
step line begins with the step and its loss; without a terminal that can redraw a line
there are no control sequences. The losses are those of a pipe.
"""

import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Tools", "Inputs"))
from help_width import on_terminal  # noqa: E402
from programs import make_programs, must  # noqa: E402

BAR = "\r\033[K"
STEPS = 4
RUN = ["--data", "digits.safetensors", "--steps", str(STEPS), "--save-dir", "none"]
RUNS = [["./mlp", *RUN, "--threads", "1"], ["./half", *RUN, "--threads", "1"],
        ["./two", *RUN, "--loopback", "2"], ["weft", "launch", "--tcp", "./two", *RUN]]
HELPS = [["weft", "train", "--help"], ["weft", "train", "--help-all"], ["weft", "compile", "--help-all"],
         ["weft", "generate", "--help"], ["weft", "launch", "--help"], ["weft", "--help"], ["./mlp", "--help-all"]]
LOSS = re.compile(r"(\d+)/%d  loss (\S+)" % STEPS)


def steps_of(text):
    """The bars and the step lines."""
    parts = [part.split("\n")[0] for part in text.split(BAR)[1:]]
    return parts + [line for line in text.split("\n") if BAR not in line and re.match(r"step \d+/", line)]


def check_run(command, text, columns, redraws, losses):
    steps = steps_of(text)
    if not steps or (redraws != (BAR in text)) or (not redraws and "\033" in text):
        return "expects a bar or lines, as TERM says"
    for step in steps:
        if len(step) >= columns:
            return f"{len(step)} columns of {columns}: {step}"
        found = LOSS.search(step)
        if columns > 40 and (not found or losses[found[1]] != found[2]):
            return f"expects the loss of a pipe, but got {step}"
    return None


def check_help(text, columns):
    for line in text.split("\n"):
        if len(line) > columns and len(line.split()) > 1:
            return f"{len(line)} columns of {columns}: {line}"
    return None


def try_seed(seed, losses):
    draw = random.Random(seed)
    is_run = draw.random() < 0.6
    # A usage is not broken: help texts need its columns.
    columns = draw.randint(20 if is_run else 62, 160)
    knows = draw.random() < 0.5
    term = draw.choice(["xterm", "xterm-256color", "dumb"])
    command = draw.choice(RUNS if is_run else HELPS)
    text = on_terminal(command, columns if knows else 0, {"TERM": term, "COLUMNS": str(20 if knows else columns)})
    problem = check_run(command, text, columns, term != "dumb", losses.get(command[0])
                        or losses["./two"]) if is_run else check_help(text, columns)
    if problem:
        print(f"seed {seed}: {' '.join(command)}: {problem}", flush=True)
    return problem is None


def main():
    begin, end = map(int, sys.argv[2].split(":"))
    make_programs(sys.argv[1])
    must(["weft", "compile", "model.mlir", "--precision=f16", "-o", "half"])
    must(["weft", "compile", "model.mlir", "--mesh=dp:2", "-o", "two"])
    losses = {command[0]: dict(LOSS.findall(must(command).stdout.decode())) for command in RUNS[:3]}
    wrong = sum(not try_seed(seed, losses) for seed in range(begin, end))
    print(f"{end - begin} terminals, {wrong} wrong")


main()
