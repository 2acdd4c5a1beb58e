"""terminal_progress.py EXAMPLES [mpi]: progress on terminals and in pipes."""

import sys

from help_width import on_terminal
from programs import make_programs, must

TRAIN = ["--data", "digits.safetensors", "--steps", "3", "--save-dir", "none"]
BAR = "\r\033[K"


def longest(text):
    return max(len(line) for line in text.split("\n"))


def check_narrow(text, columns):
    """Plain lines that a terminal of so many columns does not wrap."""
    steps = [line for line in text.split("\n") if line.startswith("step ") and "/" in line]
    assert len(steps) == 3 and "\033" not in text and "\r" not in text, text
    assert all(len(line) < columns and "loss" in line for line in steps), text


def main():
    make_programs(sys.argv[1])
    program = ["./mlp", *TRAIN, "--threads", "1"]
    assert BAR in on_terminal(program, 80, {"TERM": "xterm"})
    check_narrow(on_terminal(program, 80, {"TERM": "dumb"}), 80)
    check_narrow(on_terminal(program, 0, {"TERM": "dumb", "COLUMNS": "60"}), 60)
    piped = must(program).stdout.decode()
    assert "(compute " in piped and "\033" not in piped, piped
    assert longest(piped) > 80, piped

    must(["weft", "compile", "model.mlir", "--mesh=dp:2", "-o", "two"])
    ways = [["weft", "launch", "--tcp", "./two", *TRAIN]]
    if sys.argv[2:] == ["mpi"]:
        ways.append(["weft", "launch", "./two", *TRAIN])
    for command in ways:
        shown = on_terminal(command, 70, {"TERM": "xterm"})
        assert BAR in shown, (command, shown)
        bars = [part.split("\n")[0] for part in shown.split(BAR)[1:]]
        assert all(len(bar) < 70 for bar in bars), (command, bars)
        check_narrow(on_terminal(command, 80, {"TERM": "dumb"}), 80)
        piped = must(command).stdout.decode()
        assert "step 3/3" in piped and "\033" not in piped, piped
    print("terminals get bars or narrow lines, pipes whole lines")


if __name__ == "__main__":
    main()
