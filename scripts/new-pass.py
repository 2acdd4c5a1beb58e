#!/usr/bin/env python3
"""Writes the skeleton of a new pass.

    scripts/new-pass.py FOLDER NAME SUMMARY
    scripts/new-pass.py Fusion merge-casts "Merge equal casts"

makes lib/FOLDER/MergeCasts.cpp, test/FOLDER/merge-casts.mlir and
test/FOLDER/merge-casts-errors.mlir, and adds `def MergeCastsPass` to
include/weft/FOLDER/Passes.td and the source to lib/FOLDER/CMakeLists.txt. The
folder has a Passes.td already. What is left to write: the body, the
description in Passes.td (replace each <...>), the tests, the phase table
(lib/Pipeline/Targets/PhasePasses.cpp) if the pass belongs to a phase, then scripts/docs.sh.
"""
import argparse
import os
import re
import sys

SOURCE = """\
//===- {camel}.cpp - {summary} {dashes}===//

#include "weft/{folder}/Passes.h"

#include "weft/Weft/Weft.h"

namespace weft {{
#define GEN_PASS_DEF_{upper}PASS
#include "weft/{folder}/Passes.h.inc"
}} // namespace weft

using namespace mlir;
using namespace weft;

namespace {{
struct {camel}Pass : weft::impl::{camel}PassBase<{camel}Pass> {{
  void runOnOperation() override {{
    for (ProgramOp program : getOperation().getOps<ProgramOp>())
      (void)program;
  }}
}};
}} // namespace
"""

PASS = """\
def {camel}Pass : Pass<"weft-{name}", "::mlir::ModuleOp"> {{
  let summary = "{summary}";
  let description = [{{
    <What it does.>

    Precondition: <which passes have run>. Guarantees: <what holds after it>.

    Example: test/{folder}/{name}.mlir. Does not <what a reader might expect>.
  }}];
}}

"""

TEST = """\
// RUN: weft-opt %s --weft-{name} | FileCheck %s
// {summary}: <the point of this test>.

// CHECK-LABEL: weft.program @model
weft.program @model(%x: tensor<4xf32> {{weft.input = "x"}})
    -> (tensor<4xf32> {{weft.output = "y"}}) attributes {{kind = #weft.kind<model>}} {{
  // CHECK: weft.return
  weft.return %x : tensor<4xf32>
}}
"""

ERRORS = """\
// RUN: weft-opt %s --weft-{name} -split-input-file -verify-diagnostics
// Every message of the pass.

weft.program @model(%x: tensor<4xf32> {{weft.input = "x"}})
    -> (tensor<4xf32> {{weft.output = "y"}}) attributes {{kind = #weft.kind<model>}} {{
  weft.return %x : tensor<4xf32>
}}
"""


def fail(text):
    sys.exit(f"new-pass: error: {text}")


def write_new(root, path, text):
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "x") as f:
        f.write(text)
    print(f"wrote {path}")


def edit(root, path, change):
    full = os.path.join(root, path)
    with open(full) as f:
        text = f.read()
    with open(full, "w") as f:
        f.write(change(text))
    print(f"extended {path}")


def add_pass(text, entry):
    """Before the #endif of the include guard, or at the end."""
    place = text.rfind("#endif")
    return text + "\n" + entry if place < 0 else text[:place] + entry + text[place:]


def add_source(text, source):
    """Among the sources of the folder's library, in order."""
    head = re.search(r"weft_mlir_library\(\w+\n", text)
    if not head:
        fail("expects weft_mlir_library(NAME and sources line by line in CMakeLists.txt")
    lines = text[head.end():].split("\n")
    place = 0
    while re.match(r"  \w+\.cpp", lines[place]) and lines[place].strip() < source:
        place += 1
    lines.insert(place, "  " + source)
    return text[:head.end()] + "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("folder")
    parser.add_argument("name")
    parser.add_argument("summary")
    parser.add_argument("--root", default=os.path.join(os.path.dirname(__file__), ".."))
    args = parser.parse_args()
    name = args.name[5:] if args.name.startswith("weft-") else args.name
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        fail(f"expects a kebab-case name such as merge-casts, but got '{args.name}'")
    camel = "".join(part.capitalize() for part in name.split("-"))
    table = f"include/weft/{args.folder}/Passes.td"
    source = f"lib/{args.folder}/{camel}.cpp"
    if not os.path.exists(os.path.join(args.root, table)):
        fail(f"expects {table} to exist")
    if os.path.exists(os.path.join(args.root, source)):
        fail(f"expects a new name, but {source} exists")
    dashes = "-" * max(3, 80 - len(f"//===- {camel}.cpp - {args.summary} ===//"))
    fields = dict(folder=args.folder, name=name, camel=camel, upper=camel.upper(),
                  summary=args.summary, dashes=dashes)
    edit(args.root, f"lib/{args.folder}/CMakeLists.txt",
         lambda text: add_source(text, camel + ".cpp"))
    edit(args.root, table, lambda text: add_pass(text, PASS.format(**fields)))
    write_new(args.root, source, SOURCE.format(**fields))
    write_new(args.root, f"test/{args.folder}/{name}.mlir", TEST.format(**fields))
    write_new(args.root, f"test/{args.folder}/{name}-errors.mlir", ERRORS.format(**fields))


if __name__ == "__main__":
    main()
