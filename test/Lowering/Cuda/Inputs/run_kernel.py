"""run_kernel.py DRIVER PTXAS MODULE KERNEL OUT IN...: runs one kernel of a module.

MODULE is one behind lower-to-cuda; OUT and IN are how many floats its buffers
have. A kernel's last argument is the output; the inputs count 1, 2, 3, ....
Prints the output.
"""
import array
import ctypes
import os
import re
import subprocess
import sys


def check(error):
    if error:
        raise SystemExit(f"error {error} of the driver")


class Device:
    def __init__(self, driver):
        self.cuda = ctypes.CDLL(driver)
        context, self.stream = ctypes.c_void_p(), ctypes.c_void_p()
        check(self.cuda.cuInit(0))
        check(self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
        check(self.cuda.cuCtxSetCurrent(context))
        check(self.cuda.cuStreamCreate(ctypes.byref(self.stream), 1))

    def allocate(self, floats):
        place = ctypes.c_uint64()
        check(self.cuda.cuMemAlloc_v2(ctypes.byref(place), ctypes.c_size_t(4 * floats)))
        return place

    def write(self, place, values):
        data = array.array("f", values).tobytes()
        check(self.cuda.cuMemcpyHtoDAsync_v2(place, data, ctypes.c_size_t(len(data)), self.stream))

    def read(self, place, floats):
        data = ctypes.create_string_buffer(4 * floats)
        check(self.cuda.cuMemcpyDtoHAsync_v2(data, place, ctypes.c_size_t(4 * floats), self.stream))
        return array.array("f", data.raw)

    def launch(self, code, name, grid, block, arguments):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        check(self.cuda.cuModuleLoadData(ctypes.byref(module), code))
        check(self.cuda.cuModuleGetFunction(ctypes.byref(function), module, name.encode()))
        places = (ctypes.c_void_p * len(arguments))(
            *[ctypes.addressof(argument) for argument in arguments])
        check(self.cuda.cuLaunchKernel(function, *grid, *block, 0, self.stream, places, None))


def compile_module(ptxas, module):
    """Machine code, and beside it its twins, where the driver finds them."""
    path = module.removesuffix(".mlir")
    for command, ending in ((["weft", "compile", "--emit=ptx"], ".ptx"), (["weft-twins", "--checked"], ".so")):
        subprocess.run([*command, module, "--from=lower-to-cuda", "-o", path + ending], check=True)
    subprocess.run([ptxas, "-arch=sm_90", "-O3", "-o", path + ".cubin",
                    path + ".ptx"], check=True)
    os.environ["WEFT_TWINS"] = path + ".so"
    with open(path + ".cubin", "rb") as f:
        return f.read()


def launch_of(module, name):
    """Grid and block that the kernel is written for."""
    with open(module) as f:
        function = re.search(rf"llvm.func @{name}\(.*", f.read())[0]
    return [[int(n) for n in re.search(rf"known_{which}_size = array<i32: (.*?)>", function)[1].split(",")]
            for which in ("grid", "block")]


def main(driver, ptxas, module, name, out, *inputs):
    code = compile_module(ptxas, module)
    device = Device(driver)
    buffers = []
    for count in map(int, inputs):
        buffers.append(device.allocate(count))
        device.write(buffers[-1], range(1, count + 1))
    buffers.append(device.allocate(int(out)))
    device.launch(code, name, *launch_of(module, name), buffers)
    print(*device.read(buffers[-1], int(out)))


if __name__ == "__main__":
    main(*sys.argv[1:])
