"""page_commands.py PAGE: runs the shell blocks of a page, and compares the output that it shows.

Runs every ```sh block in order, in the current folder. Each line of a ```text
block has to be a line of what the sh block before it printed, in that order;
"..." stands for any text, and a line of "..." for any lines. Prints how many
blocks ran and how many lines were compared.
"""
import re
import subprocess
import sys

BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.M | re.S)


def run(block):
    done = subprocess.run(["bash", "-eu", "-c", block], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"page_commands.py: error: {block}ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def compare(shown, printed):
    lines, place, compared = [line.strip() for line in printed.splitlines()], 0, 0
    for line in filter(None, map(str.strip, shown.splitlines())):
        if line == "...":
            continue
        pattern = re.compile(r".*".join(map(re.escape, re.split(r"\s*\.\.\.\s*", line))))
        while place < len(lines) and not pattern.fullmatch(lines[place]):
            place += 1
        if place == len(lines):
            sys.exit(f"page_commands.py: error: expects the line {line} in\n{printed}")
        place, compared = place + 1, compared + 1
    return compared


def main(page):
    with open(page) as file:
        blocks = BLOCK.findall(file.read())
    printed, ran, compared = "", 0, 0
    for kind, block in blocks:
        if kind == "sh":
            printed, ran = run(block), ran + 1
        else:
            compared += compare(block, printed)
    print(f"{ran} blocks, {compared} lines as shown")


if __name__ == "__main__":
    main(*sys.argv[1:])
