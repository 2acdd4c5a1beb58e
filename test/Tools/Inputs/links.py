"""links.py SOURCE: every relative link of README.md and docs/**/*.md.

A link leads to a file or a folder of the source, and its #anchor to a heading
there, as GitHub names them. Every page of docs is reached from README.md or
docs/index.md. No network is used; links with a scheme are not looked at.
"""
import os
import re
import sys
import unicodedata
from urllib.parse import unquote

FENCE = re.compile(r"^\s*(`{3,}|~{3,})(.*)")
INLINE = re.compile(r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(\s*<?([^()\s<>]*(?:\([^()\s]*\)[^()\s]*)*)>?"
                    r"(?:\s+[\"'(].*?[\"')])?\s*\)")
REFERENCE = re.compile(r"^ {0,3}\[[^\]^]+\]:[ \t]*<?([^\s>]+)>?", re.M)
HTML = re.compile(r"<(?:a|img)\b[^>]*?\b(?:href|src)=[\"']([^\"']+)[\"']")
ANCHOR = re.compile(r"<[a-z0-9]+\b[^>]*?\b(?:id|name)=[\"']([^\"']+)[\"']")
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def prose(text):
    """The text with blanks in place of code blocks and comments."""
    lines, fence = [], None
    for line in text.split("\n"):
        mark = FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = None
            line = ""
        elif mark:
            fence, line = mark[1], ""
        lines.append(line)
    return re.sub(r"<!--.*?-->", blank, "\n".join(lines), flags=re.S)


def without_code(text):
    """The text with blanks in place of `code`, which ends in its paragraph."""
    return re.sub(r"(?<!`)(`+)(?!`)((?:(?!\n\s*\n).)+?)(?<!`)\1(?!`)", blank, text, flags=re.S)


def slug(heading):
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\([^)]*\)", r"\1", heading)
    text = text.strip().lower()
    kept = [c for c in text
            if c in " -_" or unicodedata.category(c)[0] in "LN"]
    return "".join(kept).replace(" ", "-")


def anchors(text):
    text = prose(text)
    every, count = set(ANCHOR.findall(without_code(text))), {}
    for heading in re.findall(r"^ {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$", text, re.M):
        name = slug(heading)
        number = count[name] = count.get(name, -1) + 1
        every.add(f"{name}-{number}" if number else name)
    return every


def links(text):
    """Lines and targets."""
    text = without_code(prose(text))
    for pattern in (INLINE, REFERENCE, HTML):
        for match in pattern.finditer(text):
            yield text[:match.start(1)].count("\n") + 1, match[1]


class Site:
    def __init__(self, source):
        self.source = source
        self.pages = {"README.md": None}
        for folder, folders, names in os.walk(os.path.join(source, "docs")):
            folders.sort()
            for name in sorted(names):
                if name.endswith(".md"):
                    path = os.path.join(folder, name)
                    self.pages[os.path.relpath(path, source)] = None
        self.texts = {}
        self.leads = {}
        self.errors = []
        self.count = 0

    def text(self, page):
        if page not in self.texts:
            with open(os.path.join(self.source, page), encoding="utf-8") as file:
                self.texts[page] = file.read()
        return self.texts[page]

    def check(self, page):
        self.leads[page] = set()
        for line, target in links(self.text(page)):
            if SCHEME.match(target) or not target:
                continue
            self.count += 1
            problem = self.find_problem(page, target)
            if problem:
                self.errors.append(f"{page}:{line}: {problem}, but got the link {target}")

    def find_problem(self, page, target):
        path, _, anchor = target.partition("#")
        path = unquote(path)
        if path.startswith("/"):
            return "expects a relative path"
        full = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if full.startswith(".."):
            return "expects a file of the source"
        place = os.path.join(self.source, full)
        if not os.path.exists(place):
            return "expects an existing file"
        if os.path.isdir(place) and os.path.exists(os.path.join(place, "README.md")):
            full = os.path.join(full, "README.md")
        self.leads[page].add(full)
        if anchor and not full.endswith(".md"):
            return None if re.fullmatch(r"L\d+(-L\d+)?", anchor) else "expects no anchor in such a file"
        if anchor and unquote(anchor) not in anchors(self.text(full)):
            return f"expects a heading of {full}"
        return None

    def find_orphans(self):
        reached, next_ones = set(), ["README.md", os.path.join("docs", "index.md")]
        while next_ones:
            page = next_ones.pop()
            if page in reached or page not in self.leads:
                continue
            reached.add(page)
            next_ones += self.leads[page]
        for page in self.pages:
            if page not in reached:
                self.errors.append(f"{page}:1: expects a link to this page from docs/index.md "
                                   "or a page that it leads to")


def main(source):
    site = Site(source)
    for page in site.pages:
        site.check(page)
    site.find_orphans()
    for error in site.errors:
        print(error)
    print(f"{len(site.pages)} pages, {site.count} links, {len(site.errors)} broken")
    return 1 if site.errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
