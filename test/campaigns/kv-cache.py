#!/usr/bin/env python3
"""kv-cache.py [--seeds A:B] [--jobs N]: samples with and without --kv-cache.

Each seed draws a small configuration of one of the families, a mesh and a
prompt. A program with a cache and one without it sample greedily from the same
random weights, past the end of the window. Their texts have to be equal, byte
by byte, and equal to the text of the other program after a resumed checkpoint:
programs with and without a cache read each other's checkpoints.
Prints one line a seed and `N seeds, N refused, N failed`.
"""
import argparse
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from family_options import OPTIONS, build, refused  # noqa: E402


def configuration(draw):
    """A small config.json of a family, whose vocabulary is the bytes."""
    while True:
        family = draw.choice(sorted(OPTIONS))
        config = build(family, {name: draw.choice(values) for name, values in OPTIONS[family].items()})
        if not refused(family, config):
            return {**config, "vocab_size": 256}


class Refused(Exception):
    """weft knows no such model (exit 3)."""


def run(command, folder, **variables):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300,
                          env={**os.environ, **variables})
    if done.returncode == 3 and b"--kv-cache" not in done.stderr:
        raise Refused
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr.decode(errors='replace')}")
    return done.stdout


def check(seed):
    """An error, or "" if the texts of both programs are equal."""
    draw = random.Random(seed)
    config = configuration(draw)
    seq = draw.choice([5, 8, 16, 31])
    # Low types round other sums, so texts are compared in f32.
    flags = [f"--seq={seq}", f"--batch={draw.randint(1, 3)}"]
    ranks = draw.choice([1, 1, 2])
    if ranks > 1:
        flags += ["--mesh=dp:2", f"--zero={draw.randint(0, 3)}"]
    prompt = "".join(draw.choice("abcdefgh ") for _ in range(draw.randint(1, seq + 3)))
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "config.json"), "w") as file:
            json.dump(config, file)
        with open(os.path.join(folder, "text.txt"), "w") as file:
            file.write("".join(draw.choice("abcdefgh ") for _ in range(2000)))
        local = [f"--loopback={ranks}"] if ranks > 1 else []
        sample = ["--generate", prompt, f"--max-new-tokens={seq + 6}", "--temperature=0"]
        texts = {}
        for cache in ("on", "off"):
            run(["weft", "compile", "config.json", f"--kv-cache={cache}", "-o", cache] + flags, folder)
            # NaN in what no program has written: decode must not read it.
            texts[cache] = run([f"./{cache}", "--init-from=none", f"--seed={seed}"] + local + sample, folder,
                               WEFT_FAULT="arena:poison")
        if texts["on"] != texts["off"]:
            return f"{texts['on']!r} with the cache, {texts['off']!r} without"
        run(["./on", "--data=text.txt", "--steps=2", "--save-dir=run", "--lr=0.1", "--progress=none"] + local, folder)
        trained = {cache: run([f"./{cache}", "--resume=run"] + local + sample, folder) for cache in ("on", "off")}
        if trained["on"] != trained["off"]:
            return f"after training {trained['on']!r} with the cache, {trained['off']!r} without"
    return ""


def guarded(seed):
    try:
        return check(seed) or "equal"
    except Refused:
        return "refused"
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return str(error)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="0:4")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    first, end = map(int, options.seeds.split(":"))
    results = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for seed, result in zip(range(first, end), pool.map(guarded, range(first, end))):
            results.append(result)
            print(f"seed {seed}: {result}", flush=True)
    refused = results.count("refused")
    failed = len(results) - refused - results.count("equal")
    print(f"{end - first} seeds, {refused} refused, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
