"""Hooks of mkdocs.yml: the site of docs/.

- Navigation: a section for each kind of page, in the order of a reader's way.
  Pages of a folder need no entry anywhere.
- Links that leave docs/ become code, since the site has no such pages.
- Lists: GitHub needs neither an empty line before a list nor four blanks for
  what is inside of an item, Python-Markdown needs both.
"""
import os
import re

KINDS = [("Tutorials", "tutorials"), ("How-to guides", "how-to"), ("Reference", "reference"),
         ("Explanation", "explanation"), ("Decisions", "decisions")]
FENCE = re.compile(r"^(\s*)(`{3,}|~{3,})")
ITEM = re.compile(r"^(\s*)([-*+]|\d+[.)])(\s+)\S")


def on_config(config):
    docs = config["docs_dir"]
    nav = [{"Home": "index.md"}]
    for title, folder in KINDS:
        place = os.path.join(docs, folder)
        pages = sorted(os.listdir(place)) if os.path.isdir(place) else []
        pages = [f"{folder}/{page}" for page in pages if page.endswith(".md")]
        pages.sort(key=lambda page: not page.endswith("/README.md"))
        if pages:
            nav.append({title: pages})
    config["nav"] = nav
    return config


def leave_docs(markdown, page):
    folder = os.path.dirname(page.file.src_path)

    def replace(match):
        target = match[2].split("#")[0]
        if not target or re.match(r"[a-z]+:", target):
            return match[0]
        if not os.path.normpath(os.path.join(folder, target)).startswith(".."):
            return match[0]
        text = match[1]
        return text if text.startswith("`") else f"`{text}`"

    return re.sub(r"(?<!!)\[([^\[\]]+)\]\(([^()\s]+)\)", replace, markdown)


def indent_lists(markdown):
    lines, fence, widths = [], None, []
    shift, previous = 0, ""
    for line in markdown.split("\n"):
        mark = FENCE.match(line)
        if fence:
            lines.append(" " * shift + line if line.strip() else line)
            if mark and line.strip() == fence:
                fence, previous = None, ""
            continue
        blanks = len(line) - len(line.lstrip(" "))
        item = ITEM.match(line)
        if line.strip():
            # An item ends before a line that is indented less than its text.
            while widths and blanks < widths[-1] and (item or not previous.strip()):
                widths.pop()
            if item and not widths and previous.strip():
                lines.append("")
        depth = len(widths)
        shift = 4 * depth - (widths[-1] if widths else 0) if blanks else 0
        shift = max(shift, 0) if depth and blanks >= widths[-1] else 0
        lines.append(" " * shift + line if line.strip() else line)
        if item:
            widths.append(len(item[1]) + len(item[2]) + min(len(item[3]), 4))
        elif mark:
            fence = mark[2]
        previous = line
    return "\n".join(lines)


def on_page_markdown(markdown, page, config, files):
    return indent_lists(leave_docs(markdown, page))
