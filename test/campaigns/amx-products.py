"""amx-products.py --tool PRODUCTS [--sweep SWEEP...] [--every N] [--jobs J]: products in tiles (AMX).

Sweep `short`: bf16 in all four layouts, with results of bf16 and f32, M in 1, 16, 63 to 66 and 127 to 130, N and K
from 1 to 130. Sweep `long`: the same M, N and layouts with f32 results, and a K of two to four pieces. Sweep `others`:
20 random shapes of each other type. Each product is right, has the same bits on one thread and on two, and ends no
process. --every N takes every N-th one, but all with the K that oneDNN fails for (kernels/cpu/GemmPlan.h). Without AMX
nothing is tried, unless --anyway.
"""
import argparse
import concurrent.futures
import pathlib
import random
import subprocess
import sys

ROWS = [1, 16, *range(63, 67), *range(127, 131)]
SIZES = range(1, 131)
LONG = [640, 864, 1024, 1696, 2048]  # pieces of at most 608 or 832


def has_tiles():
    return "amx_tile" in pathlib.Path("/proc/cpuinfo").read_text()


def sweep_short(every):
    number = 0
    for layout in range(4):
        for result in ("bf16", "f32"):
            for m in ROWS:
                for n in SIZES:
                    for k in SIZES:
                        number += 1
                        if number % every == 0 or (k == 63 and n in (12, 18, 46)):
                            yield ("bf16", result, layout & 1, layout >> 1, m, n, k)


def sweep_long(every):
    products = [("bf16", "f32", layout & 1, layout >> 1, m, n, k)
                for layout in range(4) for m in ROWS for n in SIZES for k in LONG]
    return products[::min(every, 400)]


def sweep_others(every):
    choice = random.Random(1)
    for kind in ("f32", "f16"):
        for _ in range(20):
            m, n, k = (choice.randint(1, 300) for _ in range(3))
            yield (kind, choice.choice([kind, "f32"]), choice.randint(0, 1), choice.randint(0, 1), m, n, k)


SWEEPS = {"short": sweep_short, "long": sweep_long, "others": sweep_others}


def run(tool, products):
    """The problem of each product. A product that ends the child is one; the next child starts after it."""
    wrong = []
    while products:
        text = "".join(" ".join(map(str, product)) + "\n" for product in products)
        child = subprocess.run([tool], input=text, capture_output=True, text=True)
        answers = child.stdout.split("\n")[:-1]
        wrong += [(product, answer) for product, answer in zip(products, answers) if answer != "ok"]
        if child.returncode == 0 and len(answers) == len(products):
            return wrong
        wrong.append((products[len(answers)], f"ends with {child.returncode} {child.stderr[-200:]}"))
        products = products[len(answers) + 1:]
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", type=pathlib.Path, required=True)
    parser.add_argument("--sweep", nargs="+", choices=SWEEPS, default=list(SWEEPS))
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--anyway", action="store_true")
    args = parser.parse_args()
    if not has_tiles() and not args.anyway:
        print("skipped: the processor has no AMX (amx_tile in /proc/cpuinfo)")
        return
    products = [product for name in args.sweep for product in SWEEPS[name](args.every)]
    pieces = [products[i:i + 500] for i in range(0, len(products), 500)]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        wrong = [one for found in pool.map(lambda piece: run(args.tool, piece), pieces) for one in found]
    for product, what in wrong[:20]:
        print("type, type of C, transA, transB, M, N, K =", *product, ":", what)
    if wrong:
        sys.exit(f"{len(wrong)} of {len(products)} products are wrong")
    print(f"{len(products)} products are right")


if __name__ == "__main__":
    main()
