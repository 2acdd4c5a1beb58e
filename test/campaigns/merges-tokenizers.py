"""merges-tokenizers.py --work DIR [--seeds A:B]: tokenizers of vocab.json and merges.txt.

Each seed makes a folder of GPT2Tokenizer or Qwen2Tokenizer: tokens and merges of a stored byte-level tokenizer, special
tokens in added_tokens_decoder, added_tokens.json or special_tokens_map.json, the class in tokenizer_config.json or the
model type in config.json. `weft tokenize` gives the ids of transformers. Without the package, the ids are those that
the stored tokenizers have.
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys

from seeds import seed_range

try:
    from transformers import GPT2Tokenizer, Qwen2Tokenizer
except ImportError:
    GPT2Tokenizer = Qwen2Tokenizer = None

STORED = pathlib.Path(__file__).parent / "Inputs" / "tokenizers"
KINDS = {"gpt2": ("GPT2Tokenizer", ["gpt2", "gpt_neo", "opt"]), "qwen2": ("Qwen2Tokenizer", ["qwen2", "qwen3"])}
FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


def dump(path, data):
    path.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")


def add_specials(choose, folder, vocab, settings):
    """Special and other added tokens behind those of the vocabulary, in one of three forms."""
    tokens = [{"content": text, **{flag: choose.random() < 0.4 for flag in FLAGS}}
              for text in choose.sample(["<|im_start|>", "<|im_end|>", "<tool>", "re", "\u00c9a"], choose.randint(0, 5))
              if text not in vocab]
    end = {"content": "<|endoftext|>", "special": True, **{flag: False for flag in FLAGS[:4]}}
    tokens.insert(choose.randint(0, len(tokens)), end)
    form = choose.choice(["decoder", "added", "map"])
    if form == "decoder":
        settings["added_tokens_decoder"] = {str(len(vocab) + i): token for i, token in enumerate(tokens)}
    elif form == "added":
        dump(folder / "added_tokens.json", {token["content"]: len(vocab) + i for i, token in enumerate(tokens)})
    if form != "decoder":
        dump(folder / "special_tokens_map.json", {
            "eos_token": choose.choice(["<|endoftext|>", {**{flag: False for flag in FLAGS[:4]},
                                                          "content": "<|endoftext|>"}])})


def make_folder(choose, name, stored, folder):
    model = stored["tokenizer"]["model"]
    vocab = {text: id for text, id in model["vocab"].items() if text != "<s>"}
    vocab = {text: number for number, text in enumerate(sorted(vocab, key=vocab.get))}
    dump(folder / "vocab.json", vocab)
    lines = [" ".join(pair) if isinstance(pair, list) else pair for pair in model["merges"]]
    head = choose.choice(["", "#version: 0.2\n"])
    (folder / "merges.txt").write_text(head + "\n".join(lines) + choose.choice(["", "\n"]), encoding="utf-8")
    class_name, types = KINDS[name]
    settings = {"model_max_length": 1024, "eos_token": "<|endoftext|>"}
    if choose.random() < 0.5:
        settings["add_prefix_space"] = choose.random() < 0.5
    if choose.random() < 0.3:
        settings.update(add_bos_token=True, bos_token="<|endoftext|>")
    add_specials(choose, folder, vocab, settings)
    if choose.random() < 0.5:
        dump(folder / "config.json", {"model_type": choose.choice(types)})
    else:
        settings["tokenizer_class"] = class_name + choose.choice(["", "Fast"])
    dump(folder / "tokenizer_config.json", settings)


def texts_of(choose, stored):
    lines = [bytes.fromhex(line).decode("utf-8", "replace") for line in stored["lines"]]
    marks = ["<|endoftext|>", " <|im_start|> ", "<|im_end|>", "<tool>", "re ", "\u00c9a", "e\u0301 "]
    return ["".join(part + choose.choice(["", "", choose.choice(marks)]) for part in line.split("\r")) + choose.choice(marks)
            for line in lines]


def weft(folder, lines):
    (folder / "lines.txt").write_bytes(b"".join(line.encode() + b"\n" for line in lines))
    result = subprocess.run(["weft", "tokenize", folder / "lines.txt", "--lines", f"--tokenizer={folder}"],
                            capture_output=True, timeout=120)
    if result.returncode:
        raise RuntimeError(result.stderr.decode("utf-8", "replace")[:500])
    return [list(map(int, line.split())) for line in result.stdout.decode().splitlines()]


def check(seed, folder):
    """What differs, or None."""
    choose = random.Random(seed)
    name = list(KINDS)[seed % len(KINDS)]
    stored = json.loads((STORED / f"{name}.json").read_text(encoding="utf-8"))
    make_folder(choose, name, stored, folder)
    lines = texts_of(choose, stored)
    oracle = (GPT2Tokenizer if name == "gpt2" else Qwen2Tokenizer).from_pretrained(folder)
    for line, found in zip(lines, weft(folder, lines)):
        if found != (wanted := oracle(line)["input_ids"]):
            return f"{line!r} has ids {found[:30]} and not {wanted[:30]}"
    return None


def check_stored(name, folder):
    """The ids of a stored tokenizer by its tokens and merges alone."""
    stored = json.loads((STORED / f"{name}.json").read_text(encoding="utf-8"))
    tokenizer = stored["tokenizer"]
    dump(folder / "vocab.json", tokenizer["model"]["vocab"])
    (folder / "merges.txt").write_text("".join(
        (pair if isinstance(pair, str) else " ".join(pair)) + "\n" for pair in tokenizer["model"]["merges"]),
        encoding="utf-8")
    settings = {"tokenizer_class": KINDS[name][0], "eos_token": "<s>", "added_tokens_decoder": {
        str(token["id"]): {key: value for key, value in token.items() if key != "id"}
        for token in tokenizer["added_tokens"]}}
    if tokenizer.get("post_processor") and "TemplateProcessing" in json.dumps(tokenizer["post_processor"]):
        settings.update(add_bos_token=True, bos_token="<s>")
    dump(folder / "tokenizer_config.json", settings)
    lines = [bytes.fromhex(line).decode("utf-8", "replace") for line in stored["lines"]]
    return None if weft(folder, lines) == stored["ids"] else "ids differ"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", type=seed_range, default=range(10))
    args = parser.parse_args()
    cases = [(name, check_stored) for name in KINDS]
    if GPT2Tokenizer:
        cases += [(seed, check) for seed in args.seeds]
    wrong = 0
    for case, run in cases:
        folder = args.work / str(case)
        folder.mkdir(parents=True)
        try:
            problem = run(case, folder)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            problem = str(error)
        if problem:
            wrong += 1
            print(f"{case}: {problem}", flush=True)
    print(f"{len(cases)} folders, {wrong} wrong")
    sys.exit(wrong > 0)


main()
