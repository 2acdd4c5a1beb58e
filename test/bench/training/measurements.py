"""The measurements of gpu.py one by one, each kept as soon as it is made."""
import json
import os
import statistics
import tempfile
import time

import gpt2


class State:
    """Results by their key, a line of JSON each. A line that was cut off by the end of its process is dropped."""

    def __init__(self, path):
        self.path, self.results, self.seconds = path, {}, {}
        if not os.path.exists(path):
            return
        whole = 0
        with open(path, "rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                entry = json.loads(line)
                self.keep(tuple(entry["key"]), entry["result"], entry["seconds"])
                whole += len(line)
        os.truncate(path, whole)

    def keep(self, key, result, seconds):
        self.results[key] = result
        self.seconds[key] = seconds

    def add(self, key, result, seconds):
        self.keep(key, result, seconds)
        with open(self.path, "a") as file:
            file.write(json.dumps({"key": key, "result": result, "seconds": seconds}) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def expected(self, key):
        """Seconds that the measurement may take: as long as the longest of its kind and model, else of its kind."""
        for alike in (lambda other: other[0] == key[0] and other[2] == key[2], lambda other: other[2] == key[2]):
            known = [seconds for other, seconds in self.seconds.items() if alike(other)]
            if known:
                return max(known)
        return 0


class Clock:
    """The end of the run, and the measurements that it left open. The first measurement of a kind has no expected time,
    so it may end later."""

    def __init__(self, end):
        self.end, self.open = end, []

    def allows(self, seconds):
        return time.monotonic() + seconds <= self.end


class Measured:
    """Makes measurements of one model that are not in the state. `bench` makes the inputs, once they are needed."""

    def __init__(self, model, state, clock, bench):
        self.model, self.state, self.clock, self.make_bench, self.bench = model, state, clock, bench, None

    def get(self, row, kind, number, measure):
        """The result, or None if the time is over."""
        key = (self.model, row, kind, number)
        if key in self.state.results:
            return self.state.results[key]
        if not self.clock.allows(self.state.expected(key)):
            self.clock.open.append(" ".join(str(part) for part in key if part != ""))
            return None
        start = time.monotonic()
        self.bench = self.bench or self.make_bench()
        result = measure(self.bench)
        self.state.add(key, result, time.monotonic() - start)
        shown = result.get("error") or (f"{result['ms']:.2f} ms" if "ms" in result else "done")
        print("  " + " ".join(str(part) for part in key if part != "") + f": {shown}", flush=True)
        return result


def survey(options, measured, row):
    """PyTorch's fastest way, of those that ran; None if none did."""
    best = None
    for mode in options.modes:
        for attention in options.attention:
            peer = {"mode": mode, "attention": attention}
            result = measured.get("", "survey", f"{mode} {attention}",
                                  lambda bench: bench.torch(row, peer, steps=options.survey_steps, may_fail=True))
            if result and result["ms"] and (best is None or result["ms"] < best[0]):
                best = (result["ms"], peer)
    return best[1] if best else None


def measure(options, folder, model, state, clock):
    """All measurements of a model, as long as the time lasts."""
    import sides  # needs numpy

    plan = gpt2.read_json(folder, "bench.json", "a folder that build wrote")
    with tempfile.TemporaryDirectory() as work:
        own = argparse_like(options, out=folder)
        measured = Measured(model, state, clock, lambda: sides.Bench(own, plan, work))
        rows = plan["rows"]
        peer = None if options.modes == ["none"] else survey(options, measured, rows[0])
        for number in range(options.rounds):
            for row in rows:
                measured.get(row["name"], "weft", number, lambda bench: bench.weft(row))
            if peer:
                measured.get("", "torch", number, lambda bench: bench.torch(rows[0], peer))
        for row in rows:
            measured.get(row["name"], "commands", 0, lambda bench: {"commands": bench.weft_commands(row)})


def argparse_like(options, **changes):
    """The options with other values."""
    return type(options)(**{**vars(options), **changes})


def median_ms(results):
    return statistics.median(result["ms"] for result in results)
