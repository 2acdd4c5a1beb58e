"""emulate.py FILE FOLDER: runs the kernels of FILE as a device would.

Each kernel is compiled for the CPU and twice for a device: for aligned buffers,
with wide accesses, and for any buffers. The device code is that which PTX is made
of, with its instructions for threads as functions of device.h, and runs on the
emulated device. The results have to agree with the CPU's, and those of the device
to the bit. Of programs in FILE it runs the kernels that weft-fuse makes of them.
"""
import math
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
EMULATION = os.path.join(HERE, "../../../emulation")
INCLUDE = os.path.join(HERE, "../../../../include")
BLOCKS = [os.path.join(EMULATION, name + ".cpp")
          for name in ("Block", "Fail", "Fiber", "Scheduler", "Settings")]


def run(*command):
    subprocess.run(command, check=True)


def host_code(ir, prefix):
    """LLVM IR for a device as IR for this machine."""
    ir = re.sub(r"addrspace\(\d+\) ?", "", ir)
    ir = re.sub(r"target (datalayout|triple) = .*\n", "", ir)
    ir = re.sub(r'"(target-cpu|target-features|nvvm\.\w+)"(="[^"]*")?', "", ir)
    ir = ir.replace("ptx_kernel ", "").replace("convergent ", "")
    ir = re.sub(r"llvm\.nvvm\.([a-z0-9.]+)",
                lambda name: "device_" + name[1].replace(".", "_"), ir)
    ir = re.sub(r"declare ([^@]*)@(device_\w+)\(([^)]*)\).*", r"declare \1@\2(\3)", ir)
    return re.sub(r"@(k_\w+)", rf"@{prefix}_\1", ir)


def device_object(source, folder, prefix, alignment):
    path = os.path.join(folder, prefix)
    run("weft-opt", source, "--weft-convert-kernels-to-linalg",
        f"--weft-lower-to-cuda=alignment={alignment}", "-o", path + ".mlir")
    run("weft", "compile", path + ".mlir", "--from=lower-to-cuda", "--emit=llvm",
        "-o", path + ".device.ll")
    with open(path + ".device.ll") as f:
        ir = host_code(f.read(), prefix)
    with open(path + ".ll", "w") as f:
        f.write(ir)
    run("llc", "-O1", "-mtriple=x86_64-unknown-linux-gnu", "-mattr=+avx2,+f16c,+fma",
        "-relocation-model=pic", "-filetype=obj", path + ".ll", "-o", path + ".o")
    return path + ".o"


def cpu_object(source, folder):
    path = os.path.join(folder, "cpu")
    run("weft-opt", source, "--weft-convert-kernels-to-linalg", "--weft-lower-to-cpu",
        "-o", path + ".mlir")
    run("mlir-translate", "--mlir-to-llvmir", "--allow-unregistered-dialect",
        path + ".mlir", "-o", path + ".ll")
    run("llc", "-O1", "-mattr=+avx2,+f16c,+fma", "-relocation-model=pic", "-filetype=obj",
        path + ".ll", "-o", path + ".o")
    return path + ".o"


def numbers(attribute, text):
    return [int(n) for n in re.findall(r"\d+", re.search(attribute + r" = array<i\d+(.*?)>", text)[1])]


def find_kernels(source, folder):
    """Name, element types and counts, inputs, extent and launch of each."""
    with open(source) as f:
        inputs = {m[1]: m[2].count("%") for m in re.finditer(
            r"weft\.kernel @(\w+)\((.*?)\)", f.read())}
    linalg = os.path.join(folder, "linalg.mlir")
    run("weft-opt", source, "--weft-convert-kernels-to-linalg", "-o", linalg)
    with open(linalg) as f:
        loops = re.findall(r"func\.func @(\w+)\((.*?)\) attributes", f.read())
    with open(os.path.join(folder, "cpu.mlir")) as f:
        extents = dict(re.findall(r"llvm\.func @(\w+)\(.*weft\.extent = (\d+)", f.read()))
    with open(os.path.join(folder, "wide.mlir")) as f:
        launches = {m[1]: m[0] for m in re.finditer(r"llvm\.func @(k_\w+)\(.*", f.read())}
    for name, arguments in loops:
        types = [t.split("x") for t in re.findall(r"memref<([^>]*)>", arguments)]
        yield (name, [(t[-1], math.prod(map(int, t[:-1]))) for t in types], inputs[name],
               extents[name], numbers("known_block_size", launches[name])[:2],
               numbers("known_grid_size", launches[name])[0])


def write_main(path, kernels):
    lines, table = ['#include "device.h"'], []
    for name, arguments, inputs, extent, block, grid in kernels:
        pointers = ", ".join(["void *"] * len(arguments))
        passed = ", ".join(f"b[{i}]" for i in range(len(arguments)))
        lines.append(f'extern "C" void {name}(void **, long, long);')
        for prefix in ("wide", "narrow"):
            lines.append(f'extern "C" void {prefix}_{name}({pointers});')
            lines.append(f"static void {prefix}{name}(void **b) {{ {prefix}_{name}({passed}); }}")
        listed = ", ".join(f'{{"{element}", {count}}}' for element, count in arguments)
        table.append(f'{{"{name}", {name}, wide{name}, narrow{name}, {{{listed}}}, {inputs}, '
                     f"{extent}, {block[0]}, {block[1]}, {grid}}}")
    lines.append("int main() { int wrong = 0;\n  for (const Kernel &kernel : std::vector<Kernel>{")
    lines.append(",\n".join(table) + "})\n    wrong += checkKernel(kernel);\n  return wrong != 0; }")
    with open(path, "w") as f:
        f.write("\n".join(lines) + "\n")


def kernels_of_programs(source, folder):
    """A file with the kernels of the programs in `source`."""
    path = os.path.join(folder, "kernels.mlir")
    run("weft-opt", source, "--weft-fuse", "-o", path)
    with open(path) as f:
        text = re.sub(r"^  weft\.program .*?^  }\n", "", f.read(), flags=re.M | re.S)
    with open(path, "w") as f:
        f.write(text)
    return path


def main(source, folder):
    os.makedirs(folder, exist_ok=True)
    with open(source) as f:
        if "weft.program" in f.read():
            source = kernels_of_programs(source, folder)
    objects = [device_object(source, folder, "wide", 256),
               device_object(source, folder, "narrow", 1), cpu_object(source, folder)]
    path = os.path.join(folder, "main")
    write_main(path + ".cpp", find_kernels(source, folder))
    run("clang++", "-std=c++17", "-O1", "-I", HERE, "-I", EMULATION, "-I", INCLUDE, path + ".cpp", *BLOCKS, *objects, "-lm", "-o", path)
    return subprocess.run([path]).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
