#!/usr/bin/env python3
"""Every call of driver and cuBLASLt fails once.

usage: errors.py PROGRAM DATA EMULATION TWINS WORK

Runs a program for a CUDA device on the emulated one. The N-th call of an entry
point fails, for its first and a later call: the program ends with exit 4 (no
memory, no algorithm) or 9, names the call, and leaves nothing half-written. A
fault that no call meets changes nothing.
"""
import glob
import os
import shutil
import subprocess
import sys

FAILED, NO_MEMORY = "CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_OUT_OF_MEMORY"
# Entry point, call, error, exit code.
FAULTS = [
    ("cuInit", 1, "CUDA_ERROR_NO_DEVICE", 9),
    ("cuDriverGetVersion", 1, FAILED, 9),
    ("cuDeviceGetCount", 1, FAILED, 9),
    ("cuDeviceGet", 1, FAILED, 9),
    ("cuDeviceGetAttribute", 1, FAILED, 9),
    ("cuDevicePrimaryCtxRetain", 1, FAILED, 9),
    ("cuCtxSetCurrent", 1, FAILED, 9),
    ("cuMemGetInfo", 1, FAILED, 9),
    ("cuMemAlloc", 1, NO_MEMORY, 4),
    ("cuMemAllocHost", 1, FAILED, 9),
    ("cuStreamCreate", 1, FAILED, 9),
    ("cuEventCreate", 1, FAILED, 9),
    ("cuModuleLoadData", 1, FAILED, 9),
    ("cuModuleGetFunction", 1, FAILED, 9),
    ("cuMemcpyHtoDAsync", 1, FAILED, 9),
    ("cuMemcpyHtoDAsync", 3, FAILED, 9),
    ("cuMemcpyDtoHAsync", 1, FAILED, 9),
    ("cuLaunchKernel", 1, FAILED, 9),
    ("cuLaunchKernel", 25, FAILED, 9),
    ("cuEventSynchronize", 2, FAILED, 9),
    ("cuStreamBeginCapture", 1, FAILED, 9),
    ("cuStreamEndCapture", 1, FAILED, 9),
    ("cuGraphInstantiateWithFlags", 1, FAILED, 9),
    ("cuGraphLaunch", 1, FAILED, 9),
    # CUBLAS_STATUS_NOT_INITIALIZED, _NOT_SUPPORTED, _EXECUTION_FAILED
    ("cublasLtCreate", 1, "1", 9),
    ("cublasLtMatmulDescCreate", 1, "1", 9),
    ("cublasLtMatrixLayoutCreate", 2, "1", 9),
    ("cublasLtMatmul", 1, "13", 9),
    ("cublasLtMatmul", 5, "13", 9),
]


def run(program, data, folder, environment):
    command = [program, "--data", data, "--steps", "3", "--progress", "none",
               "--save-dir", os.path.join(folder, "saves"),
               "--metrics", os.path.join(folder, "m.jsonl")]
    return subprocess.run(command, capture_output=True, text=True, env=environment,
                          timeout=300)


def half_written(folder):
    return [name for name in glob.glob(os.path.join(folder, "**", "*"), recursive=True)
            if ".tmp" in os.path.basename(name)]


def check(fault, program, data, folder, environment):
    entry, call, error, code = fault
    result = run(program, data, folder,
                 dict(environment, WEFT_EMULATION_FAIL=f"{entry}:{call}:{error}"))
    lines = [line for line in result.stderr.splitlines() if line.startswith("weft: error: ")]
    problems = []
    if result.returncode != code:
        problems.append(f"exit {result.returncode} instead of {code}")
    if len(lines) != 1 or entry not in lines[0]:
        problems.append(f"expects one error that names the call, got {lines}")
    if half_written(folder):
        problems.append(f"left {half_written(folder)}")
    print(f"{entry} {call}: " + ("; ".join(problems) or f"exit {code}"))
    return bool(problems)


def main(program, data, emulation, twins, work):
    environment = dict(os.environ, LD_LIBRARY_PATH=emulation,
                       WEFT_TWINS=f"{twins}:{os.path.join(emulation, 'kernels.so')}")
    wrong = 0
    for number, fault in enumerate(FAULTS):
        folder = os.path.join(work, str(number))
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        wrong += check(fault, program, data, folder, environment)
    print(f"{len(FAULTS)} faults, {wrong} wrong")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
