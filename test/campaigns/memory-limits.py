"""memory-limits.py --work DIR --seeds A:B: what --memory-limit promises, of random models and flags.

Of each model: the curve of `weft inspect --tradeoff` goes down in bytes and up in time; its smallest limit works and
one byte less is refused with that number; at limits between, the program takes no more than the limit, is what the
flags that were chosen give by themselves, is estimated to be no slower than --recompute=none or =blocks where that
fits, and trains to the bit as without a limit (but where fast numerics round by kernels). A limit that nothing but
recomputation meets is refused with --recompute=none.
"""
import argparse
import hashlib
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys


def run(*command):
    return subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True)


def call(*command):
    ended = run(*command)
    if ended.returncode != 0:
        raise ValueError(f"{' '.join(map(str, command))}: exit {ended.returncode}\n{ended.stderr[-2000:]}")
    return ended.stdout


def make_model(rng, folder):
    heads, size = rng.choice([1, 2, 4]), rng.choice([8, 16])
    layers, width = rng.randint(1, 5), heads * size
    drop = rng.choice([0.0, 0.0, 0.2])
    gpt2 = {"model_type": "gpt2", "vocab_size": rng.choice([256, 300]), "n_positions": 64, "n_embd": width, "n_layer": layers,
            "n_head": heads, "activation_function": rng.choice(["gelu_new", "relu", "gelu"]), "resid_pdrop": drop,
            "embd_pdrop": drop, "attn_pdrop": drop}
    llama = {"model_type": "llama", "vocab_size": 256, "hidden_size": width, "intermediate_size": rng.choice([24, 40]),
             "num_hidden_layers": layers, "num_attention_heads": heads, "num_key_value_heads": rng.choice([1, heads]),
             "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "hidden_act": "silu", "tie_word_embeddings": rng.random() < 0.5}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(rng.choice([gpt2, llama])))


def make_flags(rng):
    flags = [f"--batch={rng.choice([2, 4, 8])}", f"--seq={rng.choice([16, 32, 64])}"]
    flags += rng.choice([[], [], ["--precision=bf16"], ["--precision=f16"], ["--precision=f16", "--recipe=llm"]])
    flags += rng.choice([[], [], ["--accumulation=off"]])
    flags += rng.choice([[], [], ["--numerics=fast"], ["--bucket=scope"], ["--optimizer=sgd"]])
    if rng.random() < 0.5:
        flags += ["--mesh=dp:2", f"--zero={rng.choice([0, 1, 2, 3, 3, 3])}", f"--prefetch={rng.choice([0, 1, 1, 2])}"]
    return flags


def digest(saves):
    files = sorted(saves.glob("step_*/*.safetensors"))
    assert files, saves
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


class Case:
    def __init__(self, seed, work, text):
        self.rng, self.folder, self.text = random.Random(seed), work / str(seed), text
        make_model(self.rng, self.folder)
        self.flags = make_flags(self.rng)

    def compile(self, name, *more):
        return run("weft", "compile", self.folder, *self.flags, *more, "-o", self.folder / name)

    def curve(self, *more):
        return json.loads(call("weft", "inspect", self.folder, *self.flags, *more, "--tradeoff", "--json"))["tradeoff"]

    def plan(self, *more):
        return call("weft", "compile", self.folder, *self.flags, *more, "--emit=plan")

    def train(self, name):
        program, saves = self.folder / name, self.folder / (name + "-saves")
        shutil.rmtree(saves, ignore_errors=True)
        more = ("--loopback", 2) if "--mesh=dp:2" in self.flags else ()
        call(program, "--data", self.text, "--steps", 4, "--seed", 7, "--progress=none", "--save-dir", saves, *more)
        return digest(saves)

    def bytes(self, name):
        memory = json.loads(call("weft", "inspect", self.folder / name, "--memory", "--json"))["memory"]
        return memory["arena_bytes"] + memory.get("constant_bytes", 0)

    def expect(self, holds, what):
        if not holds:
            raise ValueError(f"{' '.join(self.flags)}: expects {what}")

    def check_curve(self, curve):
        for larger, smaller in zip(curve, curve[1:]):
            self.expect(larger["limit"] > smaller["limit"] and larger["step_us"] < smaller["step_us"], "a curve that falls")

    def check_smallest(self, smallest):
        ended = self.compile("smallest", f"--memory-limit={smallest}")
        self.expect(ended.returncode == 0, f"{smallest} bytes to work: {ended.stderr[:300]}")
        self.expect(self.bytes("smallest") <= smallest, "no more than the smallest limit")
        ended = self.compile("less", f"--memory-limit={smallest - 1}")
        self.expect(ended.returncode == 4 and f"the smallest limit that works is {smallest};" in ended.stderr,
                    f"{smallest - 1} bytes to be refused, and {smallest} named: {ended.returncode} {ended.stderr[-300:]}")
        self.expect("largest buffers at the peak" in ended.stderr and "peak at" in ended.stderr, "peak and buffers")

    def check_between(self, limit, wanted):
        ended = self.compile("limited", f"--memory-limit={limit}")
        self.expect(ended.returncode == 0, f"{limit} bytes to work: {ended.stderr[:300]}")
        self.expect(self.bytes("limited") <= limit, f"no more than {limit} bytes")
        # Fast numerics round where a kernel stores: recomputed values may be fused differently.
        is_rounded = "--numerics=fast" in self.flags and any(flag.endswith("f16") for flag in self.flags)
        self.expect(is_rounded or self.train("limited") == wanted, f"the same bits with {limit} bytes")
        plan = self.plan(f"--memory-limit={limit}")
        chosen = [f"--{flag}={value}" for flag, value in re.findall(r'[{ ](recompute|reshard) = "([^"]*)"', plan)]
        alone = self.plan(*chosen)
        without = re.sub(r'"memory-limit" = "[^"]*"(, )?', "", plan)
        self.expect(without == alone or without.replace(", }", "}") == alone, f"what {chosen} give")
        for other in ("none", "blocks"):
            if self.estimate(f"--recompute={other}")["limit"] <= limit:
                self.expect(self.estimate(*chosen)["step_us"] <= self.estimate(f"--recompute={other}")["step_us"],
                            f"{chosen} to be no slower than --recompute={other}")

    def estimate(self, *more):
        """Bytes and time of one way to compile."""
        reshard = [] if "--zero=3" not in self.flags or any("reshard" in flag for flag in more) else ["--reshard=on"]
        recompute = [] if any("recompute" in flag for flag in more) else ["--recompute=none"]
        curve = self.curve(*more, *reshard, *recompute)
        assert len(curve) == 1, curve
        return curve[0]

    def check(self):
        curve = self.curve()
        self.check_curve(curve)
        largest, smallest = curve[0]["limit"], curve[-1]["limit"]
        self.check_smallest(smallest)
        ended = self.compile("free")
        self.expect(ended.returncode == 0, f"no error: {ended.stderr[:300]}")
        free, wanted = self.bytes("free"), self.train("free")
        # The fastest may recompute, and take less than the program without a limit.
        for limit in {smallest, self.rng.randint(smallest, max(largest, free)), free}:
            self.check_between(limit, wanted)
        if smallest < free:
            ended = self.compile("none", f"--memory-limit={smallest}", "--recompute=none")
            self.expect(ended.returncode == 4, f"--recompute=none to be refused, but got {ended.returncode}")
        return len(curve)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", required=True)
    parser.add_argument("--text", type=pathlib.Path, required=True)
    options = parser.parse_args()
    first, last = map(int, options.seeds.split(":"))
    wrong, points = 0, 0
    for seed in range(first, last):
        try:
            points += Case(seed, options.work, options.text).check()
            shutil.rmtree(options.work / str(seed))
        except ValueError as error:
            wrong += 1
            print(f"seed {seed}: {error}", file=sys.stderr)
    print(f"{last - first} models, {points} points of their curves, {wrong} wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
