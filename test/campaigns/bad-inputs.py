"""bad-inputs.py --work DIR [--seeds A:B]: damaged data, tokenizers, models and weights.

Each seed damages one input of a command: JSON lines, text, a tokenizer's files, config.json, weights in safetensors or
GGUF, a list of data with globs and weights, or a path (a folder, an unreadable file, a file that vanishes). The command
ends within the time limit with the exit code of an input or a usage error (or with 0, where the damage does not
matter), one error of one line and no signal. It leaves no temporary file and no output that is not whole.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import threading
import time

from seeds import seed_range

LIMIT = 60  # seconds, on a loaded machine
STORED = pathlib.Path(__file__).parent / "Inputs" / "tokenizers"
VALUES = [None, True, -1, 0, 1, 2 ** 31, 2 ** 63, -0.5, 1e308, "", "x", "\u0000", [], [1], [[]], {}, {"a": 1}]


class Wrong(Exception):
    pass


# --- Damage -------------------------------------------------------------------


def damage_bytes(choose, data):
    """Bytes that differ from `data`."""
    kind = choose.randrange(12)
    at = choose.randrange(len(data) + 1)
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + b"\0" * choose.choice([1, 7, 4096]) + data[at:]
    if kind == 2:
        return b"\xef\xbb\xbf" + data
    if kind == 3:
        return data.decode("utf-8", "replace").encode(choose.choice(["utf-16", "utf-16-le", "utf-32"]))
    if kind == 4:
        return data.replace(b"\n", b"\r\n")
    if kind == 5:
        return data[:at] + data[choose.randrange(len(data) + 1):]
    if kind == 6:
        return data[:at] + bytes(choose.randrange(256) for _ in range(8)) + data[at + 8:]
    if kind == 7:
        return data[:at] + choose.choice([b"{" * 5000, b"[" * 200, b'"', b"\\", b"\xff", b",", b"}"]) + data[at:]
    if kind == 8:
        return data + data
    if kind == 9:
        return b""
    if kind == 10:
        return data[:at] + b"x" * (1 << choose.randrange(8, 21)) + data[at:]
    return bytes(choose.randrange(256) for _ in range(choose.randrange(300)))


def places_of(value, path=()):
    yield path
    for key, child in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if len(path) < 5:
            yield from places_of(child, path + (key,))


def damage_json(choose, data):
    """The JSON text of `data` with a value that is missing, of another type, or twice there."""
    data = json.loads(json.dumps(data))
    path = choose.choice([path for path in places_of(data)][:400])
    if not path:
        return json.dumps(choose.choice(VALUES))
    parent = data
    for key in path[:-1]:
        parent = parent[key]
    kind = choose.randrange(4)
    if kind == 0:
        del parent[path[-1]]
    elif kind == 1 and isinstance(parent, dict):
        text = json.dumps(data)
        return text.replace(json.dumps(path[-1]) + ":", json.dumps(path[-1]) + ": 1, " + json.dumps(path[-1]) + ":", 1)
    else:
        parent[path[-1]] = choose.choice(VALUES)
    return json.dumps(data)


def damage_file(choose, path):
    data = path.read_bytes()
    if path.suffix == ".json" and choose.random() < 0.6:
        path.write_text(damage_json(choose, json.loads(data)))
    else:
        path.write_bytes(damage_bytes(choose, data))


# --- Inputs -------------------------------------------------------------------


CONFIG = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 432, "n_positions": 64, "n_embd": 16,
          "n_layer": 1, "n_head": 2, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-05,
          "initializer_range": 0.02, "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0,
          "tie_word_embeddings": True, "eos_token_id": 0, "bos_token_id": 0}
LLAMA = {"model_type": "llama", "vocab_size": 432, "max_position_embeddings": 64, "hidden_size": 16,
         "num_hidden_layers": 1, "intermediate_size": 32, "num_attention_heads": 2, "num_key_value_heads": 1,
         "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": False,
         "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                          "original_max_position_embeddings": 8192}}


def write_tokenizer(choose, folder, form):
    stored = json.loads((STORED / f"{choose.choice(['gpt2', 'qwen2'])}.json").read_text())["tokenizer"]
    if form == "json":
        (folder / "tokenizer.json").write_text(json.dumps(stored))
        (folder / "tokenizer_config.json").write_text(json.dumps(
            {"eos_token": "<s>", "bos_token": {"content": "<s>"}, "chat_template": "{% for m in messages %}{{ m }}"}))
        return
    (folder / "vocab.json").write_text(json.dumps(stored["model"]["vocab"]))
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in stored["model"]["merges"]]
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "GPT2Tokenizer", "eos_token": "<s>", "added_tokens_decoder": {
            "0": {"content": "<s>", "special": True, "single_word": False, "lstrip": False, "rstrip": False,
                  "normalized": False}}}))
    (folder / "special_tokens_map.json").write_text(json.dumps({"eos_token": {"content": "<s>", "lstrip": False}}))
    (folder / "added_tokens.json").write_text(json.dumps({"<new>": 433}))


def write_lines(choose, path):
    lines = [json.dumps({"text": choose.choice(["a cat", "", "é \u0000 x", "日本" * 9]), "id": i}) for i in range(6)]
    path.write_text("\n".join(lines) + "\n")


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, shape in tensors.items():
        size = 4
        for extent in shape:
            size *= extent
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [len(data), len(data) + size]}
        data += bytes(size)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def damage_safetensors(choose, path):
    raw = path.read_bytes()
    if choose.random() < 0.5:
        return path.write_bytes(damage_bytes(choose, raw))
    size = struct.unpack("<Q", raw[:8])[0]
    if choose.random() < 0.2:
        text, size = raw[8:8 + size], choose.choice([0, 1, 2 ** 31, 2 ** 63, 2 ** 64 - 1, size + 1, size - 1])
    else:
        text = damage_json(choose, json.loads(raw[8:8 + size])).encode()
        size = len(text)
    return path.write_bytes(struct.pack("<Q", size) + text + raw[8 + struct.unpack("<Q", raw[:8])[0]:])


# --- Tries --------------------------------------------------------------------

# Each makes the files of a try in the current case and returns a command.


class Case:
    def __init__(self, seed, folder, shared):
        self.choose, self.folder, self.shared = random.Random(seed), folder, shared
        self.undo = lambda: None

    def tokenizer(self, form=None):
        folder = self.folder / "tok"
        folder.mkdir()
        write_tokenizer(self.choose, folder, form or self.choose.choice(["json", "merges"]))
        return folder

    def prepare(self, data, tokenizer):
        return ["data", "prepare", data, "-o", "out.bin", f"--tokenizer={tokenizer}"]

    def lines(self):
        path = self.folder / "a.jsonl"
        write_lines(self.choose, path)
        if self.choose.random() < 0.4:
            path.write_text(self.choose.choice([
                '{"text": 5}\n', '{"text": null}\n', '[1]\n', '"text"\n', '{"text": {"text": "a"}}\n', '{}\n',
                '{"text": "a", "text": "b"}\n', '{"text": "a"}{"text": "b"}\n', '{"text": "a"\n"b"}\n', "\n\n\n", "null\n",
                '{"text": "\\ud800"}\n', '{"text": "a"},\n', "{'text': 'a'}\n", '{"text": ["a"]}\n', '{"text": NaN}\n']))
        else:
            damage_file(self.choose, path)
        return self.prepare(path, self.shared / "tok")

    def text(self):
        path = self.folder / "a.txt"
        path.write_bytes(self.choose.choice([b"", b"\0" * 5000, b"\xff\xfe", b"\n" * 9, b"a" * 300000, b"\xef\xbb\xbf"]))
        return self.prepare(path, self.shared / "tok")

    def token_file(self):
        path = self.folder / "t.bin"
        path.write_bytes(damage_bytes(self.choose, (self.shared / "good.bin").read_bytes()))
        return ["run", "--data", path, "--steps", "1"]

    def tokenizer_file(self):
        folder = self.tokenizer()
        damage_file(self.choose, self.choose.choice(sorted(folder.iterdir())))
        return self.prepare(self.shared / "good.jsonl", folder)

    def missing_file(self):
        folder = self.tokenizer()
        self.choose.choice(sorted(folder.iterdir())).unlink()
        return self.prepare(self.shared / "good.jsonl", folder)

    def wrong_tokenizer(self):
        """Ids above the vocabulary of the model, or a file that is no tokenizer."""
        folder = self.tokenizer("json")
        if self.choose.random() < 0.5:
            return self.prepare(self.shared / "good.jsonl", self.choose.choice(
                [self.shared / "good.jsonl", self.shared / "good.bin", self.shared, self.shared / "weights.safetensors",
                 self.folder / "none", os.devnull]))
        (folder / "config.json").write_text(json.dumps({**CONFIG, "vocab_size": 40}))
        return ["train", folder, "--batch", "1", "--seq", "8", "--steps", "1", "--data", self.shared / "good.jsonl",
                *self.choose.choice([[], ["--generate", "a cat", "--max-new-tokens", "2"]])]

    def config(self):
        folder = self.folder / "model"
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps(self.choose.choice([CONFIG, LLAMA])))
        damage_file(self.choose, folder / "config.json")
        return ["compile", folder, "--to=infer-shapes", "-o", os.devnull]

    def weights(self):
        folder = self.folder / "model"
        shutil.copytree(self.shared / "model", folder)
        if self.choose.random() < 0.3:
            (folder / "model.safetensors").rename(folder / "model-00001-of-00001.safetensors")
            (folder / "model.safetensors.index.json").write_text(json.dumps(
                {"metadata": {"total_size": 1}, "weight_map": {
                    name: "model-00001-of-00001.safetensors" for name in ("wte.weight", "wpe.weight", "ln_f.weight")}}))
            damage_file(self.choose, folder / "model.safetensors.index.json")
        else:
            damage_safetensors(self.choose, folder / "model.safetensors")
        return ["run", "--init-from", folder, "--eval-only", "--val-data", self.shared / "good.bin"]

    def gguf(self):
        path = self.folder / "model.gguf"
        path.write_bytes(damage_bytes(self.choose, (self.shared / "good.gguf").read_bytes()))
        return self.choose.choice([["compile", path, "--to=infer-shapes", "-o", os.devnull],
                                   self.prepare(self.shared / "good.jsonl", path)])

    def data_list(self):
        shutil.copy(self.shared / "good.jsonl", self.folder / "a.jsonl")
        shutil.copy(self.shared / "good.jsonl", self.folder / "b.jsonl")
        a, b = self.folder / "a.jsonl", self.folder / "b.jsonl"
        weight = self.choose.choice(["0", "-1", "nan", "inf", "1e400", "", "x", "0.3", "1e-320", ":", "0x1p3", "1,5"])
        text = self.choose.choice([
            f"{a}:{weight},{b}:1", f"{a}:1,{b}", f"{a},,{b}", ",", f"{self.folder}/*.json", f"{self.folder}/[a", f"{a},",
            f"{self.folder}/**", f"{a}:{weight}", f"{self.folder}/*:{weight}", f"{a},{self.folder}", f"{a}:1:2",
            f"{self.folder}/none.jsonl,{a}", "*" * 3000, "~" + str(a), f"{a},{os.devnull}", f"{a},{self.shared}/good.bin"])
        return self.prepare(text, self.shared / "tok")

    def path(self):
        """A folder, a link to nothing, an unreadable file, a pipe without a writer, or a file that vanishes."""
        path = self.folder / "a.jsonl"
        kind = self.choose.choice(["folder", "link", "loop", "mode", "vanishes", "long"])
        if kind == "folder":
            path.mkdir()
        elif kind == "link":
            path.symlink_to("nowhere")
        elif kind == "loop":
            path.symlink_to(path)
        elif kind == "mode":
            write_lines(self.choose, path)
            path.chmod(0)
        elif kind == "long":
            path = self.folder / ("x" * 300)
        else:
            path.write_text('{"text": "a cat sees a dog"}\n' * 200000)
            timer = threading.Timer(self.choose.random() * 0.5, lambda: path.unlink(missing_ok=True))
            timer.start()
            self.undo = timer.join
        return self.choose.choice([
            self.prepare(path, self.shared / "tok"), ["tokenize", path, f"--tokenizer={self.shared / 'tok'}"],
            ["run", "--data", path, "--tokenizer=bytes", "--steps", "1"] if kind != "vanishes"
            else self.prepare(path, self.shared / "tok")])

    def ids(self):
        path = self.folder / "ids.txt"
        path.write_bytes(self.choose.choice([b"1 2 x", b"99999999999999999999", b"-1", b"1,2", b"\0", b"431 999", b"1.5", b"",
                                             damage_bytes(self.choose, b"1 2 3 4\n5 6\n")]))
        return ["tokenize", path, "--decode", f"--tokenizer={self.shared / 'tok'}"]


TRIES = [Case.lines, Case.text, Case.token_file, Case.tokenizer_file, Case.tokenizer_file, Case.missing_file,
         Case.wrong_tokenizer, Case.config, Case.config, Case.weights, Case.gguf, Case.data_list, Case.path, Case.ids]


# --- Checks -------------------------------------------------------------------


def files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def check_error(code, stderr):
    lines = [line for line in stderr.splitlines() if line.startswith("weft: error: ")]
    if code and len(lines) != 1:
        raise Wrong(f"{len(lines)} errors")
    if code == 0 and lines:
        raise Wrong("an error, but exit 0")
    for line in stderr.splitlines():
        if not line.startswith(("weft: ", "hint: ", "reading ")):
            raise Wrong(f"the line {line[:200]!r}")
        if len(line) > 5000:
            raise Wrong(f"a line of {len(line)} characters")
        if any(ord(c) < 32 for c in line):
            raise Wrong("control characters")


def run(case, command, environment):
    before = set(files_in(case.folder))
    command = [case.shared / "program", *command[1:], "--progress", "none"] if command[0] == "run" else ["weft", *command]
    begin = time.monotonic()
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, timeout=LIMIT, cwd=case.folder,
                              env=environment)
    except subprocess.TimeoutExpired:
        raise Wrong(f"no end within {LIMIT} s") from None
    case.undo()
    stderr = done.stderr.decode("utf-8", "replace")
    shown = f"exit {done.returncode} after {time.monotonic() - begin:.1f} s: {stderr[-800:]}"
    if done.returncode not in (0, 2, 3):
        raise Wrong(shown)
    try:
        check_error(done.returncode, stderr)
    except Wrong as wrong:
        raise Wrong(f"{wrong}; {shown}") from None
    new = set(files_in(case.folder)) - before
    wanted = {"out.bin"} if "out.bin" in command and done.returncode == 0 else set()
    if new != wanted:
        raise Wrong(f"expects the new files {sorted(wanted)}, but got {sorted(new)}; {shown}")
    return done.returncode


# --- The campaign ---------------------------------------------------------------


def must(*command, env):
    done = subprocess.run([str(word) for word in command], capture_output=True, env=env)
    if done.returncode:
        sys.exit(f"bad-inputs.py: error: {command}: {done.stderr.decode('utf-8', 'replace')}")


def make_shared(shared, environment):
    shared.mkdir(parents=True)
    (shared / "tok").mkdir()
    write_tokenizer(random.Random(0), shared / "tok", "json")
    write_lines(random.Random(0), shared / "good.jsonl")
    (shared / "good.jsonl").write_text((shared / "good.jsonl").read_text() * 20)
    model = shared / "model"
    model.mkdir()
    (model / "config.json").write_text(json.dumps(CONFIG))
    must("weft", "compile", model, "--batch", "1", "--seq", "8", "-o", shared / "program", env=environment)
    must("weft", "data", "prepare", shared / "good.jsonl", "-o", shared / "good.bin", f"--tokenizer={shared / 'tok'}",
         env=environment)
    must(shared / "program", "--data", shared / "good.bin", "--steps", "1", "--save-dir", shared / "run", env=environment)
    must("weft", "ckpt", "export", shared / "run", shared / "out", env=environment)
    must("weft", "ckpt", "export", "--format", "gguf", shared / "run", shared / "good.gguf", env=environment)
    shutil.copy(shared / "out" / "model.safetensors", model)
    shutil.copy(shared / "out" / "model.safetensors", shared / "weights.safetensors")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", type=seed_range, default=range(28))
    args = parser.parse_args()
    shared = args.work.absolute() / "shared"
    environment = {**os.environ, "XDG_CACHE_HOME": str(shared / "cache"), "OMP_NUM_THREADS": "1"}
    make_shared(shared, environment)
    wrong, codes = 0, {0: 0, 2: 0, 3: 0}
    for seed in args.seeds:
        make = TRIES[seed % len(TRIES)]
        folder = args.work.absolute() / f"{seed}"
        folder.mkdir()
        case = Case(seed, folder, shared)
        try:
            codes[run(case, make(case), environment)] += 1
            shutil.rmtree(folder)
        except Wrong as problem:
            wrong += 1
            print(f"seed {seed}, {make.__name__}: {problem}", flush=True)
    print(f"{len(args.seeds)} tries, {wrong} wrong; exits {codes}")
    sys.exit(wrong > 0)


main()
