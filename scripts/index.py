#!/usr/bin/env python3
"""index.py [--check] [SOURCE]: the tables of pages in docs/index.md.

Writes a row for each page of docs/tutorials, how-to, reference and explanation
between the marks of docs/index.md: its title, and its purpose from the paragraph
below, `*Kind: purpose, for readers.*` or `*Kind.* Purpose, for readers.`. With --check an old table is an error
and nothing is written.
"""
import os
import re
import sys

KINDS = {
    "tutorials": ("Tutorials", "learn by doing"),
    "how-to": ("How-to guides", "one task each"),
    "reference": ("Reference", "facts to look up"),
    "explanation": ("Explanation", "why and how it works"),
}
BEGIN, END = "<!-- Pages, by scripts/index.py -->\n", "<!-- End of pages -->\n"


def describe(path):
    """Title and purpose of a page."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"<!--.*?-->", "", file.read(), flags=re.S)
    title = re.search(r"^# (.+)$", text, re.M)
    # "*Kind: purpose.*" or "*Kind.* Purpose."
    line = re.search(r"^# .+\n+\*[A-Z][A-Za-z -]*[.:](?:\*)? ((?:.+\n?)+)", text, re.M)
    purpose = " ".join(line[1].split()).strip("*") if line else ""
    purpose = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", purpose)
    purpose = re.split(r"[.;:](?:\s|$)|,? for (?:engineers|developers|readers|users|people)\b",
                       purpose)[0]
    purpose = purpose[:1].upper() + purpose[1:].rstrip(" -")
    return title[1] if title else os.path.basename(path), purpose


def tables(docs):
    for folder, (name, about) in KINDS.items():
        place = os.path.join(docs, folder)
        pages = sorted(n for n in os.listdir(place) if n.endswith(".md")) if os.path.isdir(place) else []
        if not pages:
            continue
        yield f"\n### {name}: {about}\n\n| page | purpose |\n|---|---|\n"
        for page in pages:
            title, purpose = describe(os.path.join(place, page))
            yield f"| [{title}]({folder}/{page}) | {purpose} |\n"


def main(words):
    check = "--check" in words
    words = [word for word in words if word != "--check"]
    source = words[0] if words else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    docs = os.path.join(source, "docs")
    index = os.path.join(docs, "index.md")
    with open(index, encoding="utf-8") as file:
        text = file.read()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"index.py: error: expects {BEGIN.strip()} and {END.strip()} in docs/index.md")
    before, rest = text.split(BEGIN)
    new = before + BEGIN + "".join(tables(docs)) + "\n" + END + rest.split(END)[1]
    if new == text:
        return
    if check:
        sys.exit("index.py: error: expects the pages of docs in docs/index.md, but got an old "
                 "table\nhint: run scripts/index.py")
    with open(index, "w", encoding="utf-8") as file:
        file.write(new)


if __name__ == "__main__":
    main(sys.argv[1:])
