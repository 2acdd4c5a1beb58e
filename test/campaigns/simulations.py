"""simulations.py --work DIR --seeds A:B: what `weft compile --dry-run` says, of random models, meshes and clusters.

Of each: time, exposed time and memory are those that `weft inspect` tells of the compiled program; each line beside the first
is what its own mesh and stage give when they are asked for; with --prefetch-max no program gets longer, its weights after three
steps have the same bits, and at most one more unit than that is gathered at a time. Then cluster and cost tables with an
entry that was damaged: an error at the file (exit 3), or a table that works, in no more than a minute.
"""
import argparse
import hashlib
import importlib.util
import json
import pathlib
import random
import shutil
import subprocess
import sys

spec = importlib.util.spec_from_file_location("memory_limits", pathlib.Path(__file__).with_name("memory-limits.py"))
models = importlib.util.module_from_spec(spec)
spec.loader.exec_module(models)
call = models.call

VALUES = ["0", "-1", "1e-7", "1e13", "5e-324", "1e308", "nan", "inf", "-inf", "true", '"1"', "[1]", "{ a = 1 }", "1979-05-27", "0x7fffffffffffffff",
          "1.0000000000000002", "100001", "''"]


def rate(rng, least, most):
    return f"{10 ** rng.uniform(least, most):.6g}"


def make_costs(rng, prefix=""):
    """Lines of a cost table."""
    lines = [f"gflops = {rate(rng, 0, 5)}", f"gigabytes_per_second = {rate(rng, 0, 3)}", f"overhead_us = {rate(rng, -1, 2)}"]
    for part in rng.sample(["gemm", "gemm.f32", "launch", "bf16", "attention"], rng.randint(0, 3)):
        lines += [f"[{prefix}{part}]", f"gflops = {rate(rng, 0, 5)}"]
    lines += [f"[{prefix}link]", f"latency_us = {rate(rng, 0, 4)}", f"gigabytes_per_second = {rate(rng, -1, 2)}"]
    for name in rng.sample(["slows_compute", "slows_compute_across", "beside_us", "begin_us"], rng.randint(0, 4)):
        lines.append(f"{name} = {round(rng.random() * 0.9, 3) + 0.01 if name.startswith('slows_compute') else rate(rng, 0, 3)}")
    if rng.random() < 0.5:
        lines += [f"[{prefix}all_gather]", f"overhead_us = {rate(rng, 0, 4)}"]
    return lines


def make_cluster(rng):
    lines = ['target = "cpu"', f"ranks_per_node = {rng.choice([1, 2, 3, 4, 8, 100])}",
             f"ranks_per_core = {rng.choice([1, 1, 1.5, 4])}",
             f'algorithm = "{rng.choice(["ring", "direct", "hierarchical"])}"']
    if rng.random() < 0.8:
        for link in ("node", "network"):
            lines += [f"[{link}]", f"gigabytes_per_second = {rate(rng, -1, 3)}", f"latency_us = {rate(rng, -1, 3)}"]
    return lines + (["[costs]"] + make_costs(rng, "costs.") if rng.random() < 0.5 else [])


def make_mesh(rng):
    return rng.choice([f"dp:{rng.choice([2, 3, 4, 8, 16, 1024])}", f"replica:{rng.choice([2, 3, 4])},shard:{rng.choice([2, 3, 4, 8])}"])


class Simulation:
    def __init__(self, seed, folder):
        self.rng = rng = random.Random(f"simulations {seed}")
        self.folder, self.model = folder, folder / "model"
        models.make_model(rng, self.model)
        self.mesh, self.zero = make_mesh(rng), rng.randrange(4)
        self.flags = [flag for flag in models.make_flags(rng) if not flag.startswith(("--mesh", "--zero", "--prefetch"))]
        self.prefetch = rng.choice([0, 1, 1, 2])
        self.flags.append(f"--prefetch={self.prefetch}")
        (folder / "cluster.toml").write_text("\n".join(make_cluster(rng)) + "\n")
        self.flags.append(f"--cluster={folder / 'cluster.toml'}")
        if "[costs]" not in (folder / "cluster.toml").read_text():
            (folder / "costs.toml").write_text("\n".join(make_costs(rng)) + "\n")
            self.flags.append(f"--cost-table={folder / 'costs.toml'}")

    def layout(self, mesh, zero):
        return [f"--mesh={mesh}", f"--zero={zero}"]

    def simulate(self, mesh, zero, *more):
        text = call("weft", "compile", self.model, *self.flags, *self.layout(mesh, zero), *more, "--dry-run", "--json")
        return json.loads(text)["simulated"]

    def check_program(self, first):
        """Compares the simulation with the metadata of the compiled program."""
        program = self.folder / "program"
        call("weft", "compile", self.model, *self.flags, *self.layout(self.mesh, self.zero), "-o", program)
        schedule = json.loads(call("weft", "inspect", program, "--schedule", "--json"))
        ends = {name: max(row[8] + row[9] for row in rows) for name, rows in schedule["schedule"].items() if rows}
        self.near("step_us", first["step_us"], ends["micro"] + ends["apply"])
        overlap = schedule.get("overlap") or {}
        self.near("exposed_us", first["exposed_us"], sum(overlap[name]["exposed_us"] for name in ("micro", "apply") if name in overlap))
        memory = json.loads(call("weft", "inspect", program, "--memory", "--json"))["memory"]
        if memory["arena_bytes"] != first["peak_bytes"]:
            raise ValueError(f"peak_bytes: {first['peak_bytes']}, but the arena has {memory['arena_bytes']}")

    @staticmethod
    def near(what, found, wanted):
        if abs(found - wanted) > 0.01 + 1e-6 * wanted:
            raise ValueError(f"{what}: {found}, but the program says {wanted}")

    def check_lines(self, outlooks):
        """One of the others, asked for by itself."""
        working = [o for o in outlooks[1:] if "problem" not in o]
        if not working:
            return
        other = self.rng.choice(working)
        alone = self.simulate(other["mesh"], other["zero"])[0]
        if alone != other:
            raise ValueError(f"{other}, but by itself {alone}")

    def digest(self, *more):
        program, saves = self.folder / "run", self.folder / "saves"
        shutil.rmtree(saves, ignore_errors=True)
        call("weft", "compile", self.model, *self.flags, "--mesh=dp:2", "--zero=3", *more, "-o", program)
        call(program, "--data", self.text, "--steps=3", "--loopback=2", "--progress=none", "--save-dir", saves)
        files = sorted(saves.glob("step_*/*.safetensors"))
        return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()

    def check_ahead(self):
        if self.prefetch == 0:
            return
        most = f"--prefetch-max={self.prefetch + self.rng.randint(0, 3)}"
        before, after = (self.simulate(self.mesh, self.zero, *more)[0]["step_us"] for more in ((), (most,)))
        if after > before * (1 + 1e-9):
            raise ValueError(f"{most}: {after} us, but without {before}")
        if self.digest() != self.digest(most):
            raise ValueError(f"{most}: other bits")

    def check_damaged(self):
        """Each line of a file in turn with a value that it may not have."""
        for name in ("cluster.toml", "costs.toml"):
            path = self.folder / name
            if not path.exists():
                continue
            lines = path.read_text().splitlines()
            places = [i for i, line in enumerate(lines) if "=" in line]
            for place in self.rng.sample(places, min(3, len(places))):
                value = self.rng.choice(VALUES)
                damaged = lines[:place] + [lines[place].split("=")[0] + "= " + value] + lines[place + 1:]
                path.write_text("\n".join(damaged) + "\n")
                ended = subprocess.run(["weft", "compile", self.model, *self.flags, *self.layout(self.mesh, self.zero), "--emit=plan", "-o",
                                        self.folder / "plan.mlir"], capture_output=True, text=True, timeout=60)
                if ended.returncode not in (0, 3) or (ended.returncode == 3 and name not in ended.stderr):
                    raise ValueError(f"{damaged[place]}: exit {ended.returncode}: {ended.stderr}")
            path.write_text("\n".join(lines) + "\n")

    def check(self):
        outlooks = self.simulate(self.mesh, self.zero)
        self.check_program(outlooks[0])
        self.check_lines(outlooks)
        self.check_ahead()
        self.check_damaged()
        return len(outlooks)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", required=True)
    parser.add_argument("--text", required=True)
    args = parser.parse_args()
    begin, end = map(int, args.seeds.split(":"))
    lines, wrong = 0, 0
    for seed in range(begin, end):
        folder = args.work / str(seed)
        folder.mkdir(parents=True)
        simulation = Simulation(seed, folder)
        simulation.text = args.text
        try:
            lines += simulation.check()
            shutil.rmtree(folder)
        except (ValueError, subprocess.TimeoutExpired) as problem:
            wrong += 1
            print(f"seed {seed}: --mesh={simulation.mesh} --zero={simulation.zero} {' '.join(simulation.flags)}: {problem}")
    print(f"{end - begin} models, {lines} lines, {wrong} wrong")
    sys.exit(wrong > 0)


main()
