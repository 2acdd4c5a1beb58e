#!/usr/bin/env python3
"""Writes the seed inputs of the fuzz targets: make-seeds.py OUT."""
import json
import os
import re
import shutil
import struct
import subprocess
import sys

out = sys.argv[1]


def seed(target, name, data):
    folder = os.path.join(out, target)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as f:
        f.write(data)


def safetensors(entries, data, metadata=None):
    header = {"__metadata__": metadata} if metadata else {}
    header.update(entries)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def token_header(magic, version, count):
    return struct.pack("<256i", magic, version, count, *[0] * 253)


def cubin(name):
    """Machine code with one kernel, as ptxas lays it out."""
    code, note = b".text." + name, struct.pack("<BBHII", 4, 0x2f, 8, 1, 40)
    symbol = struct.pack("<IBBHQQ", 1, 0x12, 0x10, 5, 0, 64)
    names = b"\0.shstrtab\0.strtab\0.symtab\0.nv.info\0" + code + b"\0"
    # Name, type, content, link, size of an entry.
    sections = [(b"", 0, b"", 0, 0), (b".shstrtab", 3, names, 0, 0),
                (b".strtab", 3, b"\0" + name + b"\0", 0, 0),
                (b".symtab", 2, bytes(24) + symbol, 2, 24),
                (b".nv.info", 0x70000000, note, 3, 0), (code, 1, bytes(64), 0, 0)]
    body = table = b""
    for text, kind, content, link, entry_bytes in sections:
        table += struct.pack("<IIQQQQIIQQ", names.index(text + b"\0"), kind, 0, 0,
                             64 + len(body), len(content), link, 0, 1, entry_bytes)
        body += content
    head = b"\x7fELF\2\1\1\x41\x08".ljust(16, b"\0")
    head += struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, 64 + len(body), 0x6005a04,
                        64, 56, 0, 64, len(sections), 1)
    return head + body + table


def gguf_text(text):
    return struct.pack("<Q", len(text)) + text


def gguf(values, tensors, version=3):
    """A file with values (key, type, bytes) and tensors (name, type, sizes, bytes)."""
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(values))
    for key, kind, content in values:
        head += gguf_text(key) + struct.pack("<I", kind) + content
    data = b""
    for name, kind, sizes, content in tensors:
        head += gguf_text(name) + struct.pack(f"<I{len(sizes)}Q", len(sizes), *sizes)
        head += struct.pack("<IQ", kind, len(data))
        data += content + bytes(-len(content) % 32)
    return head + bytes(-len(head) % 32) + data


def gguf_array(kind, elements):
    return struct.pack("<IQ", kind, len(elements)) + b"".join(elements)


def gguf_llama():
    keys = {b"block_count": 1, b"context_length": 8, b"embedding_length": 4,
            b"feed_forward_length": 4, b"attention.head_count": 1}
    values = [(b"general.architecture", 8, gguf_text(b"llama"))]
    values += [(b"llama." + k, 4, struct.pack("<I", v)) for k, v in keys.items()]
    values.append((b"llama.attention.layer_norm_rms_epsilon", 6, struct.pack("<f", 1e-5)))
    return gguf(values, [(b"token_embd.weight", 1, (4, 2), bytes(16)),
                         (b"blk.0.attn_q.weight", 0, (4, 4), bytes(64)),
                         (b"rope_freqs.weight", 0, (2,), struct.pack("<2f", 1, 1))])


seed("fuzz-gguf", "none", gguf([], [], 2))
seed("fuzz-gguf", "llama", gguf_llama())
seed("fuzz-gguf", "gpt2", gguf(
    [(b"general.architecture", 8, gguf_text(b"gpt2"))]
    + [(b"gpt2." + k, 4, struct.pack("<I", 4)) for k in (
        b"block_count", b"context_length", b"embedding_length", b"feed_forward_length",
        b"attention.head_count")]
    + [(b"gpt2.attention.layer_norm_epsilon", 6, struct.pack("<f", 1e-5))],
    [(b"token_embd.weight", 0, (4, 2), bytes(32)), (b"output.weight", 0, (4, 2), bytes(32)),
     (b"blk.0.attn_qkv.weight", 0, (4, 12), bytes(192))]))
seed("fuzz-gguf", "values", gguf(
    [(b"k%d" % kind, kind, bytes(size)) for kind, size in enumerate(
        (1, 1, 2, 2, 4, 4, 4, 1))]
    + [(b"text", 8, gguf_text(b"words")), (b"u64", 10, bytes(8)), (b"f64", 12, bytes(8)),
       (b"general.alignment", 4, struct.pack("<I", 64)),
       (b"tokenizer.ggml.tokens", 9, gguf_array(8, [gguf_text(b"a"), gguf_text(b"b")])),
       (b"tokenizer.ggml.scores", 9, gguf_array(6, [bytes(4), bytes(4)])),
       (b"tokenizer.ggml.eos_token_id", 4, struct.pack("<I", 1)),
       (b"nested", 9, gguf_array(9, [gguf_array(7, [b"\1"]), gguf_array(9, [])]))], []))
for kind, elements, size in ((2, 32, 18), (3, 32, 20), (6, 32, 22), (7, 32, 24), (8, 32, 34),
                             (12, 256, 144), (13, 256, 176), (14, 256, 210), (30, 2, 4),
                             (10, 256, 84)):
    seed("fuzz-gguf", f"type-{kind}", gguf([], [(b"t", kind, (elements, 2), bytes(2 * size))]))

for size in (1, 30):
    seed("fuzz-cubin", str(size), cubin(b"k" * size))
padded = cubin(b"k") + bytes(-len(cubin(b"k")) % 16)
seed("fuzz-cubin", "two", padded + cubin(b"two"))

for i, text in enumerate([
        "null", "[]", "{}", "-1.5e-7", "9223372036854775808", "[1,\n2,true]",
        '{"a":{"b":[1,{"c":null}]},"\\u0061b":"\\ud83d\\ude00\\n"}',
        "[" * 60 + "]" * 60, '{"a":1,"a":2}']):
    seed("fuzz-json", str(i), text.encode())

manifest = {
    "weft_checkpoint": 2, "step": 10, "world_size": 2, "fingerprint": "ab",
    "seed": 1,
    "cursor": {"rows": 80, "shuffle": True, "shuffle_seed": 3},
    "files": [{"name": "r", "bytes": 0, "blocks": [],
               "xxh3": "99aa06d3014798d86001c324468d497f"}],
    "tensors": [{"name": "w", "kind": "param", "dtype": "F32", "shape": [2],
                 "pieces": [{"file": "r", "key": "w", "begin": 0, "end": 2}]}],
}
seed("fuzz-manifest", "full", b"," + json.dumps(manifest).encode()[1:])
manifest.update(files=[], tensors=[])
seed("fuzz-manifest", "empty", b"," + json.dumps(manifest).encode()[1:])

record = dict.fromkeys(
    "batch m n k trans_a trans_b lda ldb ldc batch_stride_a batch_stride_b batch_stride_c "
    "accumulate has_bias dtype dtype_c epilogue has_aux has_column_sum has_sum_a has_sum_b".split(), 1)
seed("fuzz-tuning", "one", json.dumps(
    {"format": "weft-tuning 2", "device": "GPU", "multiprocessors": "132",
     "cublaslt": "13.1.0", "tf32": "off", "products": [
         {"record": record, "alignments": [256] * 5, "workspace": 0,
          "algorithm": "0" * 128, "microseconds": 1.5, "first_microseconds": 2.0,
          "algorithms": 3}]}, indent=2).encode())

seed("fuzz-safetensors", "none", safetensors({}, b""))
seed("fuzz-safetensors", "one",
     safetensors({"w": entry("F32", [2], 0, 8)}, bytes(8), {"format": "pt"}))
seed("fuzz-safetensors", "types", safetensors(
    {"a": entry("F16", [1, 2], 0, 4), "b": entry("BF16", [2], 4, 8),
     "c": entry("F64", [], 8, 16), "d": entry("I64", [0, 3], 16, 16),
     "e": entry("F4", [4], 16, 18)}, bytes(18)))
seed("fuzz-safetensors", "overlap", safetensors(
    {"a": entry("U8", [4], 0, 4), "b": entry("U8", [4], 2, 6)}, bytes(6)))
seed("fuzz-safetensors", "short",
     safetensors({"w": entry("F32", [2], 0, 8)}, bytes(5)))

u16 = struct.pack("<4H", 1, 2, 300, 65535)
u32 = struct.pack("<3I", 1, 128000, 0x80000000)
for flag in range(8):
    mode = bytes([flag])
    seed("fuzz-token-file", f"text-{flag}", mode + b"some text\n")
    seed("fuzz-token-file", f"u16-{flag}",
         mode + token_header(20240520, 1, 4) + u16)
    seed("fuzz-token-file", f"u32-{flag}",
         mode + token_header(20240801, 7, 3) + u32)
    seed("fuzz-token-file", f"eval-{flag}", mode + token_header(20240522, 1, 0))

# Model text: the examples and every lit test of the dialect, split as the
# tests are; small ones alone, since inputs are cut at the fuzzer's max_len.
top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
for folder in ("examples", "test/Weft", "test/Frontend", "test/Autodiff/rules"):
    base = os.path.join(top, folder)
    for name in sorted(os.listdir(base)):
        if not name.endswith(".mlir"):
            continue
        with open(os.path.join(base, name), "rb") as f:
            parts = f.read().split(b"// -----\n")
        for i, part in enumerate(parts):
            if len(part) <= 4096:
                seed("fuzz-mlir", f"{name}-{i}", part)



def cut_plan(text):
    """Each program of a plan with the states and kernels that it uses."""
    parts = re.findall(r"^  (?:plan\.state.*|(?:plan\.program|weft\.kernel)(?:.|\n)*?\n  })\n", text, re.M)
    for program in parts:
        if "plan.program" not in program:
            continue
        used = set(re.findall(r"plan\.(?:use|launch) (@[-\w.]+)", program))
        yield "".join(part for part in parts if part == program or used.intersection(
            re.findall(r"(?:plan\.state \w+|weft\.kernel(?: private)?) (@[-\w.]+)", part)))


# Plans: every lit test of the dialect and, where `weft` is in PATH, the example
# that is small enough, without notes.
if shutil.which("weft"):
    plan = subprocess.run(["weft", "compile", os.path.join(top, "examples", "mlp.mlir"),
                           "--to=estimate", "-o", "/dev/stdout"],
                          check=True, capture_output=True, text=True).stdout
    notes = r"(?:flops|est_us|scope) = [^,}]*"
    plan = re.sub(rf", {notes}|(?<=\{{){notes}(?:, )?", "", plan)
    for i, part in enumerate(cut_plan(plan)):
        seed("fuzz-plan", f"mlp-{i}", part.encode())
for folder in ("test/Plan", "test/Memory", "test/Interp", "test/Lowering/Plan"):
    base = os.path.join(top, folder)
    for name in sorted(os.listdir(base)):
        if not name.endswith(".mlir"):
            continue
        with open(os.path.join(base, name), "rb") as f:
            text = f.read()
        parts = [part for piece in text.split(b"// -----\n") for part in piece.split(b"//--- ")]
        for i, part in enumerate(parts):
            part = part.split(b".mlir\n", 1)[-1] if b"//--- " in text else part
            if b"plan." in part and len(part) <= 8192:
                seed("fuzz-plan", f"{name}-{i}", part)

# Tokenizers: each kind of section once, and a text behind a null byte.
token_vocab = {text: i for i, text in enumerate(
    ["<unk>", "<s>", "a", "b", "ab", "\u2581", "\u2581a", "\u0120", "\u0120a", "##b", "<0xC3>", "<0xA9>", "b</w>"])}
bpe = {"type": "BPE", "dropout": None, "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True,
       "ignore_merges": False, "vocab": token_vocab, "merges": [["a", "b"], ["\u2581", "a"], "\u0120 a"]}
unigram = {"type": "Unigram", "unk_id": 0, "byte_fallback": True,
           "vocab": [[text, -1.5 - i] for i, text in enumerate(token_vocab)]}
token_models = [
    bpe, {**bpe, "ignore_merges": True}, {**bpe, "end_of_word_suffix": "</w>", "merges": []},
    {**bpe, "continuing_subword_prefix": "##", "merges": [["a", "##b"]]}, unigram,
    {"type": "WordPiece", "unk_token": "<unk>", "continuing_subword_prefix": "##",
     "max_input_chars_per_word": 9, "vocab": token_vocab},
    {"type": "WordLevel", "unk_token": "<unk>", "vocab": token_vocab}]
split = {"type": "Split", "behavior": "Isolated", "invert": False}
pre_tokenizers = [
    None, {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    {"type": "Sequence", "pretokenizers": [
        {**split, "pattern": {"Regex": "(?i:'s|'t)|[^\\r\\n\\p{L}]?\\p{L}+|\\p{N}{1,3}|\\s+(?!\\S)|[^\\s\\w]+"}},
        {"type": "Digits", "individual_digits": True}, {"type": "ByteLevel", "use_regex": False}]},
    {**split, "pattern": {"String": " "}, "behavior": "MergedWithPrevious"},
    {**split, "pattern": {"Regex": "\\w{,3}+"}, "behavior": "MergedWithNext", "invert": True},
    {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": True},
    {"type": "Whitespace"}, {"type": "WhitespaceSplit"}, {"type": "BertPreTokenizer"},
    {"type": "Punctuation", "behavior": "Contiguous"}, {"type": "CharDelimiterSplit", "delimiter": "-"}]
normalizers = [
    None, {"type": "NFC"}, {"type": "NFKD"}, {"type": "Lowercase"}, {"type": "StripAccents"}, {"type": "Nmt"},
    {"type": "Strip", "strip_left": True, "strip_right": True}, {"type": "Prepend", "prepend": "\u2581"},
    {"type": "Sequence", "normalizers": [{"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"},
                                         {"type": "Replace", "pattern": {"Regex": "a+"}, "content": ""}]},
    {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "lowercase": True},
    {"type": "Precompiled", "precompiled_charsmap": "CAAAAAAAAAAAAAAAYQAA"}, {"type": "ByteLevel"}]
decoders = [
    None, {"type": "ByteLevel"}, {"type": "WordPiece", "prefix": "##", "cleanup": True},
    {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always"}, {"type": "BPEDecoder", "suffix": "</w>"},
    {"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"},
        {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}]
special = {"SpecialToken": {"id": "<s>", "type_id": 0}}
post_processors = [
    None, {"type": "ByteLevel"}, {"type": "RobertaProcessing", "sep": ["<s>", 1], "cls": ["<unk>", 0]},
    {"type": "Sequence", "processors": [{
        "type": "TemplateProcessing", "single": [special, {"Sequence": {"id": "A", "type_id": 0}}], "pair": [],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}}]}]
added_flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
for i in range(max(map(len, (token_models, pre_tokenizers, normalizers)))):
    added = [{"id": 1, "content": "<s>", **dict.fromkeys(added_flags, False), "special": True},
             {"id": 13, "content": "aa", **{name: i >> n & 1 == 1 for n, name in enumerate(added_flags)}}]
    parts = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added}
    for name, choices in (("normalizer", normalizers), ("pre_tokenizer", pre_tokenizers), ("model", token_models),
                          ("decoder", decoders), ("post_processor", post_processors)):
        parts[name] = choices[i % len(choices)]
    seed("fuzz-tokenizer", str(i), json.dumps(parts, ensure_ascii=False).encode()
         + b"\0ab <s> a-b 12\xc3\xa9\xe4\xbd\xa0 aa\n\xff")
