"""section.py FILE TITLE LANGUAGE: the code of one section of a document.

Prints the blocks of that language under the heading TITLE, down to the next
heading.
"""
import re
import sys


def main(path, title, language):
    with open(path) as f:
        text = f.read()
    fence = "`" * 3
    outside = re.sub(rf"^{fence}.*?^{fence}$", lambda m: "\n" * m[0].count("\n"), text,
                     flags=re.M | re.S).splitlines()
    lines = text.splitlines(keepends=True)
    heads = [i for i, line in enumerate(outside) if line.startswith("#")]
    begin = next(i for i in heads if outside[i].strip("# ") == title)
    end = next((i for i in heads if i > begin), len(lines))
    blocks = re.findall(rf"^{fence}{language}\n(.*?)^{fence}$", "".join(lines[begin:end]),
                        flags=re.M | re.S)
    if not blocks:
        sys.exit(f"section: error: expects {language} blocks under {title}, but got none")
    print("".join(blocks), end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
