"""Breaks the commands of plans one at a time.

Every mutant is refused by the parser or weft-verify-plan with an error at a place, or accepted: then it
is a legal plan, of the same program or of another one. The program of an accepted one runs in the plan
interpreter from where the plan that it came from stood (equal, differs, makes-NaN, or stops with an error
at a place), and this is proved: the compiled program of the mutant leaves the same outputs and states
behind, as close as test/campaigns/random-graphs asks for, and the same bits whatever its memory held
before, or stops too; or the compiler refuses the mutant with an error at a place (uncompiled). None may
crash. What makes NaN or stops is always proved; --prove N proves N others of each model, drawn from
the seed; without it all of them.

Mutants of a command: an operand dropped, another buffer for an operand, a view moved by one element,
an attribute changed, the command left out. --cases N tries N of each model, drawn from the seed; without
it all of them, in half an hour to an hour for each precision.

Every input and output under another name, and every fact of the module changed, is tried as well, with
the checks that weft compile makes of a dump: all of them must be refused.

Usage: plan-mutations.py --work DIR --source DIR --tool PLAN-MUTANTS [--seed N] [--cases N] [--prove N]
                         [--precision f32|bf16] [--models LIST] [--only MODEL:LINE:MUTANT] [--list]
"""
import argparse
import collections
import concurrent.futures
import contextlib
import functools
import pathlib
import random
import re
import subprocess
import signal
import sys
import threading

from mlir_text import PLACE, split

parser = argparse.ArgumentParser()
parser.add_argument("--work", type=pathlib.Path, required=True)
parser.add_argument("--source", type=pathlib.Path, required=True)
parser.add_argument("--tool", type=pathlib.Path, required=True, help="test/bin/plan-mutants")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--cases", type=int, help="of each model; default all")
parser.add_argument("--prove", type=int, help="of each model; default all that are accepted")
parser.add_argument("--precision", choices=["f32", "bf16"], default="f32")
parser.add_argument("--models", default="mlp,gpt2-mini,llama-mini")
parser.add_argument("--only", help="one mutant again, as a failure names it")
parser.add_argument("--list", action="store_true", help="print what became of every mutant")
parser.add_argument("--jobs", type=int, default=2)
args = parser.parse_args()

SMALL = ["--batch", "1", "--seq", "4"]
MODELS = {"mlp": ("mlp.mlir", []), "gpt2-mini": ("gpt2-mini", SMALL),
          "llama-mini": ("llama-mini", SMALL)}
PROGRAM = re.compile(r'"plan\.program".*sym_name = "(\w+)"')
COMMAND = re.compile(r'^ *"plan\.(\w+)"\(([^)]*)\) (?:<\{(.*)\}> )?: \((.*)\) -> \(\)$')
BUFFER = re.compile(r'^ *(%\w+) = "plan\.\w+"\(([^)]*)\).* -> (memref<.*>)$')
# Attributes that describe a command and do not change its results.
NOTES = {"est_us", "flops", "scope", "stream"}
ACCEPTED = {"equal", "differs", "makes-NaN", "stops"}
GOOD = {"refused", "equal", "differs"} | {f"{fate}-{proof}" for fate in ACCEPTED
                                          for proof in ("proved", "uncompiled")}


def call(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                            errors="replace", timeout=300)
    return result.returncode, result.stdout + result.stderr


class Command:
    """One command in the generic form, with the buffers of its program; `first` is the line
    of the program's first command."""

    def __init__(self, line, number, program, first, buffers):
        name, operands, attributes, types = COMMAND.match(line).groups()
        self.line, self.number, self.name, self.buffers = line, number, name, buffers
        self.program, self.first = program, first
        self.operands, self.types = split(operands), split(types)
        self.attributes = dict((part.split(" = ", 1) + [None])[:2] for part in split(attributes or ""))

    def text(self, operands=None, types=None, attributes=None, before=""):
        attributes = self.attributes if attributes is None else attributes
        written = ", ".join(name if value is None else f"{name} = {value}"
                            for name, value in attributes.items())
        operands = self.operands if operands is None else operands
        types = self.types if types is None else types
        return (f'{before}"plan.{self.name}"({", ".join(operands)})'
                + (f" <{{{written}}}>" if written else "") + f' : ({", ".join(types)}) -> ()')

    def mutants(self, generator):
        """Pairs of a name and the text for the command's line, a new declaration before it."""
        yield "removed", ""
        for i in range(len(self.operands)):
            yield f"dropped-{i}", self.drop(i)
            other = self.find_other(i, generator)
            if other:
                yield f"swapped-{i}", self.swap(i, *other)
            yield f"moved-{i}", self.move(i)
        for name in self.attributes:
            if name not in NOTES and name != "operandSegmentSizes":
                yield f"changed-{name}", self.change(name, generator)

    def drop(self, i):
        """Together with its place in the segments, so that the others keep theirs."""
        attributes = dict(self.attributes)
        segments = attributes.get("operandSegmentSizes")
        if segments:
            sizes = [int(n) for n in re.findall(r"\d+(?=[,>])", segments)]
            group = next(g for g in range(len(sizes)) if sum(sizes[:g + 1]) > i)
            sizes[group] -= 1
            attributes["operandSegmentSizes"] = f"array<i32: {', '.join(map(str, sizes))}>"
        return self.text(self.operands[:i] + self.operands[i + 1:],
                         self.types[:i] + self.types[i + 1:], attributes)

    def find_other(self, i, generator):
        others = sorted((value, kind) for value, (kind, _) in self.buffers.items()
                        if kind != self.types[i])
        return generator.choice(others) if others else None

    def swap(self, i, value, kind):
        return self.text(self.operands[:i] + [value] + self.operands[i + 1:],
                         self.types[:i] + [kind] + self.types[i + 1:])

    def move(self, i):
        """Another view of the same root, one element later."""
        kind, source = self.buffers[self.operands[i]]
        root = source or self.operands[i]
        shape = re.match(r"memref<((?:\d+x)*)(\w+)", kind)
        if "strided" in kind:
            offset = int((re.search(r"offset: (\d+)", kind) or [0, "0"])[1])
            strides = re.search(r"strided<(\[[^]]*\])", kind)[1]
        else:
            sizes, stride, strides = [int(n) for n in shape[1].split("x")[:-1]], 1, []
            for size in reversed(sizes):
                strides.insert(0, stride)
                stride *= size
            offset = 0
        moved = f"memref<{shape[1]}{shape[2]}, strided<{strides}, offset: {offset + 1}>>"
        view = f'%moved = "plan.view"({root}) : ({self.buffers[root][0]}) -> {moved}\n'
        return self.text(self.operands[:i] + ["%moved"] + self.operands[i + 1:],
                         self.types[:i] + [moved] + self.types[i + 1:], before=view)

    def change(self, name, generator):
        attributes, value = dict(self.attributes), self.attributes[name]
        if value is None or value in ("true", "false"):
            del attributes[name]
        elif value.endswith(": f64"):
            attributes[name] = generator.choice(["0.0", "2.0", "-1.0", "0x7FF8000000000000"]) + " : f64"
        elif re.fullmatch(r"-?\d+ : i64", value):
            number = int(value.split()[0])
            attributes[name] = f"{generator.choice([number + 1, -number - 1, 2 ** 62])} : i64"
        elif value.startswith("#plan<"):
            kind = re.match(r"#plan<(\w+)", value)[1]
            others = {"epilogue": ["relu", "gelu", "relu_grad", "gelu_grad"], "reduction": ["sum"],
                      "update_rule": ["adam", "sgd"], "scaler_policy": ["mmcv", "deepspeed"]}[kind]
            attributes[name] = f"#plan<{kind} {generator.choice(others)}>"
        elif value.startswith("@"):
            attributes[name] = generator.choice([k for k in Command.kernels if k != value])
        elif value.startswith("dense"):
            attributes[name] = re.sub(r"^dense<[^>]*>", "dense<7>" if ": tensor" in value
                                      and re.search(r"i(1|32|64)>$", value) else "dense<7.0>", value)
        else:
            attributes[name] = '"other"'
        return self.text(attributes=attributes)


def read_commands(lines):
    commands, buffers, first, program = [], {}, None, None
    for number, line in enumerate(lines):
        if '"plan.program"' in line:
            buffers, first, program = {}, None, PROGRAM.search(line)[1]
        buffer = BUFFER.match(line)
        if buffer:
            buffers[buffer[1]] = (buffer[3], buffer[2])
        elif COMMAND.match(line) and not re.match(r" *\"plan.(state|output)\"", line):
            first = first or number
            commands.append(Command(line, number, program, first, buffers))
    return commands


class Plan:
    """The plan of a model in the generic form."""

    def __init__(self, model, purpose="commands"):
        self.model, (source, flags) = model, MODELS[model]
        self.folder = args.work / f"{model}-{args.precision}-{purpose}"
        self.folder.mkdir(parents=True)
        self.path = self.folder / "plan.mlir"
        pretty = self.folder / "pretty.mlir"
        for command in (["weft", "compile", args.source / "examples" / source, *flags, "--precision",
                         args.precision, "--to", "verify-plan", "-o", pretty],
                        ["weft-opt", pretty, "--mlir-print-op-generic", "-o", self.path]):
            code, said = call(*command)
            if code != 0:
                sys.exit(f"expects exit 0 of {command}, but got {code}:\n{said}")
        self.lines = self.path.read_text().split("\n")

    def mutants(self):
        Command.kernels = sorted(set(re.findall(r"kernel = (@\w+)", "\n".join(self.lines))))
        # A mutant is the same whichever others are tried.
        return [(self, command, name, text)
                for command in read_commands(self.lines)
                for name, text in command.mutants(random.Random(f"{args.seed} {command.number}"))]


class Tool:
    """A process that knows the results of one plan."""

    def __init__(self, plan):
        self.plan = plan
        self.process = subprocess.Popen([args.tool, plan.path], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def ask(self, program, path, prove):
        """The fate of that program in the file, and the output; the fate is
        an exit status where the process ends."""
        try:
            self.process.stdin.write(f"{program} {path} {int(prove)}\n".encode())
            self.process.stdin.flush()
            answer = self.process.stdout.readline().split()
        except BrokenPipeError:
            answer = []
        if not answer:
            return self.process.wait(), ""
        return answer[0].decode(), self.process.stdout.read(int(answer[1])).decode(errors="replace")

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()


local = threading.local()


def ask(plan, program, path, prove):
    """Each thread has a tool, a new one for another plan or after a crash."""
    tool = getattr(local, "tool", None)
    if not tool or tool.plan is not plan or tool.process.poll() is not None:
        if tool:
            tool.close()
        tool = local.tool = Tool(plan)
    return tool.ask(program, path, prove)


def examine(task, prove=False):
    """The fate of a mutant; a fate outside of GOOD is a failure."""
    plan, command, name, text = task
    lines = list(plan.lines)
    declaration, _, lines[command.number] = text.rpartition("\n")
    if declaration:  # above all commands
        lines[command.first] = f"{declaration}\n{lines[command.first]}"
    path = plan.folder / f"{command.number}-{name}.mlir"
    path.write_text("\n".join(lines))
    fate, said = ask(plan, command.program, path, prove)
    if not args.only:
        path.unlink()
    if fate == -signal.SIGALRM:
        return "no end", said
    if isinstance(fate, int):
        return f"ends the tool with {fate}", said
    if (fate.startswith(("refused", "stops")) or fate.endswith("uncompiled")) and not PLACE.search(said):
        return f"{fate} without a place", said
    return fate, said


PORT = re.compile(r'"plan\.(?:input|output)".*[{ ]name = "(\w[\w.]*)"')
# Edits of the facts of a module; each applies to plans that have the fact.
FACTS = [(r"weft\.batch = \d+", "weft.batch = 7"), (r"weft\.seq = \d+", "weft.seq = 7"),
         (r"weft\.vocab = \d+", "weft.vocab = 7"), (r"limit = \d+", "limit = 0"),
         (r'(weft\.index_input<)"\w+', r'\1"nothing'),
         (r"<optimizers = \[[^]]*\]", '<optimizers = ["lion"]'),
         (r"<optimizers = \[[^]]*\]", "<optimizers = []"),
         (r"scaler = <torch>", "scaler = <none>"),
         (r'weft\.fingerprint = "\w+"', 'weft.fingerprint = ""'),
         (r"plan\.alignment = \d+", "plan.alignment = 1"),
         (r"plan\.arena_bytes = \d+", "plan.arena_bytes = 64"),
         (r"plan\.persistent_bytes = \d+", "plan.persistent_bytes = 64")]


def misnamed(plan):
    """Pairs of a name and the text of a plan with one wrong port or fact."""
    for number, line in enumerate(plan.lines):
        port = PORT.search(line)
        if port:
            wrong = line[:port.start(1)] + port[1] + "x" + line[port.end(1):]
            yield f"{number + 1}:renamed-{port[1]}", "\n".join(
                plan.lines[:number] + [wrong] + plan.lines[number + 1:])
    whole = "\n".join(plan.lines)
    for number, (pattern, text) in enumerate(FACTS):
        changed, count = re.subn(pattern, text, whole, count=1)
        if count and changed != whole:
            yield f"fact-{number}", changed


def try_misnamed(model):
    """How many there are, and how many are not refused at a place."""
    plan, tried, failed = Plan(model, "misnamed"), 0, 0
    for name, text in misnamed(plan):
        path = plan.folder / "misnamed.mlir"
        path.write_text(text)
        code, said = call("weft", "compile", path, "--from=verify-plan", "--emit=plan",
                          "-o", plan.folder / "out.mlir")
        tried += 1
        if code != 3 or not PLACE.search(said):
            failed += 1
            print(f"{model}:{name}: exit {code}\n{said[-1000:]}")
    return tried, failed


def name_of(task):
    plan, command, name, _ = task
    return f"{plan.model}:{command.number + 1}:{name}"


def find_tasks(model):
    tasks = Plan(model).mutants()
    if args.cases:
        tasks = random.Random(args.seed).sample(tasks, args.cases)
    return [task for task in tasks if args.only in (None, name_of(task))]


def draw(tasks, fates):
    """The accepted mutants to prove."""
    accepted = [task for task in tasks if fates[name_of(task)][0] in ACCEPTED]
    if args.prove is None:
        return accepted
    chosen = [task for task in accepted if fates[name_of(task)][0] in ("makes-NaN", "stops")]
    others = [task for task in accepted if task not in chosen]
    return chosen + random.Random(args.seed).sample(others, min(args.prove, len(others)))


def try_model(model, pool):
    """Its mutants, what became of each, and how many were to be proved."""
    tasks = find_tasks(model)
    fates = dict(zip(map(name_of, tasks), pool.map(examine, tasks)))
    drawn = draw(tasks, fates)
    fates.update(zip(map(name_of, drawn), pool.map(functools.partial(examine, prove=True), drawn)))
    return tasks, fates, len(drawn)


def report(tasks, fates):
    """The number of failures."""
    counts, failed = collections.Counter(), 0
    for task in tasks:
        _, command, name, text = task
        fate, said = fates[name_of(task)]
        kind = name.split("-")[0]
        counts[kind, fate] += 1
        is_good = fate in GOOD
        failed += not is_good
        if args.list or args.only or not is_good:
            print(f"{name_of(task)} plan.{command.name}: {fate}")
        if not is_good or args.only:
            print(f"{command.line}\n{text}\n{said[-3000:]}")
    for kind in sorted({kind for kind, _ in counts}):
        print(f"{kind}: " + ", ".join(f"{n} {fate}" for (k, fate), n in sorted(counts.items())
                                      if k == kind))
    return failed


def main():
    tasks, fates, drawn = [], {}, 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for model in args.models.split(","):
            found, became, proved = try_model(model, pool)
            tasks += found
            fates.update(became)
            drawn += proved
    failed = report(tasks, fates)
    if not args.only:
        counts = [try_misnamed(model) for model in args.models.split(",")]
        tried, kept = (sum(numbers) for numbers in zip(*counts))
        print(f"{tried} wrong ports and facts, {kept} not refused")
        failed += kept
    print(f"{len(tasks)} mutants, {drawn} of the accepted ones drawn for a proof, {failed} ended badly")
    sys.exit(1 if failed or not tasks else 0)


main()
