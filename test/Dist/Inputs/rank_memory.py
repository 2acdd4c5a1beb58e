"""Measures what ranks that are processes hold and read.

Usage: rank_memory.py --weft WEFT --work DIR --mpi "mpirun ..."

Four ranks train a model of 128 MiB in stages 0 to 2, and one of 384 MiB in stage 3,
from initial values, from a file of weights, from a checkpoint and from weights that
the program records. Prints for each how much VmHWM, without the code that oneDNN makes for
products, grows beyond what a smaller program of the same kind holds beside its arena, as a
part of the arena that `weft inspect --memory` reports (the least and the largest over ranks),
and the most bytes that a rank has read. Then what `ckpt export` and a rank with --dump-grads hold beyond that.
"""

import argparse
import json
import os
import pathlib
import shlex
import subprocess
import sys

MIB = 1 << 20
RANKS, UNITS, FEW, WIDE, NARROW, BATCH = 4, 6, 2, 4096, 2048, 8
# Runs the program and samples its memory and reads in /proc. Executable memory without a file
# is code that the program generated at run time.
WRAPPER = r"""
import os, pathlib, re, subprocess, sys, time
MADE = re.compile(r"^\S+ r?w?-?xp \S+ \S+ 0 *\n(?:.*\n)*?Rss: +(\d+) kB", re.M)
out = pathlib.Path(sys.argv[1]) / os.environ["OMPI_COMM_WORLD_RANK"]
child = subprocess.Popen(sys.argv[2:])
peak = read = code = turn = 0
while child.poll() is None:
    try:
        status = pathlib.Path(f"/proc/{child.pid}/status").read_text()
        peak = max(peak, *(int(l.split()[1]) << 10 for l in status.splitlines() if l.startswith("VmHWM")), 0)
        io = pathlib.Path(f"/proc/{child.pid}/io").read_text()
        read = max(read, int(io.split("rchar: ")[1].split()[0]))
        turn += 1
        if turn % 8 == 0:
            smaps = pathlib.Path(f"/proc/{child.pid}/smaps").read_text()
            code = max(code, sum(int(size) << 10 for size in MADE.findall(smaps)))
    except (OSError, ValueError, IndexError):
        pass
    time.sleep(0.005)
out.write_text(f"{peak - code} {read}")
sys.exit(child.returncode)
"""


def model(units, wide):
    """`units` layers of wide x wide, one scope each."""
    lines = ["module {"]
    for i in range(units):
        lines.append(f'weft.param @h.{i}.w : tensor<{wide}x{wide}xf32> {{init = #weft.init<normal, 0.0, 0.01>, scope = "h.{i}"}}')
    lines += [f'weft.program @model(%x0: tensor<{BATCH}x{wide}xf32> {{weft.input = "x"}},',
              f'    %y: tensor<{BATCH}xi32> {{weft.input = "y"}}) -> (tensor<f32> {{weft.output = "loss"}}) attributes {{kind = #weft.kind<model>}} {{']
    for i in range(units):
        lines.append(f'%w{i} = weft.read @h.{i}.w {{weft.scope = "h.{i}"}} : tensor<{wide}x{wide}xf32>')
        lines.append(f'%h{i} = weft.matmul %x{i}, %w{i} {{transpose_rhs, weft.scope = "h.{i}"}} : tensor<{BATCH}x{wide}xf32>, tensor<{wide}x{wide}xf32>')
        lines.append(f'%x{i + 1} = weft.relu %h{i} {{weft.scope = "h.{i}"}} : tensor<{BATCH}x{wide}xf32>')
    lines += [f"%loss, %lse, %denom = weft.cross_entropy %x{units}, %y : tensor<{BATCH}x{wide}xf32>, tensor<{BATCH}xi32>",
              "weft.return %loss : tensor<f32>", "}", "}"]
    return "\n".join(lines) + "\n"


class Measure:
    def __init__(self, args):
        self.args, self.mpi = args, shlex.split(args.mpi)
        (args.work / "wrapper.py").write_text(WRAPPER)

    def build(self, name, units, wide, zero=3):
        source = self.args.work / f"{name}.mlir"
        source.write_text(model(units, wide))
        return self.compile(source, self.args.work / f"{name}{zero}", f"--zero={zero}", "--optimizer=sgd")

    def compile(self, source, program, *flags):
        subprocess.run([self.args.weft, "compile", source, f"--mesh=dp:{RANKS}", "--sync=each", *flags,
                        "-o", program], check=True, stdout=subprocess.DEVNULL)
        return program

    def arena(self, program):
        report = subprocess.run([self.args.weft, "inspect", program, "--memory", "--json"], check=True,
                                capture_output=True, text=True).stdout
        report = json.loads(report)
        return report.get("memory", report)["arena_bytes"]

    def run(self, program, data, steps, *flags):
        """Peak, without code that was made, and read bytes of each rank."""
        out = self.args.work / "measured"
        out.mkdir(exist_ok=True)
        subprocess.run([*self.mpi, "-n", str(RANKS), sys.executable, self.args.work / "wrapper.py", out, program,
                        "--data", data, "--threads=1", "--progress=none", f"--steps={steps}", *flags], check=True)
        numbers = [tuple(map(int, (out / str(rank)).read_text().split())) for rank in range(RANKS)]
        return [n[0] for n in numbers], [n[1] for n in numbers]

    def beside_arena(self, program, data):
        """The most that a rank holds beside its arena."""
        return max(self.run(program, data, 2)[0]) - self.arena(program)


def write_data(path, wide):
    """Rows of ones with a class each, as raw safetensors."""
    rows = 64
    x, y = bytes(4 * rows * wide), bytes(4 * rows)
    header = json.dumps({"x": {"dtype": "F32", "shape": [rows, wide], "data_offsets": [0, len(x)]},
                         "y": {"dtype": "I32", "shape": [rows], "data_offsets": [len(x), len(x) + len(y)]}}).encode()
    header += b" " * (-len(header) % 8)
    path.write_bytes(len(header).to_bytes(8, "little") + header + x + y)


def write_config(folder, width, layers=8):
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({
        "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 256, "n_positions": 64,
        "n_embd": width, "n_layer": layers, "n_head": 4, "activation_function": "gelu_new"}))
    return folder


def peak_of(*command):
    """VmHWM of a command that succeeds, in bytes."""
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command}: exit code {process.returncode}")
    return usage.ru_maxrss << 10


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--weft", default="weft")
    parser.add_argument("--mpi", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    measure = Measure(args)
    rows, narrow = args.work / "rows.safetensors", args.work / "narrow.safetensors"
    write_data(narrow, NARROW)
    write_data(rows, WIDE)
    base = measure.beside_arena(measure.build("small", 1, NARROW), narrow)

    def report(what, program, whole, peaks, reads, base=base):
        arena = measure.arena(program)
        parts = [(peak - base) / arena for peak in peaks]
        print(f"{what}: {min(parts):.3f} to {max(parts):.3f} of the arena, "
              f"{max(reads) / MIB:.0f} MiB read, of {whole / MIB:.0f}", flush=True)

    for zero in range(3):
        program = measure.build("some", FEW, WIDE, zero)
        report(f"stage {zero}", program, 4 * FEW * WIDE * WIDE, *measure.run(program, rows, 2))
    whole = 4 * UNITS * WIDE * WIDE
    program, save = measure.build("large", UNITS, WIDE), args.work / "save"
    report("stage 3", program, whole, *measure.run(program, rows, 2, "--save-dir", save))
    exported = args.work / "exported"
    export = peak_of(args.weft, "ckpt", "export", save, exported)
    weights = exported / "model.safetensors"
    report("weights", program, whole, *measure.run(program, rows, 2, "--init-from", weights))
    report("checkpoint", program, whole, *measure.run(program, rows, 3, "--save-dir", save, "--resume=auto"))
    report("gradients", program, whole, *measure.run(program, rows, 1, "--dump-grads", args.work / "gradients"))
    print(f"export: {(export - peak_of(args.weft, '--version')) / MIB:.0f} MiB", flush=True)

    # The weights of a folder are recorded with their digest, which ranks check together.
    folder, text, save = write_config(args.work / "gpt2", 1024), args.work / "text", args.work / "gpt2-save"
    text.write_text("some text, again and again. " * 400)
    flags = ("--zero=3", "--optimizer=sgd", "--batch=1", "--seq=16")
    program = measure.compile(write_config(args.work / "small-gpt2", 1024, layers=1), args.work / "small-gpt2/program", *flags)
    base = measure.beside_arena(program, text)
    program = measure.compile(folder, args.work / "first", *flags)
    measure.run(program, text, 1, "--save-dir", save)
    subprocess.run([args.weft, "ckpt", "export", save, args.work / "named"], check=True, stdout=subprocess.DEVNULL)
    weights = folder / "model.safetensors"
    (args.work / "named" / "model.safetensors").rename(weights)
    program = measure.compile(folder, args.work / "recorded", *flags)
    report("recorded weights", program, weights.stat().st_size, *measure.run(program, text, 2), base)


if __name__ == "__main__":
    main()
