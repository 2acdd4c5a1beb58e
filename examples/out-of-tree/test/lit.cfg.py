"""Configuration of lit. Parameters: plugin, weft, llvm, out."""
import os
import sys

import lit.formats

param = lit_config.params
tests = os.path.dirname(__file__)
folder = os.path.dirname(tests)
config.name = "ext"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".test"]
config.test_source_root = tests
config.test_exec_root = param["out"]
config.environment["PATH"] = os.pathsep.join(
    [param["weft"], param["llvm"], os.environ.get("PATH", "")])
config.substitutions += [
    ("%plugin", param["plugin"]),
    ("%python", sys.executable),
    ("%model", os.path.join(folder, "model.mlir")),
    ("%data", f"{sys.executable} {os.path.join(folder, 'make_data.py')}"),
    ("%losses", os.path.join(tests, "losses.py")),
]
