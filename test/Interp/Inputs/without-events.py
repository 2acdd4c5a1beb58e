"""without-events.py PLAN MUTANT INTERP: whether each event of a plan is missed.

Takes one kind of record or wait out of all programs of PLAN, writes MUTANT, and
runs it in several orders: "wrong" if the numbers of one differ from PLAN's.
"""
import re
import subprocess
import sys

plan, mutant, interp = sys.argv[1:]


def run(path, seed):
    done = subprocess.run([interp, path, "--steps=2", f"--stream-order={seed}"],
                          capture_output=True, text=True)
    return done.returncode, done.stdout


lines = open(plan).read().split("\n")
expected = run(plan, 0)
assert expected[0] == 0 and expected[1]
EVENT = re.compile(r"plan\.((?:record|wait) @\w+)")
for event in sorted({m.group(1) for m in map(EVENT.search, lines) if m}):
    kept = [line for line in lines if "plan." + event not in line]
    with open(mutant, "w") as file:
        file.write("\n".join(kept))
    wrong = any(run(mutant, seed) != expected for seed in range(1, 10))
    print(f"without {event}:", "wrong" if wrong else "the same")
