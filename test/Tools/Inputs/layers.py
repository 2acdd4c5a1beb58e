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
DIALECTS = {"Weft", "Dist", "Plan", "Interfaces", "Layout", "Support"}
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
    "Weft": MLIR | {"Layout", "Interfaces"},
    "Dist": MLIR | {"Interfaces"},
    "Plan": MLIR | {"Layout", "Interfaces"},
    "Analysis": MLIR | DIALECTS,
    "Frontend": MLIR | {"Weft", "Formats"},
    "Precision": MLIR | {"Weft", "Interfaces", "Support"},
    "Autodiff": MLIR | {"Weft", "Support"},
    "Training": MLIR | {"Weft", "Support"},
    "Sharding": MLIR | {"Weft", "Dist", "Support"},
    "Fusion": MLIR | {"Weft", "Analysis"},
    "Schedule": MLIR | {"Plan", "Analysis", "Support"},
    "Memory": MLIR | {"Layout", "Interfaces", "Weft", "Plan", "Analysis", "Support"},
    "Verify": MLIR | {"Layout", "Weft", "Plan", "Analysis", "Formats", "Support"},
    "Lowering/Plan": MLIR | DIALECTS | {"Analysis"},
    "Lowering/Linalg": MLIR | DIALECTS | {"Analysis"},
    "Lowering/Table": MLIR | DIALECTS,
    "Lowering/Cpu": MLIR | DIALECTS | {"Analysis", "Lowering/Linalg", "Lowering/Table"},
    "Lowering/Cuda": MLIR | DIALECTS | {
        "Analysis", "Lowering/Linalg", "Lowering/Table", "Formats"},
    "Interp": MLIR | {"Weft", "Dist", "Plan", "Analysis", "Formats"},
    "Pipeline": MLIR | DIALECTS | {
        "Analysis", "Formats", "Frontend", "Precision", "Autodiff", "Training",
        "Sharding", "Fusion", "Schedule", "Memory", "Verify", "Lowering/Plan",
        "Lowering/Cpu", "Lowering/Cuda", "Interp"},
    # What an executable links, without MLIR and LLVM.
    "Runtime/Execute": {"Formats"},
    "Runtime/Devices": {"Formats", "Runtime/Execute"},
    "Runtime/Data": {"Formats", "Runtime/Execute"},
    "Runtime/Collectives": {"Formats", "Runtime/Execute"},
    "Runtime/Checkpoints": {"Formats", "Runtime/Execute", "Runtime/Devices",
                            "Runtime/Collectives"},
    "Runtime/Reports": {"Formats", "Runtime/Execute", "Runtime/Devices"},
    "Runtime/Run": {"Formats", "Runtime/Execute", "Runtime/Devices",
                    "Runtime/Data", "Runtime/Collectives",
                    "Runtime/Checkpoints", "Runtime/Reports"},
    "kernels": {"Formats", "Runtime/Execute"},
    "tools": MLIR | {"Pipeline", "Formats", "Frontend", "Autodiff", "Interp",
                     "Runtime/Execute", "Runtime/Checkpoints",
                     "Runtime/Collectives", "Runtime/Reports", "Runtime/Run", "Weft", "Dist", "Plan",
                     "Precision", "Schedule",
                     "Support"},
}
# Routines of a device are told of it by one header, and open its libraries.
DEVICE_KERNELS = {"cuda": {"weft/Runtime/Devices/Launch.h",
                           "weft/Runtime/Devices/OpenLibrary.h"}}
# One file pair of Autodiff checks rules by running them.
EXTRA = {"include/weft/Autodiff/FiniteDifference.h": {"Interp"},
         "lib/Autodiff/FiniteDifference.cpp": {"Interp"}}

INCLUDE = re.compile(r'^\s*#?\s*include\s+[<"]([^>"]+)[>"]', re.M)


def folder_of(path):
    match = re.match(r"(?:include/weft|lib)/((?:Lowering|Runtime)/[^/]+|[^/]+)/", path)
    if match:
        return match[1]
    top = path.split("/")[0]
    return top if top in ("kernels", "tools") else None


def target_of(header):
    if header.startswith("weft/"):
        return folder_of("include/" + header)
    return header.split("/")[0] if header.split("/")[0] in MLIR else None


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
