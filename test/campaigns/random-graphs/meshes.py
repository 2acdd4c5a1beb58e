#!/usr/bin/env python3
"""Random models on random meshes: every pass from shard on keeps what they compute.

usage: meshes.py [--seeds FIRST:LAST] [--jobs N] [--precision f32|bf16|f16]
                 [--work DIR] [--no-reduce]

A seed grows a model (growth.py), spreads its parameters over units, and chooses the
mesh and how its ranks share the model. The interpreter runs what each of PHASES makes
as all ranks, two steps of rows of their own each, and compares it with the one before.
The plan runs in random orders that its events allow as well. Then events are taken out
of it, one at a time: weft-verify-plan refuses what is left, or it runs in random orders
and computes the same.
Failures are reported as those of campaign.py.
"""
import copy
import random
import subprocess

from campaign import Check, Failure, call, main

# The change that a phase may cause, relative to the largest element of a tensor.
# Partition adds up norms in another order; fuse makes constants f32; commands do
# the arithmetic of their ops.
PHASES = {"working-copies": None, "shard": "1e-12", "bucket": "1e-12", "partition": "1e-12",
          "fuse": "2e-5", "lower-to-plan": "0", "verify-plan": "0"}
# Random orders of each plan, and events that are taken out of it.
ORDERS, EVENTS = 2, 3
MESHES = ["dp:1", "dp:2", "dp:2", "dp:3", "dp:3", "dp:4", "replica:2,shard:2", "replica:3,shard:2",
          "replica:2,shard:3"]


def count_ranks(mesh):
    ranks = 1
    for axis in mesh.split(","):
        ranks *= int(axis.split(":")[1])
    return ranks


class Layout:
    """How ranks share the model of a seed: the same when it becomes smaller."""

    def __init__(self, seed, precision):
        dice = random.Random(f"layout {seed}")
        self.units, self.seed = dice.choice([1, 2, 3, 6]), seed
        self.mesh, stage = dice.choice(MESHES), dice.randrange(4)
        self.flags = [f"--mesh={self.mesh}", f"--zero={stage}", f"--sync={dice.choice(['each', 'last'])}",
                      f"--shard-align={dice.choice([1, 1, 2, 7, 16, 128])}",
                      f"--shard-min={dice.choice([0, 0, 2, 5, 40])}", f"--bucket={self.bucket(dice)}"]
        if stage == 3 and dice.random() < 0.4:
            self.flags.append("--reshard=off")
        if dice.random() < 0.3:
            self.flags.append("--accumulation=off")
        optimizer = dice.choice(["adamw", "adam", "sgd", "sgd --nesterov"]).split()
        self.flags += ["--optimizer", *optimizer, "--clip-norm", dice.choice(["1", "2", "2", "inf"])]
        if precision != "f32" and dice.random() < 0.5:
            self.flags.append("--grad-dtype=torch")
        dice = random.Random(f"communication {seed}")
        # Only partition adds the roundings of these flags; the phases before it do not.
        self.rounds = False
        for flag in ["--reduce-dtype", "--gather-dtype"][:1 + (stage > 0)]:
            if dice.random() < 0.2:
                dtype = dice.choice(["bf16", "f16", "f32"])
                self.flags.append(f"{flag}={dtype}")
                self.rounds |= dtype != "f32" or flag == "--reduce-dtype" and precision != "f32"
        self.has_rules = dice.random() < 0.3
        schedule = random.Random(f"schedule {seed}")
        prefetch = schedule.choice([0, 1, 1, 2, 3])
        self.flags.append(f"--prefetch={prefetch}")
        if prefetch > 0 and schedule.random() < 0.25:
            self.flags.append("--comm-streams=1")
        if prefetch > 0 and schedule.random() < 0.25:
            self.flags.append(f"--prefetch-backward={schedule.randint(0, 3)}")
        if prefetch > 0 and schedule.random() < 0.25:
            self.flags.append("--prefetch-max=4")

    def rules(self, parameters):
        """The text of a file of rules: some of them are to be sharded, or not to be."""
        lists = {"replicated": [], "sharded": []}
        for name in parameters:
            choice = random.Random(f"rule {self.seed} {name}").choice(["replicated", "sharded", None])
            if choice:
                lists[choice].append(name.replace(".", r"\."))
        return "".join(f"[[rule]]\nmatch = '^({'|'.join(names)})$'\nlayout = \"{layout}\"\n"
                       for layout, names in lists.items() if names)

    @staticmethod
    def bucket(dice):
        return dice.choice(["scope", f"bytes:{4 ** dice.randint(1, 7)}", f"params:{4 ** dice.randint(0, 5)}"])

    def scope(self, parameter):
        return f"h.{random.Random(f'{self.seed} {parameter}').randrange(self.units)}"


class MeshCheck(Check):
    """A model and its layout in a folder of their own."""

    def __init__(self, graph, folder, precision):
        super().__init__(graph, folder, precision)
        self.layout = Layout(graph.seed, precision)

    def text(self):
        """The model; its parameters belong to units."""
        lines = self.graph.text(" ".join(self.layout.flags)).split("\n")
        for number, line in enumerate(lines):
            if "weft.param @" in line:
                scope = self.layout.scope(line.split("@")[1].split()[0])
                lines[number] = line.replace("{init", f'{{scope = "{scope}", init')
        return "\n".join(lines)

    def rows(self):
        """Inputs of all ranks, other ones for each."""
        found = {}
        for rank in range(count_ranks(self.layout.mesh)):
            other = copy.copy(self.graph)
            other.seed += 100003 * rank
            found.update((f"rank{rank}/{name}", tensor) for name, tensor in other.tensors("input").items())
        return found

    def rule_flags(self):
        if not self.layout.has_rules:
            return []
        names = [line.split("@")[1].split()[0] for line in self.text().split("\n") if "weft.param @" in line]
        with open(self.path("rules.toml"), "w") as file:
            file.write(self.layout.rules(names))
        return ["--shard-rules=" + self.path("rules.toml")]

    def run(self):
        self.write(self.text(), self.rows())
        call("compile", "weft", "compile", self.path("model.mlir"), "--to=verify-plan", "-o", self.path("plan.mlir"),
             "--dump-dir=" + self.path("dumps"), "--precision=" + self.precision, *self.layout.flags, *self.rule_flags())
        dumps, before = self.dumps(), None
        for phase, bound in PHASES.items():
            # The mean over the targets of all ranks, which have weights, is partition's.
            differs = phase == "partition" and (self.layout.rounds or " weight %" in self.graph.text())
            if before and not differs:
                self.compare_phase(phase, before, dumps[phase], bound)
            before = dumps[phase]
        self.compare_orders(dumps["lower-to-plan"], dumps["verify-plan"])

    def compare_orders(self, ordered, plan):
        """The plan, whole and without some of its events, in orders that are left."""
        dice = random.Random(f"orders {self.graph.seed}")
        with open(plan) as file:
            lines = file.readlines()
        events = [i for i, line in enumerate(lines) if line.split()[:1] in (["plan.record"], ["plan.wait"])]
        for _ in range(ORDERS if events else 0):
            self.compare_phase("stream-order", ordered, plan, "0", f"--stream-order={dice.randrange(1, 10**9)}")
        for event in dice.sample(events, min(EVENTS, len(events))):
            path = self.path("without.mlir")
            with open(path, "w") as file:
                file.writelines(lines[:event] + lines[event + 1:])
            verified = subprocess.run(["weft-opt", "--weft-verify-plan", path, "-o", "/dev/null"], capture_output=True,
                                      text=True)
            if verified.returncode == 0:
                self.compare_phase(f"without {lines[event].strip()}, line {event + 1}", ordered, path, "0",
                                   f"--stream-order={dice.randrange(1, 10**9)}")
            elif "error: 'plan." not in verified.stderr:
                raise Failure("verify", verified.stderr)

    def compare_phase(self, phase, before, after, bound, *more):
        try:
            # Adam would divide by gradients that are rounding alone.
            self.compare_modules(before, after, bound, "--steps=2", "--set", "eps=1e-3", *more)
        except Failure as failure:
            raise Failure(phase, f"{' '.join(self.layout.flags)}\n{failure.text}")


if __name__ == "__main__":
    main(MeshCheck, __doc__)
