#!/usr/bin/env python3
"""The host one step behind an emulated CUDA device.

usage: one-step-behind.py BUILD WORK MODEL DATA

Runs of a program with a gradient that is not finite at some step, with
accumulation, saves, evaluations and ends of all kinds, against the same run with
--trace, where the host waits for every program: the exit code, what is said, the
metrics but for times, and every file of every checkpoint are the same.
"""
import json
import os
import shutil
import subprocess
import sys

build, work, model, data = sys.argv[1:]
weft = os.path.join(build, "bin", "weft")
emulation = os.path.join(build, "test", "emulation")
STEPS = 6
TIMES = ("tokens_per_s", "step_ms", "compute_ms", "data_ms", "mem_bytes")


def compile_program(precision):
    folder = os.path.join(work, precision)
    os.makedirs(folder, exist_ok=True)
    for command in ([weft, "compile", "-o", "model"], [weft + "-twins", "-o", "twins.so"]):
        subprocess.run([*command, os.path.abspath(model), "--target=cuda:sm_90", "--precision", precision],
                       cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder


def files_of(folder):
    found = {}
    for path, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(path, name), "rb") as file:
                content = file.read()
            if name == "MANIFEST.json":  # without the recorded flags
                manifest = json.loads(content)
                content = {key: manifest[key] for key in manifest if key not in ("run", "xxh3")}
            found[os.path.relpath(os.path.join(path, name), folder)] = content
    return found


def run(folder, fault, flags):
    trial = os.path.join(folder, "trial")
    shutil.rmtree(trial, ignore_errors=True)
    os.makedirs(trial)
    environment = dict(os.environ, LD_LIBRARY_PATH=emulation, WEFT_FAULT=fault,
                       WEFT_TWINS=f"{os.path.join(folder, 'twins.so')}:{os.path.join(emulation, 'kernels.so')}")
    result = subprocess.run([os.path.join(folder, "model"), "--data", os.path.abspath(data), "--steps", str(STEPS),
                             "--progress", "none", "--metrics", "metrics", "--save-dir", "saves", *flags],
                            cwd=trial, env=environment, capture_output=True, text=True)
    lines = []
    if os.path.exists(os.path.join(trial, "metrics")):
        with open(os.path.join(trial, "metrics")) as text:
            lines = [{key: value for key, value in json.loads(line).items() if key not in TIMES} for line in text]
    return result.returncode, result.stderr, lines, files_of(os.path.join(trial, "saves"))


def compare(folder, fault, flags):
    ahead, waits = run(folder, fault, flags), run(folder, fault, [*flags, "--trace", "trace"])
    for what, one, other in zip(("exit code", "errors", "metrics", "checkpoints"), ahead, waits):
        if one != other:
            sys.exit(f"{os.path.basename(folder)}, WEFT_FAULT={fault}, {' '.join(flags)}: other {what}:\n"
                     f"{str(one)[:3000]}\n{str(other)[:3000]}")
    return ahead


CASES = {
    "f32": [("", ["--accum", "3", "--save-every", "4"]), ("num:inf@step=2", []), ("num:inf@step=4", ["--accum", "2"])],
    "f16": [("num:nan@step=2-3,5", ["--save-every", "2", "--val-fraction", "0.5", "--eval-every", "3"]),
            ("num:inf@step=1", ["--accum", "2", "--stop-after", "3"])],
}
for precision, cases in CASES.items():
    program = compile_program(precision)
    codes = []
    for fault, flags in cases:
        code, _, lines, _ = compare(program, fault, flags)
        codes.append(code)
        if precision == "f16" and not any(line.get("skipped") for line in lines):
            sys.exit(f"f16, WEFT_FAULT={fault}: no step was skipped")
    print(f"{precision}: {len(cases)} runs, ahead and not, are the same; exit codes {codes}", flush=True)
