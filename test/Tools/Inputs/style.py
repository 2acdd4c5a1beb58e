"""style.py ROOT: rules of the sources that no formatter checks.

- a file starts with its banner: `//===- Name.cpp - What it is ---===//`
- a source has at most 600 lines, a .td at most 400
- a header's guard is its path; no header says `using namespace`
- a pass has one name: `def XPass` in Passes.td, flag `weft-x`, file X.cpp, in
  it `struct XPass` behind `using namespace mlir` and `weft`; a lit test names
  the flag, or the phase table runs it
- DEBUG_TYPE is defined where a debug message or a statistic uses it
- no TODO or FIXME
- no two files have one name, but for Passes.h, Passes.td, and a header with its
  source; of tests the same holds
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
    if name.endswith(".h"):
        yield from check_header(path, text)
    if re.search(r"^#define DEBUG_TYPE", text, re.M) and not re.search(
            r"\b(LDBG|LLVM_DEBUG|STATISTIC)\(|\b(debug|stats)::", text):
        yield "expects no DEBUG_TYPE, which nothing uses"


def check_names(root):
    """Sources by name and kind, tests by name."""
    homes = {}
    tops = ("include/weft", "lib", "kernels", "tools", "test")
    for path in find_files(root, tops, SOURCES + (".cu", ".mlir", ".test")):
        name = os.path.basename(path)
        if name not in ("Passes.h", "Passes.td") and "/Inputs/" not in path:
            homes.setdefault(name, []).append(path)
    for name, paths in sorted(homes.items()):
        if len(paths) > 1:
            yield f"{paths[0]}: expects a name of its own, but {', '.join(paths[1:])} has it too"


def guard_of(path):
    """include/weft/Plan/Plan.h: WEFT_PLAN_PLAN_H; lib/Memory/ArenaMap.h:
    WEFT_LIB_MEMORY_ARENAMAP_H."""
    place = re.sub(r"^include/weft/", "", path)
    return "WEFT_" + re.sub(r"[/.-]", "_", place).upper()


def check_header(path, text):
    if f"#ifndef {guard_of(path)}\n#define {guard_of(path)}\n" not in text:
        yield f"expects the guard {guard_of(path)}"
    if re.search(r"^\s*using namespace\b", text, re.M):
        yield "expects no `using namespace` in a header"


def pass_flags(text):
    return re.findall(r'^def (\w+)\s*:\s*Pass<"([^"]+)"', text, re.M)


def camel(flag):
    return "".join(part.capitalize() for part in flag.split("-")[1:])


def check_pass_source(path, name, text):
    if not re.search(rf"^struct {name}Pass\s*: weft::impl::", text, re.M):
        yield f"{path}: expects a struct {name}Pass : weft::impl::{name}PassBase"
    if "\nusing namespace mlir;\nusing namespace weft;\n" not in text:
        yield f"{path}: expects `using namespace mlir; using namespace weft;`"


def check_passes(root):
    sources = set(find_files(root, ["lib"], (".cpp",)))
    tests = "".join(read(root, p) for p in find_files(root, ["test"], (".mlir", ".test")))
    phases = "".join(read(root, p) for p in find_files(root, ["lib/Pipeline"], (".cpp",)))
    for path in find_files(root, ["include/weft"], ("Passes.td",)):
        for name, flag in pass_flags(read(root, path)):
            expected = camel(flag)
            if not flag.startswith("weft-") or flag != flag.lower():
                yield f"{path}: expects a flag weft-x-y, but got {flag}"
            if name != expected + "Pass":
                yield f"{path}: expects def {expected}Pass for {flag}, but got {name}"
            folder = os.path.dirname(path).replace("include/weft", "lib")
            source = f"{folder}/{expected}.cpp"
            if source not in sources:
                yield f"{path}: expects a file {source} for {flag}"
            else:
                yield from check_pass_source(source, expected, read(root, source))
            if "--" + flag not in tests and f"create{name}(" not in phases:
                yield f"{path}: expects a test with --{flag}"


def main(root):
    broken = []
    seen = 0
    for path in find_files(root, ["include", "lib", "kernels", "tools"], SOURCES):
        seen += 1
        broken += [f"{path}: {text}" for text in check_source(path, read(root, path))]
    broken += check_names(root)
    broken += check_passes(root)
    print("\n".join(broken))
    print(f"{seen} files, {len(broken)} breaks")
    return 1 if broken or not seen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
