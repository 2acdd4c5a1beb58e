"""prefetch.py MODEL TEXT: checkpoints after ten steps do not depend on --prefetch.

Each layout is compiled with every depth and runs as threads; the first one as processes of MPI, too. Programs and
checkpoints are left in the current folder.
"""
import hashlib
import pathlib
import subprocess
import sys

DEPTHS = ("0", "1", "3", "1 --comm-streams=1")
LAYOUTS = [
    (2, "--mesh=dp:2 --zero=3"),
    (2, "--mesh=dp:2 --zero=3 --accumulation=off --precision=f16"),
    (3, "--mesh=dp:3 --zero=2 --sync=each --precision=bf16"),
    (2, "--mesh=dp:2 --zero=1 --gather-dtype=bf16"),
    (3, "--mesh=dp:3 --zero=0 --reduce-dtype=f16"),
    (4, "--mesh=replica:2,shard:2 --zero=3 --precision=f16 --working-copies=off"),
    (2, "--mesh=dp:2 --zero=3 --reshard=off --bucket=bytes:100000 --optimizer=sgd"),
]
# More values of --prefetch, for the first layout only.
MORE = ("2 --prefetch-backward=0", "1 --prefetch-backward=3", "1 --prefetch-max=4", "1 --reshard=h.1,h.3", "1 --reshard=off")
MPI = ("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2")


def call(*command):
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if ended.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {ended.returncode}\n{ended.stderr}")


def digest(saves):
    found = hashlib.sha256()
    files = sorted(pathlib.Path(saves).glob("step_*/*.safetensors"))
    assert files, saves
    for path in files:
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()


def main(model, text):
    runs = 0
    for number, (ranks, flags) in enumerate(LAYOUTS):
        accum = "1" if "--accumulation=off" in flags else "2"
        bits = {}
        for depth in DEPTHS + (MORE if number == 0 else ()):
            program = f"./p{number}-{depth.replace(' ', '')}"
            call("weft", "compile", model, "--batch=1", "--seq=16", *f"--prefetch={depth}".split(), *flags.split(), "-o", program)
            ways = {"threads": (program, "--loopback", str(ranks))}
            if number == 0 and depth == "1":
                ways["processes"] = (*MPI, program)
            for way, command in ways.items():
                saves = f"{program}-{way}"
                call(*command, "--data", text, "--steps", "10", "--accum", accum, "--progress", "none", "--save-dir", saves)
                bits[depth, way] = digest(saves)
                runs += 1
        if len(set(bits.values())) != 1:
            sys.exit(f"{flags}: expects the same bits, but got {bits}")
    print(f"{len(LAYOUTS)} layouts, {runs} runs, all equal")


main(*sys.argv[1:])
