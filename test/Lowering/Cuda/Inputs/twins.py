"""twins.py DRIVER FOLDER MODEL...: twins of every kernel of the models.
twins.py DRIVER CUBIN LIBRARY: twins of every kernel of a file.

Compiles each model for a device in each precision, to machine code and to
twins, plain and checked ones. The emulated driver has to take the machine code,
to find a twin for each kernel in it, and to refuse the code once a byte of it has
changed. The second form does so with what is there.
"""
import ctypes
import itertools
import os
import re
import subprocess
import sys

PRECISIONS = ("f32", "f16", "bf16")


def run(*command):
    subprocess.run(command, check=True)


def compile_model(model, folder, precision):
    """The names of its kernels; cubin, twins and checked twins in the folder."""
    for command, name in ((("weft", "compile", "--emit=ptx"), "k.ptx"), (("weft-twins",), "twins.so"),
                          (("weft-twins", "--checked"), "checked.so")):
        run(*command, model, "--target=cuda:sm_90", f"--precision={precision}", "-o", os.path.join(folder, name))
    with open(os.path.join(folder, "k.ptx")) as f:
        names = re.findall(r"\.entry (\w+)\(", f.read())
    run(os.environ["PTXAS"], "-arch=sm_90", "-O3", "-o",
        os.path.join(folder, "k.cubin"), os.path.join(folder, "k.ptx"))
    return names


def load(driver, code, library, names, absent="other"):
    """Fails unless the driver takes the code with these twins, of all but `absent`."""
    os.environ["WEFT_TWINS"] = library
    cuda = ctypes.CDLL(driver)
    context, module, function = (ctypes.c_void_p() for _ in range(3))
    assert cuda.cuInit(0) == 0
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxSetCurrent(context) == 0
    changed = code[:-1] + bytes([code[-1] ^ 1])
    assert cuda.cuModuleLoadData(ctypes.byref(module), changed) == 200
    assert cuda.cuModuleLoadData(ctypes.byref(module), code) == 0
    for name in names:
        assert cuda.cuModuleGetFunction(ctypes.byref(function), module, name.encode()) == 0
    assert cuda.cuModuleGetFunction(ctypes.byref(function), module, absent.encode()) == 500


def load_apart(driver, path, library, names, absent="other"):
    """In a process of its own, since the driver opens twins once."""
    with open(path, "rb") as f:
        code = f.read()
    child = os.fork()
    if child == 0:
        load(driver, code, library, names, absent)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def check_file(driver, path, library):
    with open(path, "rb") as f:
        names = {name.decode() for name in re.findall(rb"\.text\.(weft_\w+)", f.read())}
    # Of another file, which the same library has twins of.
    absent = ({"weft_fill_16", "weft_embedding_sort"} - names).pop()
    taken = load_apart(driver, path, library, names, absent)
    print("hand-written: " + ("all" if taken and names else "some missing"))


def main(driver, folder, models):
    for model, precision in itertools.product(models, PRECISIONS):
        name = os.path.basename(model).split(".")[0]
        place = os.path.join(folder, f"{name}-{precision}")
        os.makedirs(place, exist_ok=True)
        names = compile_model(model, place, precision)
        for library in ("twins.so", "checked.so"):
            taken = load_apart(driver, os.path.join(place, "k.cubin"),
                               os.path.join(place, library), names)
            print(f"{name} {precision} {library}: "
                  + ("all" if taken and names else "some missing"))


if __name__ == "__main__":
    if sys.argv[2].endswith(".cubin"):
        check_file(*sys.argv[1:])
    else:
        main(sys.argv[1], sys.argv[2], sys.argv[3:])
