"""pass_docs.py ROOT DOCS: what the pass docs promise.

DOCS is what `mlir-tblgen -gen-pass-doc` writes. Every pass has a summary and a
description, and a test that the description names exists under ROOT.
"""
import os
import re
import sys


def main(root, docs):
    with open(docs) as f:
        text = f.read()
    sections = re.split(r"^### `-([a-z0-9-]+)`$", text, flags=re.M)
    wrong = 0
    for name, body in zip(sections[1::2], sections[2::2]):
        description = re.split(r"^#### ", body.strip(), flags=re.M)[0]
        if description.count("\n") < 2:
            print(f"{name}: expects a summary and a description")
            wrong += 1
        for test in re.findall(r"\btest/[\w/.-]+\.(?:mlir|test|cpp)\b", description):
            if not os.path.exists(os.path.join(root, test)):
                print(f"{name}: names {test}, which does not exist")
                wrong += 1
    print(f"{len(sections) // 2} passes")
    return 1 if wrong or len(sections) < 2 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
