"""layers.py ROOT: who may include whom.

Reads the #include lines of the sources under ROOT and prints each one that the
table below does not allow; ends with 1 if there is any. Included by the flow of
the data: a folder sees what comes before it, and transform folders never see
each other.
"""
import os
import re
import sys

MLIR = {"mlir", "llvm"}
# For everyone: errors, flags and files; contracts of compiler and executable,
# which are constants and formulas alone.
EVERYWHERE = {"Base", "Abi"}

ALLOWED = {
    "Base": set(),
    "Abi": set(),
    "Support": MLIR | {"Formats"},
    "Layout": MLIR,
    "Interfaces": MLIR | {"Layout"},
    "Formats": set(),
    "Tokenizer": {"Formats"},
    "Weft": MLIR | {"Layout", "Interfaces"},
    "Dist": MLIR | {"Interfaces"},
    "Plan": MLIR | {"Layout", "Interfaces"},
    "Analysis": MLIR | {"Layout", "Weft", "Dist", "Plan", "Support"},
    "Frontend": MLIR | {"Weft", "Formats"},
    "Precision": MLIR | {"Weft", "Interfaces", "Support"},
    "Autodiff": MLIR | {"Weft", "Support"},
    "Training": MLIR | {"Weft", "Support"},
    "Sharding": MLIR | {"Weft", "Dist", "Support"},
    "Fusion": MLIR | {"Weft", "Analysis"},
    "Schedule": MLIR | {"Weft", "Plan", "Analysis", "Support"},
    "Memory": MLIR | {"Plan", "Analysis", "Support"},
    "Verify": MLIR | {"Layout", "Weft", "Plan", "Analysis", "Formats", "Support"},
    "Lowering/Plan": MLIR | {"Layout", "Weft", "Dist", "Plan", "Analysis"},
    "Lowering/Linalg": MLIR | {"Layout", "Weft", "Analysis"},
    "Lowering/Table": MLIR | {"Dist", "Plan"},
    "Lowering/Cpu": MLIR | {"Weft", "Dist", "Plan", "Analysis", "Lowering/Linalg", "Lowering/Table"},
    "Lowering/Cuda": MLIR | {
        "Layout", "Interfaces", "Weft", "Plan", "Support", "Analysis", "Lowering/Linalg", "Lowering/Table",
        "Formats"},
    "Interp": MLIR | {"Layout", "Weft", "Dist", "Plan", "Analysis", "Formats"},
    "Pipeline/Options": MLIR | {"Weft", "Autodiff", "Sharding"},
    "Pipeline/Targets": MLIR | {
        "Weft", "Formats", "Frontend", "Precision", "Autodiff", "Training",
        "Sharding", "Fusion", "Schedule", "Memory", "Verify", "Lowering/Plan",
        "Lowering/Cpu", "Lowering/Cuda", "Pipeline/Options"},
    "Pipeline/Metadata": MLIR | {
        "Weft", "Dist", "Plan", "Support", "Analysis", "Formats", "Memory", "Verify", "Lowering/Cuda",
        "Pipeline/Options", "Pipeline/Targets"},
    "Pipeline/Driver": MLIR | {
        "Weft", "Dist", "Plan", "Support", "Analysis", "Formats", "Frontend", "Precision", "Autodiff", "Training",
        "Sharding", "Fusion", "Schedule", "Memory", "Verify", "Lowering/Plan",
        "Interp", "Pipeline/Options", "Pipeline/Targets", "Pipeline/Metadata"},
    "Pipeline/Simulate": MLIR | {
        "Analysis", "Formats", "Memory", "Schedule", "Sharding", "Verify",
        "Pipeline/Options", "Pipeline/Driver"},
    # The runtime, which executables link: no MLIR and no LLVM.
    "Runtime/Execute": {"Formats"},
    "Runtime/Devices": {"Formats", "Runtime/Execute"},
    "Runtime/Data": {"Formats", "Runtime/Execute"},
    "Runtime/Collectives": {"Formats", "Runtime/Execute"},
    "Runtime/Checkpoints": {"Formats", "Runtime/Execute", "Runtime/Devices",
                            "Runtime/Collectives"},
    "Runtime/Reports": {"Formats", "Runtime/Execute", "Runtime/Devices"},
    "Runtime/Text": set(),
    "Runtime/Run": {"Formats", "Runtime/Execute", "Runtime/Devices",
                    "Runtime/Data", "Runtime/Collectives", "Runtime/Text",
                    "Runtime/Checkpoints", "Runtime/Reports"},
    "kernels": {"Formats", "Runtime/Execute"},
    "tools": MLIR | {"Pipeline/Options", "Pipeline/Targets", "Pipeline/Metadata",
                     "Pipeline/Driver", "Pipeline/Simulate", "Formats", "Frontend", "Autodiff", "Interp", "Memory",
                     "Runtime/Execute", "Runtime/Checkpoints",
                     "Runtime/Collectives", "Runtime/Reports", "Runtime/Text", "Runtime/Run", "Weft", "Dist", "Plan",
                     "Precision", "Schedule",
                     "Support", "Tokenizer"},
}
# Routines of a device are told of it by one header, and open its libraries.
DEVICE_KERNELS = {"cuda": {"weft/Runtime/Devices/Launch.h",
                           "weft/Runtime/Devices/OpenLibrary.h"}}
# One file pair of Autodiff checks rules by running them.
EXTRA = {"include/weft/Autodiff/FiniteDifference.h": {"Interp"},
         "lib/Autodiff/FiniteDifference.cpp": {"Interp"}}

INCLUDE = re.compile(r'^\s*#?\s*include\s+[<"]([^>"]+)[>"]', re.M)


def folder_of(path):
    match = re.match(r"(?:include/weft|lib)/((?:Lowering|Pipeline|Runtime)/[^/]+|[^/]+)/", path)
    if match:
        return match[1]
    top = path.split("/")[0]
    return top if top in ("kernels", "tools") else None


def target_of(header):
    if header.startswith("weft/"):
        return folder_of("include/" + header)
    return header.split("/")[0] if header.split("/")[0] in MLIR else None


def find_circle(table, path=()):
    """Folders of which each may include the next one, the last one the first; or ()."""
    for folder in table[path[-1]] if path else table:
        if folder in path:
            return path[path.index(folder):]
        if folder in table and (circle := find_circle(table, path + (folder,))):
            return circle
    return ()


def check_file(root, path, folder):
    wrong = 0
    with open(os.path.join(root, path)) as f:
        text = f.read()
    for header in INCLUDE.findall(text):
        target = target_of(header)
        if target in {None, folder} | EVERYWHERE or target in ALLOWED[folder]:
            continue
        if target in EXTRA.get(path, ()):
            continue
        if folder == "kernels" and header in DEVICE_KERNELS.get(path.split("/")[1], ()):
            continue
        print(f"{path}: {folder} may not include {header}")
        wrong += 1
    return wrong


def main(root):
    wrong = seen = 0
    if circle := find_circle(ALLOWED):
        print("the table has a circle:", " -> ".join(circle))
        wrong += 1
    for top in ("include/weft", "lib", "kernels", "tools"):
        for base, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(names):
                if not name.endswith((".h", ".cpp", ".td")):
                    continue
                path = os.path.relpath(os.path.join(base, name), root)
                folder = folder_of(path)
                if folder is None:
                    continue
                if folder not in ALLOWED:
                    print(f"{path}: folder {folder} is not in the table")
                    wrong += 1
                    continue
                seen += 1
                wrong += check_file(root, path, folder)
    print(f"{seen} files, {wrong} wrong includes")
    return 1 if wrong or not seen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
