"""prepare-tokens.py --work DIR [--seeds A:B]: `weft data prepare` against `weft tokenize`.

A seed makes files of JSON lines and prepares them, with weights or without. The tokens are the ones of `weft tokenize`
for each document, in the order that a model of the interleaving gives. A preparation that is killed leaves no file, two
at once leave one that is whole.
"""
import argparse
import json
import pathlib
import random
import signal
import struct
import subprocess
import time

from seeds import seed_range

END = 0
WORDS = ["the", "work", " ", "\n", "\t", "é", "日本", "\U0001F600", "<s>", "\\", '"', "\u2028", "12", "x" * 40, "\x01"]


def weft(*args):
    done = subprocess.run(["weft", *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
    if done.returncode != 0:
        raise RuntimeError(f"weft {args[0]}: exit {done.returncode}: {done.stderr.decode('utf-8', 'replace')}")
    return done.stdout.decode()


def read_tokens(path):
    data = path.read_bytes()
    magic, version, count = struct.unpack("<3i", data[:12])
    assert (magic, version) == (20240520, 1) and len(data) == 1024 + 2 * count, f"{path}: wrong header"
    return list(struct.unpack(f"<{count}H", data[1024:]))


def make_lines(choose, path):
    documents = ["".join(choose.choice(WORDS) for _ in range(choose.randint(0, 12))) for _ in range(choose.randint(1, 6))]
    with open(path, "w", encoding="utf-8", newline="") as file:
        for document in documents:
            line = {"text": document, "meta": {"text": [1, None]}} if choose.random() < 0.5 else {"n": 1.5, "text": document}
            file.write(json.dumps(line, ensure_ascii=choose.random() < 0.5) + choose.choice(["\n", "\r\n", "\n\n"]))
    return documents


def tokens_of(work, document):
    (work / "document.txt").write_bytes(document.encode())
    if not document:
        return [END]
    ids = [int(word) for word in weft("tokenize", work / "document.txt", f"--tokenizer={work}").split()]
    return ids if ids and ids[-1] == END else ids + [END]


def interleave(groups, weights):
    """The order of documents: the group with the fewest tokens for its weight is next."""
    tokens, at, sums = [], [0] * len(groups), [0] * len(groups)
    while True:
        number = min(range(len(groups)), key=lambda n: (sums[n] / weights[n], n))
        if at[number] == len(groups[number]):
            return tokens
        document = groups[number][at[number]]
        tokens += document
        sums[number] += len(document)
        at[number] += 1


def check_seed(work, seed):
    choose = random.Random(seed)
    groups, spelling, weights = [], [], []
    isWeighted = choose.random() < 0.6
    for number in range(choose.randint(1, 3)):
        path = work / f"{seed}-{number}.jsonl"
        groups.append([tokens_of(work, document) for document in make_lines(choose, path)])
        weights.append(choose.choice([0.3, 1, 2.5]))
        spelling.append(f"{path}:{weights[-1]}" if isWeighted else str(path))
    expected = interleave(groups, weights) if isWeighted else sum(sum(groups, []), [])
    out = work / f"{seed}.bin"
    weft("data", "prepare", ",".join(spelling), "-o", out, f"--tokenizer={work}")
    if read_tokens(out) != expected:
        raise RuntimeError(f"seed {seed}: {' '.join(spelling)}: other tokens than weft tokenize")


def check_processes(work, choose, kills):
    """Kills in the middle, and two at once."""
    source = work / "long.jsonl"
    with open(source, "w", encoding="utf-8") as file:
        for number in range(20000):
            file.write(json.dumps({"text": " ".join(choose.choice(WORDS) for _ in range(20)) + str(number)}) + "\n")
    out, whole = work / "long.bin", work / "whole.bin"
    command = ["data", "prepare", source, f"--tokenizer={work}", "--overwrite", "-o"]
    began = time.monotonic()
    weft(*command, whole)
    took = time.monotonic() - began
    for _ in range(kills):
        process = subprocess.Popen(["weft", *map(str, command), str(out)], stderr=subprocess.DEVNULL)
        time.sleep(choose.uniform(0, took))
        process.send_signal(signal.SIGKILL)
        process.wait()
        if out.exists() and out.read_bytes() != whole.read_bytes():
            raise RuntimeError("a killed preparation has left another file")
        out.unlink(missing_ok=True)
    both = [subprocess.Popen(["weft", *map(str, command), str(out)], stderr=subprocess.DEVNULL) for _ in range(2)]
    if any(process.wait() != 0 for process in both) or out.read_bytes() != whole.read_bytes():
        raise RuntimeError("two preparations at once failed")
    left = [path.name for path in work.glob("*.tmp*")]
    if left:
        raise RuntimeError(f"temporary files are left: {left}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", type=seed_range, default=range(4))
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    stored = pathlib.Path(__file__).parent / "Inputs" / "tokenizers" / "smollm.json"
    tokenizer = json.loads(stored.read_text(encoding="utf-8"))["tokenizer"]
    (args.work / "tokenizer.json").write_text(json.dumps(tokenizer))
    (args.work / "config.json").write_text(json.dumps({"eos_token_id": [END, 5]}))
    for seed in args.seeds:
        check_seed(args.work, seed)
    check_processes(args.work, random.Random(args.seeds[0]), min(len(args.seeds), 20))
    print(f"{len(args.seeds)} preparations, 0 wrong")


main()
