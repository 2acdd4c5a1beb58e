"""help_width.py EXAMPLES: help texts are grouped and fit their columns.

Into a pipe a help text has at most 80 columns; on a terminal it has the columns
of the terminal, or of COLUMNS where the terminal does not tell."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

from programs import must


def on_terminal(command, columns, variables):
    """What a terminal of so many columns (0: unknown) gets."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(command, stdout=slave, stderr=slave, stdin=subprocess.DEVNULL,
                               env={**os.environ, **variables})
    os.close(slave)
    text = b""
    try:
        while data := os.read(master, 65536):
            text += data
    except OSError:  # how a terminal ends
        pass
    os.close(master)
    assert process.wait() == 0, (command, text)
    return text.decode().replace("\r\n", "\n")


def check(text, columns, command):
    for line in text.split("\n"):
        words = line.split()
        if len(line) > columns and len(words) > 1:
            sys.exit(f"{command}: expects at most {columns} columns, but got {len(line)}:\n{line}")


def flags_of(text):
    return re.findall(r"^  (?:-\w, )?--([a-z0-9-]+)", text, flags=re.M)


def main():
    model = os.path.join(sys.argv[1], "mlp.mlir")
    must(["weft", "compile", model, "-o", "mlp"])
    commands = [["weft", "--help"]]
    names = ("train", "compile", "generate", "evaluate", "predict", "launch", "inspect", "report", "bench", "check",
             "ckpt", "cache", "data", "tokenize")
    commands += [["weft", name, "--help"] for name in names]
    commands.append(["./mlp", "--help"])
    for name in names:
        if name != "launch":
            commands.append(["weft", name, "--help-all"])
    commands.append(["./mlp", "--help-all"])
    for command in commands:
        check(must(command).stdout.decode(), 80, command)
        check(on_terminal(command, 0, {"COLUMNS": "60"}), 60, command)
        check(on_terminal(command, 60, {"COLUMNS": "100"}), 60, command)
    for name, flags in (("generate", {"prompt", "kv-cache", "tokenizer"}), ("evaluate", {"val-data", "tokenizer"})):
        shown = set(flags_of(must(["weft", name, "--help"]).stdout.decode()))
        assert flags <= shown, (name, flags - shown)
    assert "kv-cache" not in flags_of(must(["weft", "evaluate", "--help-all"]).stdout.decode())
    for command in (["weft", "train"], ["weft", "compile"], ["./mlp"]):
        short = must(command + ["--help"]).stdout.decode()
        whole = must(command + ["--help-all"]).stdout.decode()
        assert set(flags_of(short)) < set(flags_of(whole)), command
        assert len(set(flags_of(whole))) == len(flags_of(whole)), command
        assert len(short.split("\n")) < 95, (command, len(short.split("\n")))
        assert re.search(r"^General:$", short, flags=re.M), short
    print(f"{len(commands)} help texts fit")


if __name__ == "__main__":
    main()
