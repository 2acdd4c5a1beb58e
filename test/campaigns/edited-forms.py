"""Edits the linalg forms of kernels, as a person might.

Each seed takes a kernel of an example and makes one or two edits: an operand or a map exchanged, a nest left out, written
twice or moved, another iterator, type, offset or start of a sum, another fact, other operands in a body. Both targets
refuse the form with an error at a place, or both lower it: then the CPU's code computes what the ops say, one after the
other (form_loops.py). Nothing may crash.

Usage: edited-forms.py --work DIR --source DIR [--seeds A:B] [--models LIST] [--draw SEED] [--list] [--keep]

--draw is the seed of the numbers that the loops see: other ones than the kernels' have to be found.
"""
import argparse
import collections
import concurrent.futures
import math
import pathlib
import random
import re
import shutil
import subprocess
import sys

import form_loops
from mlir_text import PLACE, split
from seeds import seed_range

SMALL = ["--batch", "1", "--seq", "4"]
MODELS = {"mlp": ("mlp.mlir", []), "gpt2-mini": ("gpt2-mini", SMALL), "llama-mini": ("llama-mini", SMALL)}
PASSES = {"cpu": "--weft-lower-to-cpu", "gpu": "--weft-lower-kernels-to-gpu"}
NEST = re.compile(r"linalg\.generic \{indexing_maps = \[(.*)\], iterator_types = \[(.*)\]\}(?: ins\((.*?) : (.*?)\))? "
                  r"outs\((.*?) : (.*)\) \{$")
FILL = re.compile(r"(linalg\.fill ins\(.* : \w+\) outs\()(%\S+) : (.*)\)$")
VALUE = re.compile(r"(%\S+) = memref\.(?:alloca|reinterpret_cast).* (memref<.*>)$")
MEMREF = re.compile(r"memref<((?:\d+x)*)(\w+)(?:, strided<\[([^]]*)\](?:, offset: (\d+))?>)?>")
WORKS = ["addf", "subf", "mulf", "divf", "maximumf", "minimumf"]


# --- Forms ----------------------------------------------------------------------------------------


class Nest:
    """A linalg.generic: its iterators, its operands with their types and maps, its body."""

    def __init__(self, lines):
        maps, iterators, inputs, input_types, outputs, output_types = NEST.match(lines[0]).groups(default="")
        self.maps, self.iterators, self.body = split(maps), split(iterators), lines[1:]
        self.operands, self.types = split(inputs) + split(outputs), split(input_types) + split(output_types)
        self.count = len(split(inputs))

    def copy(self):
        return Nest(self.lines())

    def lines(self):
        def side(word, part):
            return f" {word}({', '.join(self.operands[part])} : {', '.join(self.types[part])})"
        inputs = side("ins", slice(self.count)) if self.count else ""
        return [f"linalg.generic {{indexing_maps = [{', '.join(self.maps)}], iterator_types = "
                f"[{', '.join(self.iterators)}]}}{inputs}{side('outs', slice(self.count, None))} {{", *self.body]


class Form:
    """A function: its head, then declarations, then nests and fills in an order of their own."""

    def __init__(self, text):
        self.read(text)

    def read(self, text):
        self.head, *lines = [line.strip() for line in text.split("\n")]
        self.names, self.steps = [], []
        while lines:
            if NEST.match(lines[0]):
                end = lines.index("}")
                self.steps.append(Nest(lines[:end + 1]))
                del lines[:end + 1]
            else:
                line = lines.pop(0)
                (self.steps if FILL.match(line) else self.names).append(line)
        self.names = [line for line in self.names if line not in ("return", "}", "")]

    def nests(self):
        return [step for step in self.steps if isinstance(step, Nest)]

    def values(self):
        """Names and types of arguments, temporaries and views."""
        values = re.findall(r"(%arg\d+): (memref<.*?>)(?=[,)])", self.head)
        return values + [match.groups() for match in map(VALUE.match, self.names) if match]

    def text(self):
        lines = [self.head, *self.names]
        for step in self.steps:
            lines += step.lines() if isinstance(step, Nest) else [step]
        return "\n".join([*lines, "return", "}", ""])


def forms_in(text):
    """The functions of a module, without names of maps."""
    maps = dict(re.findall(r"^(#map\d*) = (affine_map<.*>)$", text, re.M))
    for function in re.findall(r"^  func\.func .*?^  \}$", text, re.M | re.S):
        yield re.sub(r"#map\d*", lambda name: maps[name[0]], function)


# --- Edits: each changes a form, or gives up ------------------------------------------------------


class Nothing(Exception):
    """The form has nothing to edit so."""


def choose(dice, options):
    options = list(options)
    if not options:
        raise Nothing
    return dice.choice(options)


def exchange_operands(form, dice):
    nest = choose(dice, (nest for nest in form.nests() if len(nest.operands) > 1))
    i, k = dice.sample(range(len(nest.operands)), 2)
    for part in (nest.operands, nest.types):
        part[i], part[k] = part[k], part[i]


def take_other_operand(form, dice):
    nest = choose(dice, form.nests())
    i = dice.randrange(len(nest.operands))
    alike = [value for value in form.values() if value[1] == nest.types[i] and value[0] != nest.operands[i]]
    nest.operands[i], nest.types[i] = choose(dice, alike or form.values())


def leave_out(form, dice):
    form.steps.remove(choose(dice, form.steps))


def repeat(form, dice):
    step = choose(dice, form.steps)
    form.steps.insert(dice.randrange(len(form.steps) + 1), step.copy() if isinstance(step, Nest) else step)


def move(form, dice):
    step = choose(dice, form.steps)
    form.steps.remove(step)
    form.steps.insert(dice.randrange(len(form.steps) + 1), step)


def change_map(form, dice):
    nest = choose(dice, form.nests())
    i = dice.randrange(len(nest.maps))
    loops, results = re.match(r"affine_map<(\(.*\)) -> \((.*)\)>", nest.maps[i]).groups()
    names, results = split(loops[1:-1]), split(results)
    at = dice.randrange(max(1, len(results)))
    other = dice.choice([*names, "0", "d0 + 1", "d0 + d1"])
    results = dice.choice([results[::-1], results[:at] + results[at + 1:], results[:at] + [other] + results[at + 1:]])
    nest.maps[i] = f"affine_map<{loops} -> ({', '.join(results)})>"


def change_iterator(form, dice):
    nest = choose(dice, (nest for nest in form.nests() if nest.iterators))
    i = dice.randrange(len(nest.iterators))
    nest.iterators[i] = {'"parallel"': '"reduction"', '"reduction"': '"parallel"'}[nest.iterators[i]]


def change_type(form, dice):
    """Everywhere in the form."""
    name, kind = choose(dice, form.values())
    sizes, element, strides, _ = MEMREF.match(kind).groups()
    sizes = sizes.split("x")[:-1]
    others = [("x".join([*sizes[::-1], element])), ("x".join([*sizes, "vector<4xf32>"])), f"*x{element}",
              "x".join([*sizes, dice.choice(["f64", "f16", "i32", "i7", "index"])]),
              "x".join([str(int(size) * dice.choice([1, 2])) for size in sizes] + [element]),
              "x".join(["?"] * len(sizes) + [element]), "x".join(["0"] * len(sizes) + [element])]
    other = f"memref<{dice.choice(others)}{f', strided<[{strides}]>' if strides else ''}>"
    text = form.text()
    if dice.random() < 0.5:  # of this value alone, where it is declared
        text = re.sub(rf"({re.escape(name)}: |{re.escape(name)} = .*){re.escape(kind)}", lambda m: m[1] + other, text, count=1)
    else:
        text = text.replace(kind, other)
    form.read(text)


def view_elsewhere(form, dice):
    """An operand with another offset or other strides."""
    nest = choose(dice, form.nests())
    i = dice.randrange(len(nest.operands))
    base, kind = nest.operands[i], nest.types[i]
    sizes, element, strides, offset = MEMREF.match(kind).groups()
    sizes, offset = [int(size) for size in sizes.split("x")[:-1]], int(offset or 0)
    strides = [int(stride) for stride in split(strides)] if strides else [
        math.prod(sizes[at + 1:]) for at in range(len(sizes))]
    for line in form.names:
        view = re.match(rf"{re.escape(base)} = memref\.reinterpret_cast (%\S+) .*: (memref<.*>) to ", line)
        if view:
            base, kind = view.groups()
            break
    offset = dice.choice([offset, offset, 1, 2 ** 40])
    if strides:
        strides[dice.randrange(len(strides))] = dice.choice([0, 1, 2, -1, 2 ** 62])
    to = f"memref<{''.join(f'{size}x' for size in sizes)}{element}, strided<{strides}, offset: {offset}>>"
    form.names.append(f"%moved{len(form.names)} = memref.reinterpret_cast {base} to offset: [{offset}], sizes: {sizes}, "
                      f"strides: {strides} : {kind} to {to}")
    nest.operands[i], nest.types[i] = f"%moved{len(form.names) - 1}", to


def change_in_place(form, dice):
    head = re.search(r"weft\.inplace = \[(.*?)\], weft", form.head)
    lists = [[int(n) for n in re.findall(r"\d+", part.replace("i64", ""))] for part in split(head[1])]
    numbers = range(form.head.count("%arg"))
    chosen = choose(dice, lists)
    if chosen and dice.random() < 0.2:
        chosen.pop()
    else:
        chosen.append(dice.choice([*numbers, -1]))
    spelled = ", ".join(f"array<i64{': ' if part else ''}{', '.join(map(str, part))}>" for part in lists)
    form.head = form.head[:head.start(1)] + spelled + form.head[head.end(1):]


def change_fact(form, dice):
    fact = dice.choice(["kernel_kind", "sizes", "over"])
    head = re.search({"kernel_kind": r"#weft\.kernel_kind<(\w+)>"}.get(fact, rf"weft\.{fact} = array<i64(:? ?[\d, ]*)>"),
                     form.head)
    if fact == "kernel_kind":
        new = dice.choice(["elementwise", "rows", "columns"])
    else:
        numbers = re.findall(r"\d+", head[1])
        numbers = dice.choice([numbers[::-1], numbers[1:], numbers + ["1"], ["0"], ["1"], ["0", "1"]])
        new = f"{': ' if numbers else ''}{', '.join(numbers)}"
    form.head = form.head[:head.start(1)] + new + form.head[head.end(1):]


def change_fill(form, dice):
    """Another start, or another buffer to fill."""
    name, kind = choose(dice, form.values())
    element = MEMREF.match(kind)[2]
    if not element.startswith("f"):
        raise Nothing
    form.names.append(f"%start{len(form.names)} = arith.constant {dice.choice(['0.0', '1.0', '-0.0'])} : {element}")
    fill = f"linalg.fill ins(%start{len(form.names) - 1} : {element}) outs({name} : {kind})"
    fills = [i for i, step in enumerate(form.steps) if not isinstance(step, Nest) and f"outs({name} :" in step]
    if fills:
        form.steps[fills[0]] = fill
    else:
        form.steps.insert(dice.randrange(len(form.steps) + 1), fill)


def change_body(form, dice):
    nest = choose(dice, form.nests())
    lines = [i for i, line in enumerate(nest.body) if re.search(r"arith\.\w+f %|linalg\.yield", line)]
    i = choose(dice, lines)
    line, values = nest.body[i], re.findall(r"%\w+(?=:| =)", "\n".join(nest.body[:i]))
    used = re.findall(r"%\w+", line)[0 if "yield" in line else 1:]
    if "yield" not in line and dice.random() < 0.3:
        nest.body[i] = re.sub(r"arith\.\w+f ", f"arith.{dice.choice(WORKS)} ", line)
        return
    place = line.rindex(choose(dice, used))
    nest.body[i] = line[:place] + re.sub(r"%\w+", dice.choice(values), line[place:], count=1)


EDITS = [exchange_operands, take_other_operand, leave_out, repeat, move, change_map, change_iterator, change_type,
         view_elsewhere, change_in_place, change_fact, change_fill, change_body]


# --- Trying ---------------------------------------------------------------------------------------


def edit(text, name, seed):
    """The names of the edits and the form."""
    dice, form, names = random.Random(f"{name} {seed}"), Form(text), []
    wanted = dice.choice([1, 1, 2])
    while len(names) < wanted:
        change = dice.choice(EDITS)
        try:
            change(form, dice)
            names.append(change.__name__)
        except Nothing:
            pass
        except (AttributeError, ValueError):  # the text after the first edit cannot be read
            break
    form.head = re.sub(r"@\w+", f"@{name}", form.head, count=1)
    return "+".join(names), form.text()


def lower(path, pass_name):
    """The fate of a form, and the output."""
    try:
        result = subprocess.run(["weft-opt", path, pass_name, "-o", "/dev/null"], capture_output=True, text=True,
                                errors="replace", timeout=300)
    except subprocess.TimeoutExpired:
        return "no end", ""
    if result.returncode == 0:
        return "accepted", result.stderr
    if result.returncode != 1:
        return f"ends with {result.returncode}", result.stderr
    return ("refused" if PLACE.search(result.stderr) else "refused without a place"), result.stderr


def examine(path):
    """The fate of a form on both targets."""
    fates = {target: lower(path, name) for target, name in PASSES.items()}
    fate, said = fates["cpu"]
    if fates["gpu"][0] != fate:
        return f"{fate} for the cpu, {fates['gpu'][0]} for the gpu", said + fates["gpu"][1]
    return fate, said


def run_accepted(folder, forms, seed):
    """The fates of the accepted forms, by name."""
    forms = {name: text for name, text in forms.items() if "weft.draw" not in text}
    if not forms:
        return {}
    form_loops.build(folder, list(forms.values()))
    result = subprocess.run([sys.executable, form_loops.__file__, folder, "--draw", str(seed)], capture_output=True,
                            text=True, errors="replace", timeout=600)
    fates = dict(line.split(": ", 1) for line in result.stdout.splitlines())
    return {name: fates.get(name, f"ends the run with {result.returncode}") for name in forms}


class Campaign:
    def __init__(self, args):
        self.args, self.counts = args, collections.Counter()

    def forms_of(self, model):
        source, flags = MODELS[model]
        plan = self.args.work / model / "plan.mlir"
        form_loops.need("weft", "compile", self.args.source / "examples" / source, *flags, "--to", "verify-plan", "-o", plan)
        form_loops.need("weft-opt", plan, "--weft-convert-kernels-to-linalg", "-o", plan.with_name("linalg.mlir"))
        return list(forms_in(plan.with_name("linalg.mlir").read_text()))

    def try_model(self, model, pool):
        """The number of forms that end badly."""
        folder = self.args.work / model
        folder.mkdir()
        found, edited = self.forms_of(model), {}
        for seed in self.args.seeds:
            name = f"k_{model.replace('-', '_')}_{seed}"
            text = random.Random(f"{model} {seed}").choice(found)
            edited[name] = edit(text, name, seed)
            (folder / f"{name}.mlir").write_text(edited[name][1])
        fates = dict(zip(edited, pool.map(examine, [folder / f"{name}.mlir" for name in edited])))
        accepted = {name: edited[name][1] for name in edited if fates[name][0] == "accepted"}
        fates.update((name, (fate, "")) for name, fate in run_accepted(folder, accepted, self.args.draw).items())
        return sum(self.report(name, edited[name], fates[name]) for name in edited)

    def report(self, name, edited, fate):
        is_good = fate[0] in ("refused", "accepted", "equal")
        self.counts[fate[0] if is_good else "bad"] += 1
        if self.args.list or not is_good:
            print(f"{name}, {edited[0]}: {fate[0]}\n{fate[1][:1000]}", flush=True)
        return not is_good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", default="0:1", type=seed_range, help="of each model")
    parser.add_argument("--models", default="mlp,gpt2-mini,llama-mini")
    parser.add_argument("--draw", type=int, default=0)
    parser.add_argument("--list", action="store_true", help="print what became of every form")
    parser.add_argument("--keep", action="store_true", help="the forms, to look at a failure")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    shutil.rmtree(args.work, ignore_errors=True)
    args.work.mkdir(parents=True)
    campaign = Campaign(args)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        failed = sum(campaign.try_model(model, pool) for model in args.models.split(","))
    if not args.keep:
        shutil.rmtree(args.work)
    print(f"{campaign.counts.total()} edited forms: {campaign.counts['refused']} refused, {campaign.counts['equal']} as "
          f"their loops, {campaign.counts['accepted']} not run, {failed} ended badly")
    sys.exit(1 if failed else 0)


main()
