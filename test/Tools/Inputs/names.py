"""names.py ROOT: names of programs and ports are constants of Names.h.

Reads the sources under ROOT and prints each literal that is a name of a program,
an input, an output or a state: the argument of a function that looks one up or
adds one, or a word of Names.h that is no flag or key as well. Ends with 1 if
there is any.
"""
import os
import re
import sys

HEADER = "include/weft/Abi/Names.h"
# Also flags, keys of metrics and manifests, and numbers of other things.
SHARED_WORDS = {"decode", "predict", "model", "init", "seed", "loss", "lr", "weight_decay",
                "beta1", "beta2", "eps", "momentum", "grad_norm", "found_inf", "loss_scale"}
# The attribute of weft.return that has the name of an input; a kind of command.
OTHER = {("lib/Weft/StructureOps.cpp", "targets"),
         ("lib/Analysis/IterationSpace/Implementations.cpp", "accumulate")}
# Names of operands and words of the syntax.
OTHER_FOLDERS = ("lib/Plan/",)
CALL = re.compile(r'\b(?:findProgram|findInput|findOutput|findState|addInput|setInput)\([^;"]*"([^"]*)"')

# A noun behind a count.
COUNT = re.compile(r'\b(?:countText|numberOf)\([^;]*"[^"]*"\)')


def literals(text, words):
    for line in text.split("\n"):
        code = re.sub(r"(?<!:)//.*", "", line)
        yield from CALL.findall(code)
        code = COUNT.sub("", code)
        yield from (w for w in re.findall(r'"([^"]*)"', code) if w in words)


def main(root):
    with open(os.path.join(root, HEADER)) as f:
        names = set(re.findall(r'\[\] = "([^"]+)"', f.read()))
    words = names - SHARED_WORDS
    wrong = seen = 0
    for top in ("include/weft", "lib", "tools"):
        for base, _, files in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(files):
                path = os.path.relpath(os.path.join(base, name), root)
                if (not name.endswith((".h", ".cpp")) or path == HEADER or
                        path.startswith(OTHER_FOLDERS)):
                    continue
                seen += 1
                with open(os.path.join(root, path)) as f:
                    for word in sorted(set(literals(f.read(), words))):
                        if (path, word) not in OTHER:
                            print(f'{path}: "{word}" is a name of {HEADER}')
                            wrong += 1
    print(f"{seen} files, {len(names)} names, {wrong} literals")
    return 1 if wrong or not seen or not names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
