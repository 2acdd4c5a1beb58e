"""standard-output.py EXAMPLES: what commands do when nobody takes their output.

Each command of the table meets a full disk, a closed descriptor, and a pipe
whose reader is gone; each must end with 8, and with a message unless a tool's
reader has just left.
"""

import os
import sys

from programs import make_language_model, make_programs, must, run

WORK = ["--steps", "2", "--threads", "1"]
COMMANDS = [
    ["weft", "--help"],
    ["weft", "--version"],
    ["weft", "compile", "--help"],
    ["weft", "train", "--help"],
    ["weft", "inspect", "--help"],
    ["weft", "check", "--help"],
    ["weft", "ckpt", "--help"],
    ["weft", "cache", "--help"],
    ["weft", "cache", "ls"],
    ["weft", "cache", "clear"],
    ["weft", "help-markdown", "flags"],
    ["weft", "compile", "model.mlir", "--emit", "graph"],
    ["weft", "compile", "model.mlir", "--emit", "llvm"],
    ["weft", "compile", "model.mlir", "--print-pipeline"],
    ["weft", "inspect", "mlp"],
    ["weft", "inspect", "mlp", "--schedule"],
    ["weft", "inspect", "mlp", "--json"],
    ["weft", "check", "model.mlir", "--grad"],
    ["weft", "ckpt", "ls", "ck"],
    ["weft", "ckpt", "verify", "ck"],
    ["weft", "ckpt", "diff", "ck", "ck"],
    ["./mlp", "--help"],
    ["./mlp", "--version"],
    ["./mlp", "--data", "digits.safetensors", "--progress", "line", *WORK],
    ["./mlp", "--data", "digits.safetensors", "--progress", "json", *WORK],
    ["./mlp", "--data", "digits.safetensors", "--dry-run", *WORK],
    ["./gpt", "--generate", "a", "--max-new-tokens", "3", "--threads", "1"],
    ["weft", "train", "model.mlir", "--data", "digits.safetensors", "--progress", "line", *WORK],
    ["weft-opt", "model.mlir"],
    ["weft-opt", "--help"],
    ["weft-interp", "graph.mlir"],
    ["weft-interp", "--help"],
    ["weft-reduce", "--help"],
    ["weft-lsp-server", "--help"],
]


def closed_pipe():
    read, write = os.pipe()
    os.close(read)
    return write


def check(command, how, result, quiet):
    """The problem, or nothing."""
    error = result.stderr.decode()
    said = "standard output" in error or "IO failure on output stream" in error
    if how == "full" and "o space left on device" not in error:
        return f"{how}: expects the reason, but got '{error}'"
    if result.returncode != 8:
        return f"{how}: exit {result.returncode}: {error}"
    samples = command[0] == "./gpt" and "--generate" in command
    if quiet and (command[0].startswith("weft") or samples) and "--data" not in command:
        return f"{how}: expects no message, but got {error}" if error else None
    return None if said else f"{how}: expects a message, but got '{error}'"


def try_command(command):
    with open("/dev/full", "w") as full:
        yield check(command, "full", run(command, stdout=full), False)
    closed = run(["sh", "-c", 'exec "$@" >&- <&-', "sh", *command], stdin=None, stdout=None)
    yield check(command, "closed", closed, False)
    pipe = closed_pipe()
    # Python ignores SIGPIPE and would hand that on: a shell does not.
    gone = run(command, stdout=pipe, restore_signals=True)
    os.close(pipe)
    yield check(command, "no reader", gone, True)


def main():
    make_programs(sys.argv[1])
    make_language_model(sys.argv[1])
    must(["weft", "compile", "model.mlir", "--emit", "graph", "-o", "graph.mlir"])
    failures = 0
    for command in COMMANDS:
        must(command)
        for problem in filter(None, try_command(command)):
            failures += 1
            print(f"{' '.join(command)}: {problem}")
    print(f"{len(COMMANDS)} commands, {failures} wrong")


main()
