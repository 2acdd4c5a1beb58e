"""toml-files.py MODEL --work FOLDER [--seeds FIRST:LAST]: every file in TOML, spoilt.

A seed takes a file that a flag reads (parameter groups, shard rules, cast policies,
cost table, cluster), and changes it some times: bytes, lines, values, keys, depth,
size. A case is right if the compiler

  takes the file: exit 0, a plan, and the same bytes a second time; or
  refuses it: exit 2 or 3, no plan, and one error that names the file (or the flag)
  in at most 4000 bytes without control characters,

in 20 s. A file that is no TOML, by Python's parser, is never taken.
"""
import argparse
import pathlib
import random
import re
import subprocess
import sys
import tomllib

from seeds import seed_range

SECONDS, MOST_SAID = 20, 4000

FILES = {
    "groups": ([], """# groups
[[group]]
match = "fc1.*"
name = "first"
lr_scale = 0.5
decay = 0.0
beta2 = 0.95
[[group]]
match = '.*bias'
frozen = true
[[group]]
match = "fc3.weight"
optimizer = "sgd"
momentum = 0.9
nesterov = true
"""),
    "shard-rules": (["--mesh=dp:2", "--zero=3"], """[[rule]]
match = "fc1.weight"
layout = "replicated"
[[rule]]
scope = "fc[23]"
layout = "sharded"
[[rule]]
trainable = false
layout = "replicated"
"""),
    "autocast-lists": (["--precision=bf16"], """lists = "cuda"
[[override]]
op = "gelu|relu"
policy = "f32"
[[override]]
scope = "fc2"
policy = "lower"
"""),
    "cost-table": (["--mesh=dp:2", "--zero=2"], """format = 2
target = "cpu"
gflops = 50.5
gigabytes_per_second = 10
overhead_us = 1e0
f16 = { gflops = 100 }
[gemm.f32]
gflops = 80
[all_gather]
gigabytes_per_second = 4
[link]
latency_us = 20
slows_compute = 0.25
slows_compute_across = 0.125
beside_us = 3
begin_us = 0
dp.gigabytes_per_second = 5
"""),
    "cluster": (["--mesh=dp:4", "--zero=1"], """target = "cpu"
ranks_per_node = 2
ranks_per_core = 1
algorithm = "hierarchical"
node.gigabytes_per_second = 100
node.latency_us = 5
[network]
gigabytes_per_second = 40
latency_us = 20
[costs]
gflops = 1_000
[costs.link]
slows_compute = 0.5
slows_compute_across = 0
"""),
}

VALUES = ["0", "-0", "-1", "1", "1.0", "+1.5e300", "1e400", "5e-324", "nan", "-nan", "inf", "-inf", "9223372036854775807",
          "9223372036854775808", "0xff", "0o17", "0b11", "1_000", "true", "false", '""', "''", '"a"', '"\\u0000"',
          '"\\U0010FFFF"', '"\\""', '"""\na\n"""', "[]", "[[]]", "{}", "{a = 1}", "[1, 'a', {}]", "1979-05-27",
          "1979-05-27T07:32:00Z", "07:32:00", '"("', '"a**"', '"(a|b){9}{9}{9}"', '"[[:alpha:]]"', "'\\1'",
          "'(a*)*b'", '"é"', '"adam"', '"sharded"', '"f32"', '"ring"']
KEYS = ["match", "gflops", "node", "link", "group", "rule", "override", "costs", "f16", "gemm", '""', '"a b"', "'\\'",
        "é", "1", "-", "network", "latency_us", "layout", "lists", "name", "optimizer", "link.dp", "gemm.f16.f16"]


def change_bytes(text, choose):
    position = choose.randrange(len(text) + 1)
    new = choose.choice([b"", b"\0", b"\xff", b"\xef\xbb\xbf", b"\r", b"\n", b"\t", b"\x1b[31m", b'"', b"'", b"[", b"]",
                         b"=", b".", b"#", b"{", b"}", bytes([choose.randrange(256)])])
    return text[:position] + new + text[position + choose.randrange(3):]


def change_lines(text, choose):
    lines = text.split(b"\n")
    place, other = choose.randrange(len(lines)), choose.randrange(len(lines))
    match choose.randrange(4):
        case 0:
            del lines[place]
        case 1:
            lines.insert(other, lines[place])
        case 2:
            lines[place], lines[other] = lines[other], lines[place]
        case 3:
            lines = lines[:place]
    return b"\n".join(lines)


def change_value(text, choose):
    found = list(re.finditer(rb"=[^\n]*", text))
    if not found:
        return text
    at = choose.choice(found)
    return text[:at.start()] + b"= " + choose.choice(VALUES).encode() + text[at.end():]


def change_key(text, choose):
    # From where a word begins: text may have 200,000 dots in a row.
    found = list(re.finditer(rb"(?<![\w.])[\w.]+(?= *=|\])", text))
    if not found:
        return text
    at = choose.choice(found)
    return text[:at.start()] + choose.choice(KEYS).encode() + text[at.end():]


def add_depth(text, choose):
    depth = choose.choice([2, 16, 255, 256, 300, 5000, 200000])
    name = choose.choice([b"a", b'"a"', b"link", b"costs"])
    new = choose.choice([
        b".".join([name] * depth) + b" = 1\n",
        b"[" + b".".join([name] * depth) + b"]\n",
        b"[[" + b" . ".join([name] * depth) + b"]]\n",
        b"a = " + b"[" * depth + b"]" * depth + b"\n",
        b"a = " + b"{a = " * depth + b"1" + b"}" * depth + b"\n",
        b"a = " + b"[" * depth + b"\n",
        b"a = '''" + b"\n." * depth + b"'''\n",
        b"# " + b"." * depth + b"\n",
        name + b" = '" + b"." * depth + b"'\n",
        b"match = '" + b"(" * depth + b"a" + b")" * depth + b"'\n",
        b"".join(b"[[group]]\nmatch = 'a%d'\nlr_scale = 2\n" % i for i in range(min(depth, 5000))),
    ])
    return text + new if choose.random() < 0.5 else new + text


CHANGES = [change_bytes, change_lines, change_value, change_value, change_key, add_depth]


def make_case(seed):
    choose = random.Random(seed)
    flag = choose.choice(list(FILES))
    flags, text = FILES[flag]
    text = text.encode()
    for _ in range(choose.choice([0, 1, 1, 2, 3, 6])):
        text = choose.choice(CHANGES)(text, choose)
    return flag, flags, text


def is_toml(text):
    """False only where Python's parser says so; it has its own limits of depth."""
    try:
        tomllib.loads(text.decode("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        return False
    except (RecursionError, ValueError):
        return True
    return True


def compile_with(model, flag, flags, file, plan):
    plan.unlink(missing_ok=True)
    command = ["weft", "compile", model, *flags, f"--{flag}={file}", "--emit=plan", "-o", plan]
    try:
        result = subprocess.run(list(map(str, command)), capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None, b""
    return result.returncode, result.stderr


def find_problem(args, seed):
    """The problem of a seed, or None; and the exit code."""
    flag, flags, text = make_case(seed)
    file, plan = args.work / f"{flag}.toml", args.work / "plan.mlir"
    file.write_bytes(text)
    code, said = compile_with(args.model, flag, flags, file, plan)
    if file.read_bytes() != text:
        return "the file was changed", code
    if code == 0:
        if not is_toml(text):
            return "takes what is no TOML", code
        first = plan.read_bytes()
        again, _ = compile_with(args.model, flag, flags, file, plan)
        if again != 0:
            return f"ends with {again} a second time", code
        return (None if plan.read_bytes() == first else "the plan differs a second time"), code
    if code not in (2, 3):
        return f"ends with {code}: {said[-300:]}", code
    if plan.exists():
        return "leaves a plan", code
    if said.count(b"weft: error: ") != 1:
        return f"does not say one error: {said[:300]}", code
    if (file.name.encode() not in said and f"--{flag}".encode() not in said):
        return f"the error does not name the file: {said[:300]}", code
    if len(said) > MOST_SAID:
        return f"says {len(said)} bytes", code
    if re.search(rb"[\0-\x08\x0b-\x1f\x7f]", said):
        return f"says control characters: {said[:300]}", code
    return None, code


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", type=seed_range, default=range(200))
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    wrong = taken = 0
    for seed in args.seeds:
        problem, code = find_problem(args, seed)
        taken += code == 0
        if problem:
            wrong += 1
            print(f"seed {seed}: --{make_case(seed)[0]}: {problem}", flush=True)
    print(f"{len(args.seeds)} files, {taken} taken, {wrong} wrong")
    sys.exit(wrong > 0)


main()
