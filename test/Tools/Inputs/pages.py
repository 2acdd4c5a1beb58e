"""pages.py PAGE...: the shell blocks of documents, run as they stand there.

Blocks of a page run in the current folder, in order, so a block may use the files
of an earlier one. A ```sh block has to succeed. In a ```console block a line that
begins with "$ " is a command (a backslash continues it), and the lines after it are
its output, standard error included. Numbers may differ; a line "..." stands for any
lines. With --write, the page gets the output of this machine in their place.

Skipped are blocks that set the machine up, or need a GPU or a program of others.
"""
import argparse
import re
import subprocess
import sys

SKIPPED = re.compile(r"scripts/|cuda|nsys|gnuplot|git clone|torchrun|srun|ADDRESS|python3 -m venv")
BLOCK = re.compile(r"^```(sh|console)\n(.*?)^```$", flags=re.M | re.S)
NUMBER = re.compile(r"\d+(,\d{3})+|\d+(\.\d+)?(e[+-]?\d+)?")


def masked(line):
    """The line without numbers, padding, hashes and remaining times."""
    line = re.sub(r"\bk_[0-9a-f]{16}\b|\b[0-9a-f]{32}\b", "HASH", line)
    line = re.sub(r"\beta \S+", "eta T", line)
    return " ".join(NUMBER.sub("N", line).split())


def run(command):
    ended = subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return ended.returncode, ended.stdout.decode(errors="backslashreplace").splitlines()


def commands_of(block):
    """The commands of a console block, each with the lines of its output."""
    found, continues = [], False
    for line in block.splitlines():
        if continues:
            found[-1][0] += "\n" + line
        elif line.startswith("$ "):
            found.append([line[2:], []])
        else:
            found[-1][1].append(line)
            continue
        continues = line.endswith("\\")
    return found


def matched(shown, actual):
    """The shown lines as they are in `actual`, or None if they do not match."""
    if not shown:
        return None if actual else []
    if shown[0] == "...":
        for skipped in range(len(actual) + 1):
            rest = matched(shown[1:], actual[skipped:])
            if rest is not None:
                return ["..."] + rest
        return None
    if not actual or masked(shown[0]) != masked(actual[0]):
        return None
    rest = matched(shown[1:], actual[1:])
    return None if rest is None else [actual[0]] + rest


def check(page, kind, block):
    """Runs a block; its text with the output of this machine."""
    if kind == "sh":
        status, output = run("set -eu\n" + block)
        if status != 0:
            sys.exit(f"{page}: exit {status} of\n{block}\n" + "\n".join(output))
        return block
    text = ""
    for command, shown in commands_of(block):
        status, output = run(command)
        lines = matched(shown, output)
        if status != 0 or lines is None:
            sys.exit(f"{page}: exit {status} of\n$ {command}\nexpects the output\n"
                     + "\n".join(shown) + "\nbut got\n" + "\n".join(output))
        text += "".join(line + "\n" for line in ["$ " + command, *lines])
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pages", nargs="+")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    for page in options.pages:
        with open(page) as file:
            text = file.read()
        count = 0

        def replace(found):
            nonlocal count
            if SKIPPED.search(found[2]):
                return found[0]
            count += 1
            return f"```{found[1]}\n{check(page, found[1], found[2])}```"

        text = BLOCK.sub(replace, text)
        if options.write:
            with open(page, "w") as file:
                file.write(text)
        if count == 0:
            sys.exit(f"{page}: expects sh or console blocks, but got none")
        print(f"{page}: {count} blocks")


main()
