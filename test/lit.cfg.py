# lit configuration: test/**/*.mlir and test/**/*.test, tools from the build tree.

import importlib.util
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
from swept import SweptShTest

config.name = "weft"
config.test_format = SweptShTest(True)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "data", "unit", "fuzz", "reference", "bench"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.weft_build, "test")

tools = [
    os.path.join(config.weft_build, "bin"),
    os.path.join(config.weft_build, "test", "unit"),
    config.llvm_bin,
]
config.environment["PATH"] = os.pathsep.join(tools + [os.environ.get("PATH", "")])
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"
# Compiled programs of `weft train` stay inside the test tree.
config.environment["XDG_CACHE_HOME"] = os.path.join(config.test_exec_root, "cache")

config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%lit_program", sys.argv[0]))
config.substitutions.append(("%src", config.weft_source))
config.substitutions.append(("%build", config.weft_build))
config.substitutions.append(("%llvm_include", os.path.join(config.llvm_bin, "..", "include")))
config.substitutions.append(("%examples", os.path.join(config.weft_source, "examples")))
# The text that language models are trained on. Tests count its rows and compare losses: do not edit it.
config.substitutions.append(("%corpus", os.path.join(config.test_source_root, "Inputs", "corpus.txt")))

# `lit-22 -Dverify_roundtrip=1` runs every weft-opt through text and bytecode and back.
if lit_config.params.get("verify_roundtrip"):
    config.substitutions.append((r"\bweft-opt\b", "weft-opt --verify-roundtrip"))

# ptxas and libdevice, where the compiler looks for them.
def find_cuda_toolkit():
    if "WEFT_CUDA_HOME" in os.environ:
        folders = [os.environ["WEFT_CUDA_HOME"]]
    else:
        ptxas = shutil.which("ptxas")
        folders = [os.environ.get("CUDA_HOME"),
                   ptxas and os.path.dirname(os.path.dirname(os.path.realpath(ptxas))),
                   "/usr/local/cuda"]
    for folder in filter(None, folders):
        if all(os.path.exists(os.path.join(folder, name))
               for name in ("bin/ptxas", "nvvm/libdevice/libdevice.10.bc")):
            return folder
    return None


for name in ("WEFT_CUDA_HOME", "CUDA_HOME", "WEFT_TEST_MODELS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
if config.has_assertions:
    config.available_features.add("assertions")
cuda_toolkit = find_cuda_toolkit()
if cuda_toolkit:
    config.available_features.add("cuda-toolkit")
    config.substitutions.append(("%ptxas", os.path.join(cuda_toolkit, "bin/ptxas")))
    if os.path.exists(os.path.join(cuda_toolkit, "lib64/libcudnn.so.9")):
        config.available_features.add("cudnn")
if os.path.exists(os.path.join(config.weft_build, "test/emulation/libcuda.so.1")):
    config.available_features.add("emulated-device")
if os.path.exists(os.path.join(config.weft_build, "test/emulation/WeftTellAccesses.so")):
    config.available_features.add("told-accesses")
if os.path.exists(os.path.join(config.weft_build, "test/emulation/libcudnn.so.9")):
    config.available_features.add("emulated-cudnn")
if os.path.exists(os.path.join(config.weft_build, "test/emulation/libnccl.so.2")):
    config.available_features.add("emulated-nccl")
if os.path.exists(os.path.join(config.weft_build, "test/emulation/nvtx-tool.so")):
    config.available_features.add("nvtx")
# Processes of MPI: where the library was found, and mpirun is.
if shutil.which("mpirun") and os.path.exists(os.path.join(config.weft_build, "test/bin/MpiCollectives")):
    config.available_features.add("mpi")
# A cluster that answers.
def answers(*command):
    try:
        return subprocess.run(command, capture_output=True, timeout=10).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


if shutil.which("srun") and answers("srun", "--immediate=5", "true"):
    config.available_features.add("slurm")
# The thread sanitizer of GCC, which builds the runtime once more.
def find_thread_sanitizer():
    if not all(map(shutil.which, ("g++", "cmake", "ninja"))):
        return False
    found = subprocess.run(["g++", "-print-file-name=libtsan.so"], capture_output=True, text=True).stdout
    return os.path.isabs(found)


if find_thread_sanitizer():
    config.available_features.add("thread-sanitizer")
# Readers of the files of a run.
if importlib.util.find_spec("tensorboard"):
    config.available_features.add("tensorboard")
chromium = shutil.which("chromium") or shutil.which("chromium-browser")
if chromium:
    config.available_features.add("chromium")
    config.substitutions.append(("%chromium", chromium))
if config.cuda_device:
    config.available_features.add("cuda-device")
if config.full:
    config.available_features.add("full")
