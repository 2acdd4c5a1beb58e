"""one_definition.py ROOT: every type of a namespace has one definition.

Two types of one name in one namespace break the rule of one definition as soon
as a tool links both. Reads the sources of the compiler, the runtime and the
tools under ROOT and prints each type that two files define outside of an unnamed
namespace. Ends with 1 if there is any.
"""
import collections
import os
import re
import sys

TYPE = re.compile(r"(?:struct|class)\s+(?:alignas\([^)]*\)\s*)?(\w+)(?:\s+final)?\s*(?::[^:]|\{)")
OPEN = re.compile(r"namespace ?([\w:]*) ?\{$")
CLOSE = re.compile(r"\} // namespace ?([\w:]*)$")


def definitions(path):
    spaces = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.rstrip()
            if opened := OPEN.match(line):
                spaces.append(opened.group(1) or path)  # an unnamed one is the file's
            elif CLOSE.match(line) and spaces:
                spaces.pop()
            elif found := TYPE.match(line):
                yield "::".join(spaces + [found.group(1)])


def main(root):
    places, files = collections.defaultdict(set), 0
    for top in ("include/weft", "lib", "kernels", "tools"):
        for base, _, names in os.walk(os.path.join(root, top)):
            for name in names:
                if name.endswith((".h", ".cpp")):
                    path = os.path.join(base, name)
                    files += 1
                    for full in definitions(path):
                        places[full].add(os.path.relpath(path, root))
    twice = {name: paths for name, paths in sorted(places.items()) if len(paths) > 1}
    for name, paths in twice.items():
        print(f"{name}: {', '.join(sorted(paths))}")
    print(f"{files} files, {len(places)} types, {len(twice)} with two definitions")
    return 1 if twice or not places else 0


sys.exit(main(sys.argv[1]))
