#!/usr/bin/env python3
"""A program for CUDA devices holds every kernel that weft inspect lists.

usage: kernels.py PTXAS FOLDER MODEL[:PRECISION]...

Compiles each model and compares the list of weft inspect --kernels with the ELF
files in the program, as llvm-readelf reads them, and with what ptxas says about
the same PTX, but for kernels whose registers it keeps in memory. The program ends with exit 9 where there is no driver.
"""
import json
import os
import re
import subprocess
import sys

CHIP = "sm_90"
# Where a kernel has shared memory, the system of sm_90 has some of it.
SYSTEM_BYTES = 1024


def run(*command, expected=0, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != expected:
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    return done


def images(program, folder):
    """The files of machine code in the section of the chip."""
    table = run("llvm-readelf", "-SW", program).stdout
    place = re.search(rf"\.weft\.{CHIP} +PROGBITS +\w+ (\w+) (\w+)", table)
    offset, size = (int(number, 16) for number in place.groups())
    with open(program, "rb") as f:
        f.seek(offset)
        section = f.read(size)
    starts = [i for i in range(0, size, 16) if section[i:i + 4] == b"\x7fELF"]
    for i, start in enumerate(starts):
        path = os.path.join(folder, f"image{i}.cubin")
        with open(path, "wb") as f:
            f.write(section[start:(starts + [size])[i + 1]])
        yield path


def entries(path):
    """Symbols that can be launched."""
    symbols = run("llvm-readelf", "-sW", path).stdout
    return re.findall(r"FUNC +GLOBAL +DEFAULT +\[<other: 0x10>\] +\d+ (\S+)", symbols)


def assembled(ptxas, ptx, folder):
    """Registers, shared memory and local memory by kernel, from ptxas itself."""
    log = run(ptxas, "-v", f"-arch={CHIP}", ptx, "-o", os.path.join(folder, "c")).stderr
    found = {}
    for part in log.split("Compiling entry function '")[1:]:
        number = lambda pattern: int((re.search(pattern, part) or [0, 0])[1])
        shared = number(r"(\d+) bytes smem")
        found[part.split("'")[0]] = (number(r"Used (\d+) registers"),
                                     shared + (SYSTEM_BYTES if shared else 0),
                                     number(r"(\d+) bytes stack frame"))
    return found


def check(ptxas, folder, model, precision):
    program, ptx = os.path.join(folder, "m"), os.path.join(folder, "m.ptx")
    flags = [model, f"--target=cuda:{CHIP}", f"--precision={precision}"]
    run("weft", "compile", *flags, "-o", program)
    run("weft", "compile", *flags, "--emit=ptx", "-o", ptx)
    listed = json.loads(run("weft", "inspect", program, "--kernels", "--json").stdout)
    listed = {kernel["name"]: kernel for kernel in listed["kernels"]}
    generated, *written = (entries(path) for path in images(program, folder))
    written = sum(written, [])
    assert sorted(listed) == sorted(generated + written), (listed, generated, written)
    expected = assembled(ptxas, ptx, folder)
    assert sorted(expected) == sorted(generated), (expected, generated)
    for name, kernel in listed.items():
        assert kernel["generated"] == (name in expected), kernel
        assert kernel["chip"] == CHIP and kernel["code_bytes"] > 0, kernel
        if name in expected:
            numbers = tuple(kernel[field] for field in ("registers", "shared_bytes", "local_bytes"))
            registers, shared, local = expected[name]
            if local:  # takes more registers in the program, where fewer blocks fit
                assert numbers[0] > registers and numbers[1:] == (shared, 0), (numbers, expected[name])
            else:
                assert numbers == expected[name], (numbers, expected[name])
            assert kernel["blocks"] > 0 and kernel["threads"][0] > 0, kernel
    # Of attention, the kernels of one type.
    types = {found[1] for found in (re.match(r"weft_attention_(?:d\w+_)?(b?f\d+)", name) for name in written) if found}
    assert len(types) <= 1, types
    text = run("weft", "inspect", program, "--kernels").stdout
    assert all(f" {name}\n" in text for name in listed), text
    missing = run(program, "--data", program, "--steps", "1", expected=9,
                  env=dict(os.environ, LD_LIBRARY_PATH=folder)).stderr
    assert "libcuda.so.1" in missing and "hint: install the NVIDIA driver" in missing, missing
    name = os.path.basename(model).split(".")[0]
    print(f"{name} {precision}: {len(generated)} generated, {len(written)} hand-written, "
          f"{os.path.getsize(program) / 2**20:.1f} MiB")


def main(ptxas, folder, models):
    os.makedirs(folder, exist_ok=True)
    for model in models:
        path, _, precision = model.partition(":")
        for each in [precision] if precision else ["f32", "f16", "bf16"]:
            check(ptxas, folder, path, each)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
