"""train-cache.py EXAMPLES PROCESSES ROUNDS: `weft train` against itself.

Many processes start the same model in an empty cache at once: each must train,
and one of them compiles. Then, in each round, the entry is damaged (cut, a bit
flipped, emptied, its mode taken, replaced by a folder's worth of noise) while
several processes start. Last, the bound on the size of the cache.
"""

import os
import random
import shutil
import stat
import subprocess
import sys

COMMAND = ["weft", "train", "model.mlir", "--data", "digits.safetensors", "--steps", "1",
           "--threads", "1", "--progress", "none"]


def start(count, **environment):
    return [subprocess.Popen(COMMAND, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env={**os.environ, **environment}) for _ in range(count)]


def finish(processes, what):
    """The errors of all, each of which must have trained."""
    texts = []
    for process in processes:
        _, error = process.communicate(timeout=600)
        texts.append(error.decode())
        if process.returncode != 0:
            raise SystemExit(f"{what}: exit {process.returncode}: {texts[-1]}")
    return texts


def entries():
    folder = os.path.join(os.environ["XDG_CACHE_HOME"], "weft")
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]


def only_entry():
    found = entries()
    if len(found) != 1:
        raise SystemExit(f"expects one file in the cache, but got {found}")
    return found[0]


def damage(path, how, dice):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    if how == "mode":
        os.chmod(path, stat.S_IRUSR)
        return
    if how == "cut":
        data = data[:dice.randrange(len(data))]
    elif how == "flip":
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    elif how == "empty":
        data = bytearray()
    else:
        data = bytearray(dice.randbytes(1000))
    os.unlink(path)  # a program that runs keeps its own
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, 0o755)


def try_damage(rounds, seed):
    dice = random.Random(seed)
    for number in range(rounds):
        how = ("cut", "flip", "empty", "noise", "mode")[number % 5]
        damage(only_entry(), how, dice)
        texts = finish(start(1 + number % 3), f"seed {seed}, round {number}, {how}")
        if not any("the cached program is damaged; compiling again" in text for text in texts):
            raise SystemExit(f"seed {seed}, round {number}, {how}: no warning in {texts}")
        only_entry()


def try_bound():
    """With room for one program, another structure drives this one out."""
    size = os.path.getsize(only_entry())
    first = only_entry()
    result = subprocess.run(COMMAND + ["--optimizer", "sgd"], capture_output=True,
                            env={**os.environ, "WEFT_CACHE_SIZE": str(size + size // 2)})
    if result.returncode != 0 or only_entry() == first:
        raise SystemExit(f"expects another entry: {result.returncode} {result.stderr.decode()}")


def main():
    examples, processes, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    seed = int(os.environ.get("WEFT_CAMPAIGN_SEED", "1"))
    shutil.rmtree(os.environ["XDG_CACHE_HOME"], ignore_errors=True)
    waited = 0
    # A machine under load may run one after the other.
    for _ in range(20):
        waited += sum("another process compiles this model" in text for text in finish(start(processes), "together"))
        only_entry()
        if waited:
            break
        os.unlink(entries()[0])
    else:
        raise SystemExit("no process waited for another")
    try_damage(rounds, seed)
    try_bound()
    print(f"{processes} processes together, {rounds} damaged entries: all trained")


sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "Tools", "Inputs"))
from programs import write_digits  # noqa: E402

if __name__ == "__main__":
    shutil.copy(os.path.join(sys.argv[1], "mlp.mlir"), "model.mlir")
    write_digits("digits.safetensors")
    main()
