#!/usr/bin/env python3
"""The data of one of three processes is cut while they train: all end with its error, and
save the steps that were whole; the run goes on from there as if nothing had been.

usage: lost_rows.py FOLDER --model M --data FILE [--compile=FLAG]...
"""
import argparse
import filecmp
import os
import shutil
import subprocess
import time

MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe"]


def export(step, out):
    subprocess.run(["weft", "ckpt", "export", step, out], check=True)
    return os.path.join(out, "model.safetensors")


def newest(saves):
    return max((step for step in os.listdir(saves) if step.startswith("step_")), default=None) \
        if os.path.isdir(saves) else None


def cut_while_running(args, program, saves):
    """The output of the run and its exit code."""
    cut = os.path.join(args.folder, "cut.txt")
    run = [program, "--steps", "100000", "--accum", "2", "--shuffle", "--save-every", "20", "--progress", "none",
           "--threads", "1", "--save-dir", saves, "--data"]
    process = subprocess.Popen([*MPIRUN, "-n", "2", *run, args.whole, ":", "-n", "1", *run, cut],
                               stderr=subprocess.PIPE, text=True)
    while not newest(saves) and process.poll() is None:
        time.sleep(0.02)
    time.sleep(0.2)
    os.truncate(cut, 1000)
    said = process.communicate(timeout=60)[1]
    return process.returncode, said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--compile", action="append", default=[])
    args = parser.parse_args()
    shutil.rmtree(args.folder, ignore_errors=True)
    os.makedirs(args.folder)
    args.whole = os.path.join(args.folder, "whole.txt")
    with open(args.data, "rb") as file, open(args.whole, "wb") as whole:
        whole.write(file.read() * 1000)
    shutil.copy(args.whole, os.path.join(args.folder, "cut.txt"))
    program, saves = os.path.join(args.folder, "program"), os.path.join(args.folder, "saves")
    subprocess.run(["weft", "compile", args.model, "--batch=1", "--seq=16", "--mesh=dp:3", *args.compile, "-o", program],
                   check=True)
    code, said = cut_while_running(args, program, saves)
    errors = [line for line in said.splitlines() if line.startswith("weft: error")]
    if code != 3 or len(errors) != 1 or "cut.txt: expects" not in errors[0]:
        raise SystemExit(f"expects one error and 3, but got {code}: {said}")
    step = newest(saves)
    done = int(step[5:])
    if done % 20 == 0:
        print(f"the steps up to {done} were saved anyway")
    flags = ["--accum", "2", "--shuffle", "--progress", "none", "--threads", "1", "--data", args.whole, "--loopback", "3",
             "--steps", str(done + 3)]
    subprocess.run([program, *flags, "--save-dir", saves, "--resume", "must"], check=True)
    subprocess.run([program, *flags, "--save-dir", saves + ".clean"], check=True)
    first, second = export(saves, saves + ".export"), export(saves + ".clean", saves + ".clean.export")
    if not filecmp.cmp(first, second, shallow=False):
        raise SystemExit(f"{first} differs from {second} at step {done + 3}")
    print("goes on as if nothing had been")


if __name__ == "__main__":
    main()
