"""emulate.py FILE FOLDER [SEEDS [SHORT]]: runs the kernels of FILE as a device would.

Each kernel is compiled for the CPU and several times for a device: for aligned
buffers, with wide accesses, for any buffers, and, for so many seeds, for buffers
each of which lies elsewhere: five seeds are every alignment that an operand may
have up to 16 bytes, beside ever others of the other operands. The device code is
that which PTX is made of, with its instructions for threads as functions of
device.h, and runs on the emulated device; where there is no toolkit, functions of
libm take the place of libdevice's. The results have to agree with the CPU's and the
interpreter's, and those of the device to the bit. Kernels of rows with sums over rows
are for a device alone. Of programs in FILE it runs the
kernels that weft-fuse makes of them. Where the build has the pass that lets kernels
say their accesses, what they read outside of their buffers, which are allocations of
their own, is an error; SHORT=KERNEL.NUMBER is a buffer that lacks its last element.
"""
import math
import os
import random
import re
import shutil
import subprocess
import sys

import interpreter

HERE = os.path.dirname(os.path.abspath(__file__))
EMULATION = os.path.join(HERE, "../../../emulation")
INCLUDE = os.path.join(HERE, "../../../../include")
BLOCKS = [os.path.join(EMULATION, name + ".cpp")
          for name in ("Accesses", "Block", "Copies", "Fail", "Faults", "Fiber", "Memory", "Scheduler", "Settings")]


BYTES = {"i1": 1, "f16": 2, "bf16": 2, "f32": 4, "i32": 4, "f64": 8, "i64": 8}

# Functions of libm that replace libdevice's, by their number of operands.
LIBM = {1: "acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2 expm1 fabs floor log log10"
           " log1p log2 rint round sin sinh sqrt tan tanh trunc",
        2: "atan2 copysign fmod pow", 3: "fma"}


def run(*command):
    subprocess.run(command, check=True)


def host_code(ir, prefix):
    """LLVM IR for a device as IR for this machine."""
    ir = re.sub(r"^(@.* addrspace\(3\) global [^,\n]*)", r'\1, section "weft_shared"', ir, flags=re.M)
    ir = re.sub(r"addrspace\(\d+\) ?", "", ir)
    ir = re.sub(r"target (datalayout|triple) = .*\n", "", ir)
    ir = re.sub(r'"(target-cpu|target-features|nvvm\.\w+)"(="[^"]*")?', "", ir)
    ir = ir.replace("ptx_kernel ", "").replace("convergent ", "")
    ir = re.sub(r"llvm\.nvvm\.([a-z0-9.]+)",
                lambda name: "device_" + name[1].replace(".", "_"), ir)
    ir = re.sub(r'(tail )?call float asm "rcp\.approx\.ftz\.f32 [^"]*", "=f,f"\(float (%\w+)\).*',
                r"fdiv float 1.0, \2", ir)  # of libdevice
    ir = re.sub(r"(attributes #\d+ = ){ *}", r"\1{ nounwind }", ir)  # llc wants one
    ir = re.sub(r"declare ([^@]*)@(device_\w+)\(([^)]*)\).*", r"declare \1@\2(\3)", ir)
    return re.sub(r"@(k_\w+)", rf"@{prefix}_\1", ir)


def launches_at(kernels, seed):
    """A program that launches each kernel on buffers at places of their own, and
    these places, by kernel."""
    dice, places, lines = random.Random(seed), {}, []
    for name, types, inputs in kernels:
        places[name] = []
        for i, text in enumerate(types):
            least = BYTES[text.split("x")[-1].split(",")[0]].bit_length() - 1
            # At an odd multiple of 2^shift bytes.
            shift = least + (seed + random.Random(f"{name} {i}").randrange(5)) % (5 - least)
            places[name].append((2 * dice.randrange(256 >> shift + 1) + 1 << shift) if shift < 8 else 0)
            # Apart in the arena, as the buffers are: no argument is in place.
            offset = places[name][-1] + (i << 32)
            lines.append(f"    %{name}_{i} = plan.alloc temporary {{offset = {offset} : i64}} : memref<{text}>")
        sides = ""
        for which, side in (("ins", range(inputs)), ("outs", range(inputs, len(types)))):
            if side:
                sides += (f" {which}({', '.join(f'%{name}_{i}' for i in side)} : "
                          f"{', '.join(f'memref<{types[i]}>' for i in side)})")
        lines.append(f"    plan.launch @{name}{sides}")
    lines.sort(key=lambda line: "plan.launch" in line)  # buffers come first
    return "  plan.program \"eval\" @eval {\n" + "\n".join(lines) + "\n  }\n", places


def libm_as_toolkit(folder):
    """A toolkit whose libdevice calls the functions of libm, as twins do."""
    lines = []
    for count, names in LIBM.items():
        for name in names.split():
            for element, ending in (("float", "f"), ("double", "")):
                types = ", ".join([element] * count)
                values = ", ".join(f"{element} %{i}" for i in range(count))
                lines.append(f"declare {element} @{name}{ending}({types})")
                lines.append(f"define {element} @__nv_{name}{ending}({types}) {{\n"
                             f"  %r = call {element} @{name}{ending}({values})\n  ret {element} %r\n}}")
    toolkit = os.path.join(folder, "libm")
    os.makedirs(os.path.join(toolkit, "nvvm/libdevice"), exist_ok=True)
    with open(os.path.join(toolkit, "nvvm/libdevice/libdevice.10.bc"), "w") as f:
        f.write("\n".join(lines) + "\n")
    return toolkit


def compile_for_device(path):
    """With libdevice, or where there is none with libm."""
    command = ["weft", "compile", path + ".mlir", "--from=lower-to-cuda", "--emit=llvm",
               "-o", path + ".device.ll"]
    result = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    if "libdevice.10.bc of a CUDA toolkit, but found none" in result.stderr:
        toolkit = libm_as_toolkit(os.path.dirname(path))
        result = subprocess.run(command, env=dict(os.environ, WEFT_CUDA_HOME=toolkit))
    elif result.stderr:
        print(result.stderr, end="", file=sys.stderr)
    result.check_returncode()


def device_object(source, folder, prefix, alignment, program=""):
    """Code of the kernels in the linalg form of `source`, as launches of
    `program` need it."""
    path = os.path.join(folder, prefix)
    text = interpreter.read_unsealed(source)
    with open(path + ".linalg.mlir", "w") as f:
        f.write(text.removesuffix("}") + program + "}\n")
    run("weft-opt", path + ".linalg.mlir", f"--weft-lower-to-cuda=alignment={alignment}", "-o", path + ".mlir")
    with open(path + ".mlir") as f:
        text = without_programs(f.read())
    with open(path + ".mlir", "w") as f:
        f.write(text)
    compile_for_device(path)
    with open(path + ".device.ll") as f:
        ir = host_code(f.read(), prefix)
    with open(path + ".ll", "w") as f:
        f.write(ir)
    tell_accesses(path + ".ll")
    run("llc", "-O1", "-mtriple=x86_64-unknown-linux-gnu", "-mattr=+avx2,+f16c,+fma",
        "-relocation-model=pic", "-filetype=obj", path + ".ll", "-o", path + ".o")
    return path + ".o"


def tell_accesses(path):
    """Lets kernels say each access to memory, where the build has the pass for it."""
    bin = os.path.dirname(shutil.which("weft"))
    plugin = os.path.join(bin, "../test/emulation/WeftTellAccesses.so")
    if os.path.exists(plugin):
        run("opt", "-S", "-O0", "-load-pass-plugin=" + plugin, path, "-o", path)


def cpu_object(source, folder):
    path = os.path.join(folder, "cpu")
    with open(source) as f:
        text = f.read()
    with open(path + ".kernels.mlir", "w") as f:
        f.write(re.sub(r"^ *weft\.kernel @[^\n]* sums \[.*?^ *}\n", "", text, flags=re.M | re.S))
    run("weft-opt", path + ".kernels.mlir", "--weft-convert-kernels-to-linalg", "--weft-lower-to-cpu",
        "-o", path + ".mlir")
    run("mlir-translate", "--mlir-to-llvmir", "--allow-unregistered-dialect",
        path + ".mlir", "-o", path + ".ll")
    run("llc", "-O1", "-mattr=+avx2,+f16c,+fma", "-relocation-model=pic", "-filetype=obj",
        path + ".ll", "-o", path + ".o")
    return path + ".o"


def numbers(attribute, text):
    return [int(n) for n in re.findall(r"\d+", re.search(attribute + r" = array<i\d+(.*?)>", text)[1])]


def find_functions(linalg):
    """Name and buffers of each kernel in linalg form."""
    with open(linalg) as f:
        functions = re.findall(r"func\.func @(\w+)\((.*?)\) attributes", f.read())
    return [(name, re.findall(r"memref<([^>]*)>", arguments)) for name, arguments in functions]


def find_kernels(functions, inputs, folder):
    """Name, element types and counts, inputs, extent and launch of each."""
    with open(os.path.join(folder, "cpu.mlir")) as f:
        extents = dict(re.findall(r"llvm\.func @(\w+)\(.*weft\.extent = (\d+)", f.read()))
    with open(os.path.join(folder, "wide.mlir")) as f:
        launches = {m[1]: m[0] for m in re.finditer(r"llvm\.func @(k_\w+)\(.*", f.read())}
    for name, buffers in functions:
        types = [text.split("x") for text in buffers]
        yield (name, [(t[-1], math.prod(map(int, t[:-1]))) for t in types], inputs[name],
               extents.get(name), numbers("known_block_size", launches[name])[:2],
               numbers("known_grid_size", launches[name])[0])


def write_main(path, kernels, placed, short):
    lines, table = ['#include "device.h"'], []
    for name, arguments, inputs, extent, block, grid in kernels:
        pointers = ", ".join(["void *"] * len(arguments))
        passed = ", ".join(f"b[{i}]" for i in range(len(arguments)))
        if extent:
            lines.append(f'extern "C" void {name}(void **, long, long);')
        for prefix in ("wide", "narrow", *placed):
            lines.append(f'extern "C" void {prefix}_{name}({pointers});')
            lines.append(f"static void {prefix}{name}(void **b) {{ {prefix}_{name}({passed}); }}")
        listed = ", ".join(f'{{"{element}", {count - (f"{name}.{i}" == short)}}}'
                           for i, (element, count) in enumerate(arguments))
        elsewhere = ", ".join(f"{{{prefix}{name}, {{{', '.join(map(str, places[name]))}}}}}"
                              for prefix, places in placed.items())
        table.append(f'{{"{name}", {name if extent else "nullptr"}, wide{name}, narrow{name}, {{{elsewhere}}}, {{{listed}}}, {inputs}, '
                     f"{extent or 0}, {block[0]}, {block[1]}, {grid}}}")
    lines.append("int main(int, char **folder) { int wrong = 0; weft::emulation::reportFaults();\n  for (const Kernel &kernel : std::vector<Kernel>{")
    lines.append(",\n".join(table) + "})\n    wrong += checkKernel(kernel, folder[1]);\n  return wrong != 0; }")
    with open(path, "w") as f:
        f.write("\n".join(lines) + "\n")


def without_programs(text):
    return re.sub(r"^  (weft|plan)\.program .*?^  }\n", "", text, flags=re.M | re.S)


def kernels_of_programs(source, folder):
    """A file with the kernels of the programs in `source`."""
    path = os.path.join(folder, "kernels.mlir")
    run("weft-opt", source, "--weft-decompose", "--weft-fuse", "-o", path)
    with open(path) as f:
        text = without_programs(f.read())
    with open(path, "w") as f:
        f.write(text)
    return path


def main(source, folder, seeds="0", short=""):
    os.makedirs(folder, exist_ok=True)
    with open(source) as f:
        if "weft.program" in f.read():
            source = kernels_of_programs(source, folder)
    linalg = os.path.join(folder, "linalg.mlir")
    run("weft-opt", source, "--weft-convert-kernels-to-linalg", "-o", linalg)
    with open(source) as f:
        inputs = {m[1]: m[2].count("%") for m in re.finditer(
            r"weft\.kernel @(\w+)\((.*?)\)", f.read())}
    functions, placed = find_functions(linalg), {}
    objects = [device_object(linalg, folder, "wide", 256),
               device_object(linalg, folder, "narrow", 1), cpu_object(source, folder)]
    for seed in range(int(seeds)):
        program, placed[f"placed{seed}"] = launches_at(
            [(name, buffers, inputs[name]) for name, buffers in functions], seed)
        objects.append(device_object(linalg, folder, f"placed{seed}", 256, program))
    path = os.path.join(folder, "main")
    write_main(path + ".cpp", find_kernels(functions, inputs, folder), placed, short)
    run("clang++", "-std=c++17", "-O1", "-I", HERE, "-I", EMULATION, "-I", INCLUDE, path + ".cpp", *BLOCKS, *objects, "-lm", "-o", path)
    written = os.path.join(folder, "written")
    os.makedirs(written, exist_ok=True)
    wrong = subprocess.run([path, written]).returncode
    if wrong == 99:  # an error of the emulated device
        return wrong
    return interpreter.compare(source, written) or wrong


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
