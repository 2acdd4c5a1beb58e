"""tokenizer-ids.py --work DIR [--seeds A:B] [--write DIR | --stored DIR]: ids and texts of `weft tokenize`.

A seed trains a tokenizer of published sections on its own text: scripts, code, emoji, numbers, control bytes,
malformed UTF-8. Its ids, and the text of the ids, are those of the package `tokenizers`. Without the package, cases
that --write has stored are compared.
"""
import argparse
import json
import pathlib
import random
import re
import subprocess
import sys

from seeds import seed_range

try:
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
except ImportError:
    Tokenizer = None

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t)?|\p{N}{1,3}"
         r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
MARK = "\u2581"
BYTES = [f"<0x{i:02X}>" for i in range(256)]
SCRIPTS = [(0x61, 0x7A), (0x41, 0x5A), (0x3B1, 0x3C9), (0x430, 0x44F), (0x627, 0x64A), (0x905, 0x939), (0x4E00, 0x4E80),
           (0x3041, 0x3096), (0xAC00, 0xAC80), (0x1F600, 0x1F64F), (0xC0, 0x17F), (0x300, 0x36F), (0xFF01, 0xFF5E),
           (0x2460, 0x24FF), (0x1100, 0x11FF), (0x1D400, 0x1D4FF), (0x2570, 0x2590)]
ODD = ["\U0001F469\u200D\U0001F469\u200D\U0001F467", "\U0001F44D\U0001F3FD", "\U0001F1E9\U0001F1EA", "e\u0301", "\uFB01",
       "\xB2", "\u0130", "\u01C5", "\u017F", "\u212A's", "\u180E", "\xA0", "\u3000", "\u200B", "\uFEFF", "<s>", "</s>",
       "<0x41>", MARK, "I'll DON'T we'VE it's", "  ", "\t", "\r", "def f(x):  return x**2", "0123456789", "a" * 70,
       "-" * 70, " " * 40]


def make_line(choose):
    """Bytes without a line end."""
    parts = []
    for _ in range(choose.randint(1, 20)):
        kind = choose.random()
        if kind < 0.6:
            low, high = choose.choice(SCRIPTS)
            parts.append("".join(chr(choose.randint(low, high)) for _ in range(choose.randint(1, 8))).encode())
            parts.append(choose.choice([b" ", b" ", b"  ", b", ", b". ", b"-", b"'s ", b""]))
        elif kind < 0.9:
            parts.append(choose.choice(ODD).encode())
        else:
            parts.append(bytes(choose.randrange(256) for _ in range(choose.randint(1, 12))))
    # A carriage return before a line end belongs to the line end.
    return b"".join(parts).replace(b"\n", b"").rstrip(b"\r")


def byte_level(pre, normalizer=None, special="<s>"):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer, trainers.BpeTrainer(
        vocab_size=420, special_tokens=[special], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False), None


def split_bytes(*expressions):
    return pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(text), "isolated") for text in expressions]
        + [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def fallback(normalizer, pre, *decoder):
    """BPE of SentencePiece: trained on marked words, used on whole texts."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Sequence(list(decoder))

    def finish(data):
        data["normalizer"] = normalizer and json.loads(normalizer.__getstate__())
        data["pre_tokenizer"] = pre and json.loads(pre.__getstate__())
        data["added_tokens"] = [token for token in data["added_tokens"] if token["content"] not in BYTES]
    return tokenizer, trainers.BpeTrainer(vocab_size=560, special_tokens=["<unk>", "<s>", "</s>"] + BYTES,
                                          limit_alphabet=120, show_progress=False), finish


def unigram(normalizer, pre):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, pre
    tokenizer.decoder = decoders.Metaspace()

    def finish(data):
        # The package reads numbers of many digits with errors, by which equal sums would differ.
        data["model"]["vocab"] = [[text, round(score, 5)] for text, score in data["model"]["vocab"]]
    return tokenizer, trainers.UnigramTrainer(vocab_size=450, special_tokens=["<unk>", "<s>"], unk_token="<unk>",
                                              show_progress=False), finish


def words(model, trainer, pre, normalizer=None, decoder=None):
    tokenizer = Tokenizer(model(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre
    if normalizer:
        tokenizer.normalizer = normalizer
    if decoder:
        tokenizer.decoder = decoder
    return tokenizer, trainer(vocab_size=400, special_tokens=["[UNK]", "<s>"], show_progress=False), None


def make_kinds():
    p, n, d = pre_tokenizers, normalizers, decoders
    spaces = [d.Replace(MARK, " "), d.ByteFallback(), d.Fuse()]
    return {
        "gpt2": lambda: byte_level(p.ByteLevel(add_prefix_space=False)),
        "llama3": lambda: byte_level(split_bytes(LLAMA3)),
        "qwen2": lambda: byte_level(split_bytes(LLAMA3.replace("{1,3}", "")), n.NFC()),
        "smollm": lambda: byte_level(p.Sequence([p.Digits(True), p.ByteLevel(add_prefix_space=False)])),
        "o200k": lambda: byte_level(split_bytes(O200K)),
        "llama2": lambda: fallback(n.Sequence([n.Prepend(MARK), n.Replace(" ", MARK)]), None, *spaces, d.Strip(" ", 1, 0)),
        "mistral": lambda: fallback(None, p.Metaspace(prepend_scheme="first", split=False), *spaces, d.Strip(" ", 1, 0)),
        "gemma": lambda: fallback(n.Replace(" ", MARK), p.Split(" ", "merged_with_previous"), *spaces),
        "t5": lambda: unigram(n.Sequence([n.Nmt(), n.NFKC(), n.Replace(Regex(" {2,}"), " ")]),
                              p.Sequence([p.WhitespaceSplit(), p.Metaspace()])),
        "albert": lambda: unigram(n.Sequence([n.Strip(), n.NFKD(), n.Lowercase()]), p.Metaspace(prepend_scheme="first")),
        "bert": lambda: words(models.WordPiece, trainers.WordPieceTrainer, p.BertPreTokenizer(),
                              n.BertNormalizer(clean_text=True, strip_accents=False), d.WordPiece()),
        "words": lambda: words(models.WordLevel, trainers.WordLevelTrainer, p.Whitespace()),
        "splits": lambda: words(models.BPE, trainers.BpeTrainer, p.Sequence(
            [p.Split(Regex("[aeiou]+"), "merged_with_next"), p.Split("b", "contiguous", invert=True)])),
    }


def add_tokens(choose, data):
    """Tokens of all kinds, behind those of the model."""
    vocab = data["model"]["vocab"]
    count = len(vocab)
    for content in ("<pad>", "re", "\u00C9a", "\u00C9\u00C9"):
        flags = {name: choose.random() < 0.4 for name in ("single_word", "lstrip", "rstrip", "normalized", "special")}
        known = [row[0] for row in vocab] if isinstance(vocab, list) else list(vocab)
        if content in known:
            continue
        data["added_tokens"].append({"id": count, "content": content, **flags})
        count += 1


def build(seed):
    """The text of a tokenizer.json, and lines."""
    choose = random.Random(seed)
    kinds = make_kinds()
    name = list(kinds)[seed % len(kinds)]
    lines = [make_line(choose) for _ in range(120)]
    tokenizer, trainer, finish = kinds[name]()
    texts = [line.decode("utf-8", "replace") for line in lines]
    if name in ("t5", "albert"):  # each character needs a token
        texts = ["".join(c for c in text.replace("<s>", "") if ord(c) < 0x180) for text in texts]
    tokenizer.train_from_iterator(texts, trainer)
    data = json.loads(tokenizer.to_str())
    if finish:
        finish(data)
    if choose.random() < 0.5:
        add_tokens(choose, data)
    if choose.random() < 0.5 and "<s>" in [token["content"] for token in data["added_tokens"]]:
        start = next(token["id"] for token in data["added_tokens"] if token["content"] == "<s>")
        template = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", start)])
        data["post_processor"] = json.loads(template.__getstate__())
    return name, json.dumps(data, ensure_ascii=False), lines[:60] + [make_line(choose) for _ in range(30)]


def weft(*arguments):
    result = subprocess.run(["weft", "tokenize", *map(str, arguments)], capture_output=True, timeout=120)
    if result.returncode:
        raise RuntimeError(result.stderr.decode("utf-8", "replace")[:500])
    return result.stdout


def compare(work, tokenizer, lines, ids, texts):
    """What differs, or None."""
    (work / "tokenizer.json").write_text(tokenizer, encoding="utf-8")
    (work / "lines.txt").write_bytes(b"".join(line + b"\n" for line in lines))
    found = weft(work / "lines.txt", "--lines", f"--tokenizer={work}").decode().splitlines()
    if len(found) != len(lines):
        return f"{len(found)} documents, not {len(lines)}"
    for i, line in enumerate(found):
        if list(map(int, line.split())) != ids[i]:
            return f"line {i} has other ids: {line[:200]} and not {ids[i][:40]}"
    (work / "ids.txt").write_text("\n".join(found) + "\n")
    text = weft(work / "ids.txt", "--decode", "--no-skip-special", f"--tokenizer={work}")
    if text != "".join(line + "\n" for line in texts).encode():
        return "the decoded text differs"
    return None


def expect(tokenizer, lines):
    """The lines, without those at which the package panics, their ids and texts."""
    oracle = Tokenizer.from_str(tokenizer)
    kept, ids = [], []
    for line in lines:
        try:
            ids.append(oracle.encode(line.decode("utf-8", "replace")).ids)
            kept.append(line)
        except BaseException as error:  # its panics are no exceptions
            if "Panic" not in type(error).__name__:
                raise
    return kept, ids, [oracle.decode(row, skip_special_tokens=False) for row in ids]


def cases(args):
    """Name, tokenizer, lines, ids, texts of each case."""
    if Tokenizer and not args.stored:
        for seed in args.seeds:
            name, tokenizer, lines = build(seed)
            yield (f"seed {seed}: {name}", tokenizer, *expect(tokenizer, lines))
        return
    for file in sorted(args.references.glob("*.json")):
        data = json.loads(file.read_text(encoding="utf-8"))
        yield (file.stem, json.dumps(data["tokenizer"]), [bytes.fromhex(line) for line in data["lines"]], data["ids"],
               data["texts"])


def write(folder, args):
    for seed in args.seeds:
        name, tokenizer, lines = build(seed)
        lines = lines[-12:]
        lines, ids, texts = expect(tokenizer, lines)
        data = {"tokenizer": json.loads(tokenizer), "lines": [line.hex() for line in lines], "ids": ids, "texts": texts}
        text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
        (folder / f"{name}.json").write_text(re.sub(r'("(?:vocab|merges|lines|ids|texts|added_tokens)":)', r"\n\1", text) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", type=seed_range, default=range(13))
    parser.add_argument("--stored", action="store_true", help="the stored cases, even if the package is there")
    parser.add_argument("--write", type=pathlib.Path, help="store the cases of the seeds")
    args = parser.parse_args()
    args.references = pathlib.Path(__file__).parent / "Inputs" / "tokenizers"
    args.work.mkdir(parents=True, exist_ok=True)
    if args.write:
        write(args.write, args)
        return
    count = wrong = 0
    for name, tokenizer, lines, ids, texts in cases(args):
        count += 1
        try:
            problem = compare(args.work, tokenizer, lines, ids, texts)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            problem = str(error)
        if problem:
            wrong += 1
            print(f"{name}: {problem}", flush=True)
    print(f"{count} tokenizers, {wrong} wrong")
    sys.exit(wrong > 0)


main()
