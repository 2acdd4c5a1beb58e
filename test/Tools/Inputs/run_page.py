"""run_page.py PAGE --source SOURCE --build BUILD --work WORK [--have NAME]...
run_page.py --covered SOURCE

Runs the ```sh blocks of a page in order, in one shell, in the folder WORK with
links to everything of SOURCE and BUILD/bin in PATH. A block of text behind a
```sh block, before the next one or a heading, is its output. The lines have to
appear there one after the other; `...` stands for any lines, or for anything
in a line. Numbers are compared loosely:

- times, rates and percentages match any number, as do digests
- other numbers with a point may differ by 5 %
- integers have to be equal

A comment before a block says more; several words have semicolons between them:

<!-- run: skip REASON -->        not run
<!-- run: needs NAME -->         run if NAME is there: gpu, mpi, or --have NAME
<!-- run: exit 3 -->             ends with that status
<!-- run: file NAME -->          a block of any language is written to that file
<!-- run: no output -->          a block of text is no output
<!-- run: loose -->              any number in the output matches

Blocks that set a machine up (scripts/build.sh, ...) are skipped. --covered
checks that a test names each page of README.md and docs/tutorials with blocks.
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
OTHER_SHELLS = ("bash", "shell", "console", "shell-session", "zsh")
NUMBER = re.compile(r"(?<![\w.])[+-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.]*\d)"
                    r"|(?<=[a-zA-Z_])\d+(?:\.\d+)?")
VARYING = re.compile(r"\s*(?:(?:ns|us|µs|ms|s|min|h|%|x)\b|%|[A-Za-z]+/s\b|seconds|minutes)")
DIGEST = re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b|(?<=k_)[0-9a-f]+\b")


class PageError(Exception):
    pass


class Block:
    def __init__(self, line, language, words):
        self.line, self.language, self.words = line, language, words
        self.text = ""
        self.output = None  # a block

    def word(self, name):
        for word in self.words:
            if word == name or word.startswith(name + " "):
                return word[len(name):].strip() or True
        return None


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
                block.text += (line[len(fence[0]):] if line.startswith(fence[0]) else line.lstrip()) + "\n"
            continue
        mark = re.match(r"(\s*)(`{3,})\s*([^\s`]*)", line)
        comment = re.fullmatch(r"\s*<!-- run: (.*?) -->\s*", line)
        if mark:
            fence = (mark[1], mark[2])
            block = Block(number, mark[3], words)
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


def read_page(path):
    """The blocks that are run or written, with their outputs."""
    kept, last = [], None
    for block in read_blocks(path):
        if block is None:
            last = None
        elif block.word("file"):
            kept.append(block)
        elif block.language in OTHER_SHELLS:
            raise PageError(f"{block.line}: expects a block of sh, but got {block.language}")
        elif block.language == "sh":
            kept.append(block)
            last = block
        elif block.language in ("", "text") and last and not block.word("no output"):
            last.output = block
            last = None
    return kept


def find_skip(block, have):
    """Why a block is not run, or None."""
    if block.word("skip"):
        return str(block.word("skip"))
    needs = block.word("needs")
    if needs and needs not in have:
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


def matches(shown, real, loose):
    """Whether a line of output is the one shown."""
    shown, real = (" ".join(DIGEST.sub("DIGEST", line).split()) for line in (shown, real))
    pattern, numbers, end = "", [], 0
    for number in NUMBER.finditer(shown):
        pattern += quote(shown[end:number.start()])
        pattern += r"([+-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)"
        numbers.append((number[0], shown[number.end():]))
        end = number.end()
    found = re.fullmatch(pattern + quote(shown[end:]), real)
    return bool(found) and all(loose or is_close(text, got, rest)
                               for (text, rest), got in zip(numbers, found.groups()))


def quote(text):
    parts = re.split(r"\.\.\.|…", text)
    return ".*?".join(re.escape(part).replace(r"\ ", " *") for part in parts)


def find_difference(shown, real, loose):
    """The first shown line that does not appear in the output, or None."""
    shown = [line.rstrip() for line in shown.rstrip().split("\n")]
    real = [line.rstrip() for line in real.split("\n")]
    # Runs of lines that follow each other.
    runs, lines = [], []
    for line in shown + ["..."]:
        if line.strip() in ("...", "…"):
            if lines:
                runs.append(lines)
            lines = []
        else:
            lines.append(line)
    begin = 0
    for run in runs:
        longest, place = 0, None
        for start in range(begin, len(real)):
            count = 0
            for line, got in zip(run, real[start:]):
                if not matches(line, got, loose):
                    break
                count += 1
            if count == len(run):
                place = start
                break
            longest = max(longest, count)
        if place is None:
            return run[longest]
        begin = place + len(run)
    return None


def prepare(source, build, work):
    """A folder with links to what a reader has after a build."""
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    for name in os.listdir(source):
        if not name.startswith((".", "build")):
            os.symlink(os.path.join(source, name), os.path.join(work, name))
    os.symlink(build, os.path.join(work, "build"))


def run_blocks(blocks, build, work, seconds):
    """Runs blocks in one shell; the outputs that there are, by position."""
    logs = os.path.join(work, ".run")
    os.makedirs(logs)
    script = "set -e\n"
    for i, block in enumerate(blocks):
        if block.word("file"):
            text = os.path.join(logs, f"{i}.text")
            with open(text, "w", encoding="utf-8") as file:
                file.write(block.text)
            name = str(block.word("file"))
            script += f"exec >'{logs}/{i}.out' 2>&1\nmkdir -p \"$(dirname '{name}')\"\ncp '{text}' '{name}'\n"
            continue
        status = block.word("exit") or "0"
        script += (f"exec >'{logs}/{i}.out' 2>&1\n" + ("set +e\n" if status != "0" else "") + block.text +
                   (f"[ $? -eq {status} ] || {{ echo 'expects exit status {status}'; exit 1; }}\nset -e\n"
                    if status != "0" else ""))
    script += f"touch '{logs}/end'\n"
    environment = {**os.environ, "XDG_CACHE_HOME": os.path.join(work, ".cache"),
                   "PATH": os.path.join(build, "bin") + os.pathsep + os.environ["PATH"]}
    with open(os.path.join(logs, "script"), "w", encoding="utf-8") as file:
        file.write(script)
    shell = subprocess.Popen(["bash", os.path.join(logs, "script")], cwd=work, env=environment,
                             stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        shell.wait(seconds)
        late = False
    except subprocess.TimeoutExpired:
        os.killpg(shell.pid, signal.SIGKILL)
        shell.wait()
        late = True
    outputs = []
    for i in range(len(blocks)):
        try:
            with open(os.path.join(logs, f"{i}.out"), encoding="utf-8", errors="replace") as file:
                outputs.append(file.read().replace(work + "/", ""))
        except OSError:
            break
    return outputs, os.path.exists(os.path.join(logs, "end")), late


def run_page(page, source, build, work, have, seconds):
    """Prints what became of each block; whether all is well."""
    title = os.path.relpath(page, source)
    try:
        blocks = read_page(page)
    except PageError as error:
        print(f"{title}:{error}")
        return False
    prepare(source, build, work)
    wanted = []
    for block in blocks:
        reason = find_skip(block, have)
        if reason:
            print(f"{title}:{block.line}: skipped: {reason}")
        else:
            wanted.append(block)
    outputs, ended, late = run_blocks(wanted, build, work, seconds)
    errors = compared = 0
    for i, (block, real) in enumerate(zip(wanted, outputs)):
        if i == len(outputs) - 1 and not ended:
            print(f"{title}:{block.line}: expects a block that ends well, but it " +
                  (f"has no end within {seconds} s:" if late else "failed:"))
            print(real)
            errors += 1
        elif block.output:
            compared += 1
            line = find_difference(block.output.text, real, block.output.word("loose"))
            if line is not None:
                print(f"{title}:{block.output.line}: expects the output to have the line `{line}`, but got:")
                print(real)
                errors += 1
    count = sum(not block.word("file") for block in wanted)
    print(f"{title}: {count} of {len(blocks) - len(wanted) + count} blocks run, "
          f"{compared} outputs compared, {errors} errors")
    return errors == 0 and bool(blocks)


def find_uncovered(source):
    runs = ""
    for path in glob.glob(os.path.join(source, "test", "**", "*.test"), recursive=True):
        with open(path, encoding="utf-8", errors="replace") as file:
            runs += "".join(line for line in file if "RUN:" in line and
                            re.search(r"(run_page|pages|shell_blocks)\.py", line))
    pages = [os.path.join(source, "README.md")]
    pages += sorted(glob.glob(os.path.join(source, "docs", "tutorials", "*.md")))
    for page in pages:
        if any(block and block.language in ("sh", *OTHER_SHELLS) for block in read_blocks(page)):
            name = os.path.relpath(page, source)
            yield name, f"/{name}" in runs


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("page", nargs="?")
    parser.add_argument("--covered", metavar="SOURCE")
    for name in ("source", "build", "work"):
        parser.add_argument("--" + name, type=os.path.abspath)
    parser.add_argument("--have", action="append", default=[])
    parser.add_argument("--timeout", type=int, default=900)
    args = parser.parse_args()
    if args.covered:
        pages = list(find_uncovered(args.covered))
        missing = [name for name, covered in pages if not covered]
        for name in missing:
            print(f"{name}: expects a test that runs its blocks")
            print(f"hint: %python %S/Inputs/run_page.py %src/{name} --source %src --build %build "
                  "--work %t, in a file test/Tools/NAME.test")
        print(f"{len(pages)} pages with shell blocks, {len(missing)} without a test")
        return 1 if missing else 0
    have = set(args.have)
    if os.path.exists("/dev/nvidia0"):
        have.add("gpu")
    if shutil.which("mpirun"):
        have.add("mpi")
    good = run_page(os.path.abspath(args.page), args.source, args.build, args.work, have, args.timeout)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
