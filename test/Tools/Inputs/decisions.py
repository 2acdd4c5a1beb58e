"""decisions.py SOURCE: the form of docs/decisions and its table.

A page NNNN-name.md has a title with its number, a line with status and date,
four sections, and the sources that it is about. README.md has a row for each.
"""
import os
import re
import sys

SECTIONS = ["Context", "Decision", "Alternatives", "Consequences"]
STATUS = re.compile(r"\*Decision\. Status: (accepted|dropped|superseded by (\d{4}))\. "
                    r"Date: (\d{4}-\d\d-\d\d)(, revised \d{4}-\d\d-\d\d)?\.\*")


def check_page(source, name, text, numbers):
    lines = text.split("\n")
    title = re.match(rf"# {name[:4]}\. (.+)", lines[0])
    if not title:
        yield 1, f"expects the title `# {name[:4]}. TITLE`"
    status = STATUS.fullmatch(lines[2]) if len(lines) > 2 else None
    if not status:
        yield 3, "expects `*Decision. Status: STATUS. Date: YYYY-MM-DD.*`"
    elif status[2] and status[2] not in numbers:
        yield 3, f"expects the number of a decision, but got {status[2]}"
    sections = [line[3:] for line in lines if line.startswith("## ")]
    if sections != SECTIONS:
        yield 1, f"expects the sections {', '.join(SECTIONS)}, but got {', '.join(sections)}"
    named = re.search(r"^Source: (.*)", text, re.M | re.S)
    paths = re.findall(r"`([^`]+)`", named[1]) if named else []
    if not paths:
        yield 1, "expects `Source:` with files of the decision"
    for path in paths:
        if not os.path.exists(os.path.join(source, path)):
            line = text[:named.start()].count("\n") + 1
            yield line, f"expects an existing source, but got {path}"


def main(source):
    folder = os.path.join(source, "docs", "decisions")
    names = sorted(n for n in os.listdir(folder) if n != "README.md")
    pages = {name: open(os.path.join(folder, name)).read() for name in names}
    errors = []
    numbers = [name[:4] for name in names]
    for name in names:
        if not re.fullmatch(r"\d{4}-[a-z0-9-]+\.md", name):
            errors.append(f"{name}: expects a name NNNN-words.md")
        if numbers.count(name[:4]) > 1:
            errors.append(f"{name}: expects a number of its own, but got {name[:4]}")
        errors += [f"{name}:{line}: {text}"
                   for line, text in check_page(source, name, pages[name], numbers)]
    with open(os.path.join(folder, "README.md")) as file:
        rows = re.findall(r"^\| \[(\d{4})\]\((.*?)\) \| (.*?) \| (.*?) \|$", file.read(), re.M)
    wanted = []
    for name in names:
        title = re.match(r"# \d{4}\. (.+)", pages[name])
        date = re.search(r"Date: ([\d-]+)", pages[name])
        wanted.append((name[:4], name, title and title[1], date and date[1]))
    for row in wanted:
        if row not in rows:
            errors.append(f"README.md: expects the row {row}")
    for row in rows:
        if row not in wanted:
            errors.append(f"README.md: expects no row {row}")
    for error in errors:
        print(f"docs/decisions/{error}")
    print(f"{len(names)} decisions, {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
