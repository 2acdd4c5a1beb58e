"""run_page.py PAGE --source SOURCE --build BUILD --work WORK [--have NAME]... [--write]
run_page.py --covered SOURCE

Runs the commands of a page in order, in one shell, in the folder WORK with
links to everything of SOURCE and BUILD/bin in PATH. Every command has to
succeed. A page has two kinds of blocks with commands:

- ```sh has commands alone. A block of text after it, before the next block of
  commands or heading, is their output.
- ```console has commands after "$ ", which a backslash continues. The lines
  after a command are its output, none if it prints nothing.

Outputs, with standard error, are compared from the first line to the last. A
line `...` stands for any lines, `...` in a line for any text. Numbers are
compared loosely:

- times, rates and percentages match any number, as do digests
- other numbers with a point may differ by 5 %
- integers have to be equal

A comment before a block says more; several words have semicolons between them:

<!-- run: skip REASON -->        not run
<!-- run: needs NAME -->         run if NAME is there: gpu, a program, or --have
<!-- run: exit 3 -->             ends with that status
<!-- run: file NAME -->          a block of any language is written to that file
<!-- run: no output -->          a block of text is no output
<!-- run: loose -->              any number in the output matches

Blocks that set a machine up (scripts/build.sh, ...) are skipped. --write puts
the outputs of this machine into the page. --covered checks that a test names
each page of README.md and docs/tutorials with blocks.
"""
import argparse
import glob
import os
import re
import shutil
import signal
import subprocess
import sys

SET_UP = re.compile(r"\bscripts/(quickstart|test|install-deps|build|setup-cuda)\.sh\b")
SHELLS = ("sh", "console")
OTHER_SHELLS = ("bash", "shell", "shell-session", "zsh")
NUMBER = re.compile(r"(?<![\w.])[+-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.]*\d)"
                    r"|(?<=[a-zA-Z_])\d+(?:\.\d+)?")
VARYING = re.compile(r"\s*(?:(?:ns|us|µs|ms|s|min|h|%|x)\b|%|[A-Za-z]+/s\b|seconds|minutes)")
DIGEST = re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b|(?<=k_)[0-9a-f]+\b")
TIME = re.compile(r"\b(eta|compute|comm|data) (\d[\dhms.]*)(?=[,)]|$)")
ANY = ("...", "…")


class PageError(Exception):
    pass


class Output:
    """Lines of a block; the page has `first` lines before them."""

    def __init__(self, first, block):
        self.first, self.lines = first, []
        self.indent, self.loose = block.indent, bool(block.word("loose"))


class Command:
    """Text for the shell, from a line of the page; `output` may be None."""

    def __init__(self, line, text, output=None):
        self.line, self.text, self.output = line, text, output


class Block:
    def __init__(self, line, language, words, indent):
        self.line, self.language, self.words, self.indent = line, language, words, indent
        self.lines = []
        self.commands = []

    def word(self, name):
        for word in self.words:
            if word == name or word.startswith(name + " "):
                return word[len(name):].strip() or True
        return None

    @property
    def text(self):
        return "".join(line + "\n" for line in self.lines)


def read_blocks(path):
    """Blocks and headings (None) of a page, in order."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    words, block, fence = [], None, None
    for number, line in enumerate(lines, 1):
        if block:
            if line.strip() == fence[1]:
                yield block
                block = None
            else:
                block.lines.append(line[len(fence[0]):] if line.startswith(fence[0]) else line.lstrip())
            continue
        mark = re.match(r"(\s*)(`{3,})\s*([^\s`]*)", line)
        comment = re.fullmatch(r"\s*<!-- run: (.*?) -->\s*", line)
        if mark:
            fence = (mark[1], mark[2])
            block = Block(number, mark[3], words, mark[1])
            words = []
        elif comment:
            words = [word.strip() for word in comment[1].split(";")]
        elif line.strip():
            if words:
                raise PageError(f"{number}: expects a block behind `run:`, but got text")
            if line.startswith("#"):
                yield None
    if block:
        raise PageError(f"{block.line}: expects the end of a block, but got the end of the page")


def read_console(block):
    """The commands of a console block, each with its output."""
    continues = False
    for number, line in enumerate(block.lines):
        if continues:
            block.commands[-1].text += line + "\n"
            block.commands[-1].output.first += 1
        elif line.startswith("$ "):
            first = block.line + number + 1
            block.commands.append(Command(first, line[2:] + "\n", Output(first, block)))
        elif block.commands:
            block.commands[-1].output.lines.append(line)
            continue
        else:
            raise PageError(f"{block.line + number + 1}: expects a command after `$ `, but got {line}")
        continues = line.endswith("\\")


def read_page(path):
    """The blocks that are run or written, with their commands and outputs."""
    kept, last = [], None
    for block in read_blocks(path):
        if block is None:
            last = None
        elif block.word("file"):
            kept.append(block)
        elif block.language in OTHER_SHELLS:
            raise PageError(f"{block.line}: expects a block of sh or console, but got {block.language}")
        elif block.language in SHELLS:
            kept.append(block)
            if block.language == "console":
                read_console(block)
            else:
                block.commands.append(Command(block.line, block.text))
            last = block.commands[0] if block.language == "sh" else None
        elif block.language in ("", "text") and last and not block.word("no output"):
            last.output = Output(block.line, block)
            last.output.lines = block.lines
            last = None
    return kept


def find_skip(block, have):
    """Why a block is not run, or None."""
    if block.word("skip"):
        return str(block.word("skip"))
    needs = block.word("needs")
    if needs and needs not in have and (needs == "gpu" or not shutil.which(needs)):
        return f"needs {needs}"
    if SET_UP.search(block.text):
        return "sets the machine up"
    return None


def is_close(shown, real, rest):
    """Whether a number of the output is the one shown, which `rest` follows."""
    if VARYING.match(rest) or shown == real:
        return True
    if "." not in shown and "e" not in shown:
        return False
    try:
        a, b = float(shown.replace(",", "")), float(real.replace(",", ""))
    except ValueError:
        return False
    decimals = len(shown.split(".")[1].split("e")[0]) if "." in shown else 0
    return abs(a - b) <= max(0.05 * abs(a), 1.01 * 10.0 ** -decimals)


def quote(text):
    parts = re.split(r"\.\.\.|…", text)
    return ".*?".join(re.escape(part).replace(r"\ ", " *") for part in parts)


def matches(shown, real, loose):
    """Whether a line of output is the one shown."""
    # The size of a program differs between compilers.
    loose = loose or shown.lstrip().startswith("made ")
    shown, real = (" ".join(TIME.sub(r"\1 TIME", DIGEST.sub("DIGEST", line)).split()) for line in (shown, real))
    pattern, numbers, end = "", [], 0
    for number in NUMBER.finditer(shown):
        pattern += quote(shown[end:number.start()])
        pattern += r"([+-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)"
        numbers.append((number[0], shown[number.end():]))
        end = number.end()
    found = re.fullmatch(pattern + quote(shown[end:]), real)
    return bool(found) and all(loose or is_close(text, got, rest)
                               for (text, rest), got in zip(numbers, found.groups()))


def match_run(run, real, begin, loose):
    """How many lines of `run` match the lines of `real` from `begin`."""
    count = 0
    for line, got in zip(run, real[begin:]):
        if not matches(line, got, loose):
            break
        count += 1
    return count


def align(output, real):
    """The shown lines as they are in `real`, and None; or None and the problem."""
    shown, runs = output.lines, [[]]
    for line in shown:
        if line.strip() in ANY:
            runs.append([])
        else:
            runs[-1].append(line)
    made, begin = [], 0
    for index, run in enumerate(runs):
        starts = range(begin, len(real) + 1)
        if index == 0:
            starts = [0]
        elif index == len(runs) - 1 and run:
            starts = [max(begin, len(real) - len(run))]
        counts = [match_run(run, real, start, output.loose) for start in starts]
        best = max(counts)
        if best < len(run):
            return None, f"expects the output to have the line `{run[best]}`, but got"
        begin = starts[counts.index(best)]
        made += ["..."] if index > 0 else []
        made += [line if any(word in line for word in ANY) else got for line, got in zip(run, real[begin:])]
        begin += len(run)
    if len(runs) == 1 and begin < len(real):
        return None, f"expects the output to end before the line `{real[begin]}`, but got"
    return made, None


def prepare(source, build, work):
    """A folder with links to what a reader has after a build."""
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    for name in os.listdir(source):
        if not name.startswith((".", "build")):
            os.symlink(os.path.join(source, name), os.path.join(work, name))
    os.symlink(build, os.path.join(work, "build"))


def write_script(blocks, logs):
    """The commands of the blocks as a script that gives each a file of its own."""
    script, number = "set -eu\n", 0
    for block in blocks:
        if block.word("file"):
            name, text = block.word("file"), os.path.join(logs, f"{block.line}.text")
            with open(text, "w", encoding="utf-8") as file:
                file.write(block.text)
            script += f"mkdir -p \"$(dirname '{name}')\"\ncp '{text}' '{name}'\n"
        status = block.word("exit") or "0"
        for command in block.commands:
            script += f"exec >'{logs}/{number}.out' 2>&1\n"
            script += command.text if status == "0" else (
                f"set +e\n{command.text}[ $? -eq {status} ] || {{ echo 'expects exit status {status}'; exit 1; }}\n"
                "set -e\n")
            number += 1
    return script + f"touch '{logs}/end'\n"


def run_commands(blocks, build, work, seconds):
    """Runs blocks in one shell; the outputs that there are, by position."""
    logs = os.path.join(work, ".run")
    os.makedirs(logs)
    environment = {**os.environ, "XDG_CACHE_HOME": os.path.join(work, ".cache"),
                   "PATH": os.path.join(build, "bin") + os.pathsep + os.environ["PATH"]}
    with open(os.path.join(logs, "script"), "w", encoding="utf-8") as file:
        file.write(write_script(blocks, logs))
    shell = subprocess.Popen(["bash", os.path.join(logs, "script")], cwd=work, env=environment,
                             stdin=subprocess.DEVNULL, start_new_session=True)
    late = False
    try:
        shell.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(shell.pid, signal.SIGKILL)
        shell.wait()
        late = True
    outputs = []
    while os.path.exists(path := os.path.join(logs, f"{len(outputs)}.out")):
        with open(path, encoding="utf-8", errors="backslashreplace") as file:
            outputs.append(file.read().replace(work + "/", ""))
    return outputs, os.path.exists(os.path.join(logs, "end")), late


def write_outputs(page, changes):
    """Replaces the lines of outputs in the page, from the last to the first."""
    with open(page, encoding="utf-8") as file:
        lines = file.read().split("\n")
    for output, made in reversed(changes):
        lines[output.first:output.first + len(output.lines)] = [(output.indent + line).rstrip() for line in made]
    with open(page, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


def run_page(page, args, have):
    """Prints the result of each command; whether all are as the page shows."""
    title = os.path.relpath(page, args.source)
    try:
        blocks = read_page(page)
    except PageError as error:
        print(f"{title}:{error}")
        return False
    skips = {block: find_skip(block, have) for block in blocks}
    wanted = [block for block in blocks if not skips[block]]
    for block in blocks:
        if skips[block]:
            print(f"{title}:{block.line}: skipped: {skips[block]}")
    prepare(args.source, args.build, args.work)
    outputs, ended, late = run_commands(wanted, args.build, args.work, args.timeout)
    commands = [command for block in wanted for command in block.commands]
    errors, changes = 0, []
    for i, (command, text) in enumerate(zip(commands, outputs)):
        problem, line = None, command.line
        if i == len(outputs) - 1 and not ended:
            problem = "expects commands that end well, but they "
            problem += f"have no end within {args.timeout} s" if late else "failed"
        elif command.output:
            made, problem = align(command.output, [line.rstrip() for line in text.splitlines()])
            line = command.output.first
            changes.append((command.output, made))
        if problem:
            print(f"{title}:{line}: {problem}:\n{text}")
            errors += 1
    if not ended and not outputs:
        print(f"{title}: expects files that can be written, but got an error")
    ran = sum(bool(block.commands) for block in wanted)
    print(f"{title}: {ran} of {ran + len(blocks) - len(wanted)} blocks run, "
          f"{len(changes)} outputs compared, {errors} errors")
    if ran == 0:
        print(f"{title}: expects blocks of sh or console to run, but got none")
    if args.write:
        write_outputs(page, [change for change in changes if change[1] is not None])
    return errors == 0 and ended and ran > 0


def find_uncovered(source):
    runs = ""
    for path in glob.glob(os.path.join(source, "test", "**", "*.test"), recursive=True):
        with open(path, encoding="utf-8", errors="replace") as file:
            runs += "".join(line for line in file if "RUN:" in line and "run_page.py" in line)
    pages = [os.path.join(source, "README.md")]
    pages += sorted(glob.glob(os.path.join(source, "docs", "tutorials", "*.md")))
    for page in pages:
        if any(block and block.language in (*SHELLS, *OTHER_SHELLS) for block in read_blocks(page)):
            name = os.path.relpath(page, source)
            yield name, f"/{name}" in runs


def check_covered(source):
    pages = list(find_uncovered(source))
    missing = [name for name, covered in pages if not covered]
    for name in missing:
        print(f"{name}: expects a test that runs its blocks")
        print(f"hint: %python %S/Inputs/run_page.py %src/{name} --source %src --build %build "
              "--work %t, in a file test/Tools/NAME.test")
    print(f"{len(pages)} pages with shell blocks, {len(missing)} without a test")
    return not missing


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("page", nargs="?")
    parser.add_argument("--covered", metavar="SOURCE")
    for name in ("source", "build", "work"):
        parser.add_argument("--" + name, type=os.path.abspath)
    parser.add_argument("--have", action="append", default=[])
    parser.add_argument("--timeout", type=int, default=900)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    if args.covered:
        return 0 if check_covered(args.covered) else 1
    have = set(args.have)
    if os.path.exists("/dev/nvidia0"):
        have.add("gpu")
    if shutil.which("mpirun"):
        have.add("mpi")
    return 0 if run_page(os.path.abspath(args.page), args, have) else 1


if __name__ == "__main__":
    sys.exit(main())
