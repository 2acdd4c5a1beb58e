"""Lays the states of models out at random, and compares with the programs as they were.

A dump of the phase partition is written again with flat states: parameters in random groups and orders,
at random alignments, with gaps and tails; what a step keeps of them in the same layout, in others, or in
states of their own. Losses, gradients, checkpoints and exports of the two programs have the same bytes, one
goes on from a checkpoint of the other, and memory that starts as NaN changes nothing.

With --mutations N the segments of the dump are broken at random instead: weft-opt refuses each with an error at
a place, and ends by itself whatever the text.

Usage: flat-layouts.py --work DIR --source DIR [--seeds A:B] [--models LIST] [--mutations N] [--keep]
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

from seeds import seed_range

parser = argparse.ArgumentParser()
parser.add_argument("--work", type=pathlib.Path, required=True)
parser.add_argument("--source", type=pathlib.Path, required=True)
parser.add_argument("--seeds", default="0:1", type=seed_range, help="layouts of each model")
parser.add_argument("--models", default="net")
parser.add_argument("--mutations", type=int, default=0, help="broken dumps of each layout")
parser.add_argument("--keep", action="store_true", help="the programs, to look at a failure")
args = parser.parse_args()

SMALL = ["--batch", "1", "--seq", "8"]
TEXT = ["--data", args.source / "test/Inputs/corpus.txt"]
IMAGES = ["--data", args.work / "digits.safetensors"]
MODELS = {
    "net": ("test/Train/Inputs/flat-net.mlir", [], IMAGES),
    "net-bf16": ("test/Train/Inputs/flat-net.mlir", ["--precision", "bf16"], IMAGES),
    "net-sgd": ("test/Train/Inputs/flat-net.mlir", ["--optimizer", "sgd"], IMAGES),
    "gpt2-mini": ("examples/gpt2-mini", SMALL, TEXT),
    "llama-mini": ("examples/llama-mini", SMALL, TEXT),
    "gpt2-mini-bf16": ("examples/gpt2-mini", SMALL + ["--precision", "bf16"], TEXT),
    "llama-mini-f16": ("examples/llama-mini", SMALL + ["--precision", "f16"], TEXT),
}
PLACE = re.compile(r"^\S+\.mlir:\d+:\d+: error: ", re.M)
DECLARED = re.compile(r"^ *weft\.(param|state) @(\S+) : tensor<(\S+)>(?: \{(.*)\})?$")
READ = re.compile(r"^( *)(%\S+) = weft\.read @(\S+)(?: \{.*\})? : tensor<(\S+)>$")
WRITE = re.compile(r"@([\w.]+) = (%[\w#]+) : tensor<(\w+)>")


def call(*command, env=None):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=600,
                            errors="replace", env=env)
    return result.returncode, result.stdout + result.stderr


def need(*command, **options):
    code, said = call(*command, **options)
    if code != 0:
        raise RuntimeError(f"expects exit 0 of {' '.join(map(str, command))}, but got {code}:\n{said[-3000:]}")
    return said


# --- A dump ---------------------------------------------------------------------------------------


class Tensor:
    """A parameter or a state as the dump declares it."""

    def __init__(self, line):
        self.what, self.name, kind, self.attributes = DECLARED.match(line).groups()
        *sizes, self.element = kind.split("x")
        self.line, self.sizes, self.attributes = line, [int(n) for n in sizes], self.attributes or ""
        self.count = 1
        for size in self.sizes:
            self.count *= size
        owner = re.search(r"param = @([\w.]+)", self.attributes)
        self.owner = owner[1] if owner else None
        self.kind = (re.search(r"state_kind<(\w+)>", self.attributes) or [None, "param"])[1]

    def source(self):
        found = re.search(r'source = ("[^"]*")', self.attributes)
        return f" source {found[1]}" if found else ""


class Flat:
    """A flat state: tensors of one element type and their places."""

    def __init__(self, name, members, begins, elements, attributes):
        self.name, self.members, self.begins, self.elements = name, members, begins, elements
        self.attributes, self.element = attributes, members[0].element

    def type(self, count=None):
        return f"tensor<{count or self.elements}x{self.element}>"

    def declaration(self):
        parts = []
        for tensor, begin in zip(self.members, self.begins):
            source = tensor.source() if tensor.what == "param" else ""
            parts.append(f"#weft.segment<@{tensor.owner or tensor.name} [{', '.join(map(str, tensor.sizes))}] "
                         f"at {begin} to {begin + tensor.count}{source}>")
        what = "param" if self.members[0].what == "param" else "state"
        return (f"  weft.{what} @{self.name} : {self.type()} "
                f"{{{self.attributes}segments = [{', '.join(parts)}]}}")


def place(members, dice):
    """Begins of the members and the size of the whole."""
    align, begins, end = dice.choice([1, 1, 4, 16, 128]), [], dice.choice([0, 0, 3, 64])
    for tensor in members:
        begins.append(-(-end // align) * align)
        end = begins[-1] + tensor.count + dice.choice([0, 0, 0, 1, 7, 200])
    return begins, end + dice.choice([0, 0, 5, 256])


def split(members, dice):
    """Random groups of one element type each, in random orders; a few in none."""
    groups = {}
    for tensor in members:
        if dice.random() < 0.85:
            groups.setdefault((tensor.element, dice.randrange(3)), []).append(tensor)
    for group in groups.values():
        dice.shuffle(group)
    return list(groups.values())


def lay_out(tensors, dice):
    """Flat states, where no tensor is left with an owner that is in one."""
    flats, homes = [], {}
    for number, group in enumerate(split([t for t in tensors if t.what == "param"], dice)):
        flats.append(Flat(f"flat{number}", group, *place(group, dice), ""))
        homes.update((tensor.name, flats[-1]) for tensor in group)
    slots = {}
    for tensor in tensors:
        if tensor.owner:
            slots.setdefault((tensor.name[len(tensor.owner) + 1:], tensor.kind), []).append(tensor)
    for (slot, kind), states in slots.items():
        attributes = f'kind = #weft.state_kind<{kind}>, slot = "{slot}", '
        left = {state.owner: state for state in states}
        for home in flats[:]:
            if home.members[0].what != "param" or dice.random() < 0.4:
                continue  # the same layout, under its owner
            group = [left.get(tensor.name) for tensor in home.members]
            if any(state is None for state in group) or len({state.element for state in group}) > 1:
                continue
            flats.append(Flat(f"{home.name}.{slot}", group, home.begins, home.elements,
                              f"param = @{home.name}, {attributes}"))
            for state in group:
                del left[state.owner]
        # Another layout: all whose parameter is flat, and some of the others.
        moved = [state for state in left.values() if state.owner in homes or dice.random() < 0.3]
        for element in sorted({state.element for state in moved}):
            group = [state for state in moved if state.element == element]
            dice.shuffle(group)
            flats.append(Flat(f"other.{slot}.{element}", group, *place(group, dice), attributes))
    return flats


class Rewriter:
    """Writes a dump again with flat states."""

    def __init__(self, text, dice):
        self.lines = text.split("\n")
        self.tensors = [Tensor(line) for line in self.lines if DECLARED.match(line)]
        self.flats, self.number = lay_out(self.tensors, dice), 0
        self.place = {tensor.name: (flat, begin) for flat in self.flats
                      for tensor, begin in zip(flat.members, flat.begins)}
        self.known = {tensor.name: tensor for tensor in self.tensors}

    def new(self):
        self.number += 1
        return f"%flat_{self.number}"

    def text(self):
        lines, declared = [], False
        for line in self.lines:
            found = DECLARED.match(line)
            if found and not declared:
                lines += [flat.declaration() for flat in self.flats]
                declared = True
            if "weft.program" in line:
                self.read = {}
            if found and found[2] in self.place:
                continue
            read = READ.match(line)
            if read and read[3] in self.place:
                lines += self.take(read[3], read[2])
            elif line.strip().startswith("weft.return"):
                lines += self.put(line)
            else:
                lines.append(line)
        return "\n".join(lines)

    def whole(self, flat):
        lines = []
        if flat.name not in self.read:
            self.read[flat.name] = self.new()
            lines.append(f"    {self.read[flat.name]} = weft.read @{flat.name} : {flat.type()}")
        return lines

    def take(self, name, value):
        (flat, begin), tensor = self.place[name], self.known[name]
        lines, part = self.whole(flat), self.new()
        shape = "x".join(map(str, tensor.sizes + [tensor.element]))
        return lines + [
            f"    {part} = weft.slice {self.read[flat.name]} offsets [{begin}] sizes [{tensor.count}] strides [1] "
            f": {flat.type()}",
            f"    {value} = weft.reshape {part} : {flat.type(tensor.count)} to tensor<{shape}>"]

    def put(self, line):
        """The writes of a program; other states are read and written back."""
        if " writes " not in line:
            return [line]
        head, writes = line.split(" writes ")
        given, lines, kept = {}, [], []
        for name, value, kind in WRITE.findall(writes):
            if name in self.place:
                given[name] = (value, kind)
            else:
                kept.append(f"@{name} = {value} : tensor<{kind}>")
        for flat in self.flats:
            if any(tensor.name in given for tensor in flat.members):
                lines += self.join(flat, given)
                kept.append(f"@{flat.name} = {lines[-1].split()[0]} : {flat.type()}")
        return lines + [f"{head} writes {', '.join(kept)}"]

    def join(self, flat, given):
        lines, parts, at = [], [], 0

        def add(value, count):
            parts.append((value, flat.type(count)))

        def gap(count):
            if count:
                value = self.new()
                lines.append(f"    {value} = weft.constant dense<0.000000e+00> : {flat.type(count)}")
                add(value, count)

        for tensor, begin in zip(flat.members, flat.begins):
            gap(begin - at)
            value = self.new()
            if tensor.name in given:
                lines.append(f"    {value} = weft.reshape {given[tensor.name][0]} : "
                             f"tensor<{given[tensor.name][1]}> to {flat.type(tensor.count)}")
            else:
                lines += self.whole(flat)
                lines.append(f"    {value} = weft.slice {self.read[flat.name]} offsets [{begin}] sizes "
                             f"[{tensor.count}] strides [1] : {flat.type()}")
            add(value, tensor.count)
            at = begin + tensor.count
        gap(flat.elements - at)
        names, types = zip(*parts)
        lines.append(f"    {self.new()} = weft.concat {', '.join(names)} {{dim = 0}} : {', '.join(types)}")
        return lines


# --- The same bytes -------------------------------------------------------------------------------


def losses(path):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [{key: line.get(key) for key in ("step", "loss", "lr", "grad_norm", "loss_scale")}
            for line in lines if "loss" in line]


def train(folder, program, name, data, *flags, env=None):
    need(folder / program, *data, "--lr", "0.01", "--accum", "2", "--progress", "none", "--steps", "4", "--threads",
         "1", "--save-dir", folder / name, "--metrics", folder / f"{name}.jsonl", *flags, env=env)


def prepare(model):
    """The program as it is, its dump, and a run of it."""
    source, flags, data = MODELS[model]
    folder = args.work / model
    folder.mkdir(parents=True)
    need("weft", "compile", args.source / source, *flags, "--to=partition", "-o", folder / "plain.mlir")
    need("weft", "compile", args.source / source, *flags, "-o", folder / "plain")
    train(folder, "plain", "a", data, "--dump-grads", folder / "a.grads")
    need("weft", "ckpt", "export", folder / "a", folder / "a.out")
    return folder, data


def expect_same(first, second, what):
    if first != second or not first:
        raise RuntimeError(f"expects {what} to be the same, but it is not")


def compare(folder, data, text):
    (folder / "flat.mlir").write_text(text)
    for name in "bcd":
        shutil.rmtree(folder / name, ignore_errors=True)
        shutil.rmtree(folder / f"{name}.out", ignore_errors=True)
    need("weft", "compile", folder / "flat.mlir", "--from=partition", "-o", folder / "flat")
    train(folder, "flat", "b", data, "--dump-grads", folder / "b.grads",
          env=dict(os.environ, WEFT_FAULT="arena:poison"))
    expect_same(losses(folder / "a.jsonl"), losses(folder / "b.jsonl"), "the losses")
    need(sys.executable, args.source / "test/Train/same-runs.py", "tensors", folder / "a.grads", folder / "b.grads")
    need("weft", "ckpt", "diff", folder / "a", folder / "b")
    need("weft", "ckpt", "export", folder / "b", folder / "b.out")
    expect_same(*((folder / f"{name}.out/model.safetensors").read_bytes() for name in "ab"), "the export")
    # Each program resumes the run that the other one stopped.
    for name, order in (("c", ("plain", "flat")), ("d", ("flat", "plain"))):
        train(folder, order[0], name, data, "--stop-after", "2")
        train(folder, order[1], name, data, "--resume", "must")
        need("weft", "ckpt", "diff", folder / "a", folder / name)


# --- Broken segments ------------------------------------------------------------------------------

SEGMENT = re.compile(r"#weft\.segment<@([\w.]+) \[([\d, ]*)\] at (\d+) to (\d+)([^>]*)>")


def mutate(line, dice):
    """A name and the declaration with one wrong segment, list or slot; each must be refused."""
    spans = [match.span() for match in SEGMENT.finditer(line)]
    begin, end = dice.choice(spans)
    name, sizes, first, last, rest = SEGMENT.match(line, begin).groups()
    sizes, first, last = [int(n) for n in sizes.split(",") if n.strip()], int(first), int(last)

    def write(name=name, sizes=sizes, first=first, last=last):
        part = f"#weft.segment<@{name} [{', '.join(map(str, sizes))}] at {first} to {last}{rest}>"
        return line[:begin] + part + line[end:]

    far = dice.choice([2 ** 31, 2 ** 44, 2 ** 62, 2 ** 63 - 1])
    choices = {
        "end": write(last=last + dice.choice([-1, 1, far])),
        "begin": write(first=first + dice.choice([-1, 1])),
        "far": write(first=first + far, last=min(last + far, 2 ** 63 - 1)),
        "negative": write(first=-last, last=-first),
        "size": write(sizes=sizes + [dice.choice([0, -1, 2, far])]),
        "nobody": write(name="nobody"),
        "twice": line[:end] + ", " + line[begin:end] + line[end:],
        "none": re.sub(r"segments = \[.*\]", "segments = []", line),
        "slices": line.replace("segments = ", f"slices = {dice.choice([0, -1, 2 ** 40])} : i64, segments = "),
        "again": re.sub(r"@\S+", "@again", line, count=1) + "\n" + line,
    }
    if "slot = " in line:
        choices["slot"] = re.sub(r'slot = "[^"]*", ', "", line)
    if "param = @" in line:
        choices["owner"] = re.sub(r"param = @[\w.]+", "param = @nobody", line)
        choices["moved"] = write(first=first + 1, last=last + 1)
    kind = dice.choice(sorted(choices))
    return kind, choices[kind]


def scramble(line, dice):
    """Any text; it may even be right."""
    at = dice.randrange(line.index("segments = "), len(line))
    return "scrambled", line[:at] + dice.choice(["", "-", "9", "@", "<", "]", '"', "x 3"]) + line[at + 1:]


def try_mutants(folder, text, dice):
    lines, path = text.split("\n"), folder / "mutant.mlir"
    path.write_text(text)
    need("weft-opt", path, "-o", "/dev/null")
    flat = [i for i, line in enumerate(lines) if "#weft.segment" in line]
    for _ in range(args.mutations):
        number = dice.choice(flat)
        kind, line = dice.choice([mutate, mutate, scramble])(lines[number], dice)
        path.write_text("\n".join(lines[:number] + [line] + lines[number + 1:]))
        code, said = call("weft-opt", path, "-o", "/dev/null")
        if not (code == 1 and PLACE.search(said)) and not (kind == "scrambled" and code == 0):
            raise RuntimeError(f"expects weft-opt to refuse {kind}, but it ends with {code}:\n{line}\n{said[-2000:]}")


def main():
    shutil.rmtree(args.work, ignore_errors=True)
    args.work.mkdir(parents=True)
    need(sys.executable, args.source / "examples/make_mlp_data.py", args.work / "digits.safetensors", "--rows", "64")
    tried = failed = 0
    for model in args.models.split(","):
        folder, data = prepare(model)
        plain = (folder / "plain.mlir").read_text()
        for seed in args.seeds:
            dice, tried = random.Random(f"{model} {seed}"), tried + 1
            try:
                text = Rewriter(plain, dice).text()
                if args.mutations:
                    try_mutants(folder, text, dice)
                else:
                    compare(folder, data, text)
            except (RuntimeError, subprocess.TimeoutExpired) as failure:
                failed += 1
                print(f"{model}, seed {seed}: {failure}", flush=True)
        if not args.keep:
            shutil.rmtree(folder)
    print(f"{tried} layouts, {failed} wrong")
    sys.exit(1 if failed else 0)


main()
