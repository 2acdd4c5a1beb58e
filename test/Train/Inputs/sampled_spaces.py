"""sampled_spaces.py KIND...: samples of the models KIND, trained in KIND-run, are the text of all their tokens.

A prompt that ends with a space has it once, whether a token holds it or not.
"""
import subprocess
import sys

PROMPTS = ["the work", "the work ", "the"]


def weft(*words):
    return subprocess.run(["weft", *words], check=True, capture_output=True, text=True).stdout


def decoded(kind, ids):
    with open("ids", "w") as file:
        file.write(" ".join(map(str, ids)))
    return weft("tokenize", "ids", "--decode", f"--tokenizer={kind}")[:-1]


samples = wrong = 0
for kind in sys.argv[1:]:
    weft("compile", kind, "--batch", "1", "--seq", "16", "-o", f"{kind}-program")
    for prompt in PROMPTS:
        with open("prompt", "w") as file:
            file.write(prompt)
        ids = weft("tokenize", "prompt", f"--tokenizer={kind}").split()
        drawn = subprocess.run([f"./{kind}-program", "--resume", f"{kind}-run", "--generate-ids", ",".join(ids),
                                "--max-new-tokens", "4", "--temperature", "0"], check=True, capture_output=True,
                               text=True).stdout.split()
        before, whole = decoded(kind, ids), decoded(kind, ids + drawn)
        rest = whole[len(before):]
        if prompt.endswith(" ") and not before.endswith(" "):
            rest = rest.removeprefix(" ")
        sample = weft("generate", kind, "--batch", "1", "--seq", "16", "--resume", f"{kind}-run", "--prompt", prompt,
                      "--max-new-tokens", "4", "--temperature", "0")
        samples += 1
        if sample != prompt + rest + "\n" or (kind == "words" and rest and " " not in whole):
            wrong += 1
            print(f"{kind}: {sample!r} of {prompt!r} is not {prompt + rest!r}")
print(f"{len(sys.argv) - 1} tokenizers, {samples} samples, {wrong} wrong")
