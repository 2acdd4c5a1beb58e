"""style.py ROOT: rules of the sources that no formatter checks.

- a file starts with its banner: `//===- Name.cpp - What it is ---===//`
- a source has at most 600 lines, a .td at most 400
- a pass has one name in three spellings: `def XPass` or `def X` in Passes.td,
  flag `weft-x`, file X.cpp; a lit test names the flag, or the
  phase table runs it
- no TODO or FIXME
Prints each break; ends with 1 if there is any.
"""
import os
import re
import sys

SOURCES = (".h", ".cpp", ".td")


def find_files(root, tops, endings):
    for top in tops:
        for base, folders, names in os.walk(os.path.join(root, top)):
            folders.sort()
            for name in sorted(names):
                if name.endswith(endings):
                    yield os.path.relpath(os.path.join(base, name), root)


def read(root, path):
    with open(os.path.join(root, path), errors="replace") as f:
        return f.read()


def check_source(path, text):
    lines = text.split("\n")
    name = os.path.basename(path)
    if not re.match(r"//===-+ " + re.escape(name) + r" - \S.*-===//$", lines[0]):
        yield "expects the banner of " + name + " in line 1"
    limit = 400 if name.endswith(".td") else 600
    if len(lines) > limit + 1:
        yield f"expects at most {limit} lines, but got {len(lines) - 1}"
    if re.search(r"\b(TODO|FIXME|XXX)\b", text):
        yield "expects no TODO"


def pass_flags(text):
    return re.findall(r'^def (\w+)\s*:\s*Pass<"([^"]+)"', text, re.M)


def camel(flag):
    return "".join(part.capitalize() for part in flag.split("-")[1:])


def check_passes(root):
    sources = {os.path.basename(p) for p in find_files(root, ["lib"], (".cpp",))}
    tests = "".join(read(root, p) for p in find_files(root, ["test"], (".mlir", ".test")))
    phases = "".join(read(root, p) for p in find_files(root, ["lib/Pipeline"], (".cpp",)))
    for path in find_files(root, ["include/weft"], ("Passes.td",)):
        for name, flag in pass_flags(read(root, path)):
            expected = camel(flag)
            if not flag.startswith("weft-") or flag != flag.lower():
                yield f"{path}: expects a flag weft-x-y, but got {flag}"
            if name not in (expected, expected + "Pass"):
                yield f"{path}: expects def {expected} for {flag}, but got {name}"
            if expected + ".cpp" not in sources:
                yield f"{path}: expects a file {expected}.cpp for {flag}"
            if "--" + flag not in tests and flag not in phases:
                yield f"{path}: expects a test with --{flag}"


def main(root):
    broken = []
    seen = 0
    for path in find_files(root, ["include", "lib", "kernels", "tools"], SOURCES):
        seen += 1
        broken += [f"{path}: {text}" for text in check_source(path, read(root, path))]
    broken += check_passes(root)
    print("\n".join(broken))
    print(f"{seen} files, {len(broken)} breaks")
    return 1 if broken or not seen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
