"""tensorboard_run.py EXAMPLES: the event files of a run, of one that resumes it,
of an evaluation, of two ranks, and of runs that cannot write."""

import glob
import json
import os
import struct
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
import event_file
from programs import must, run

DATA = ["--data", "digits.safetensors", "--val-fraction", "0.5", "--threads", "1", "--progress", "none"]


def files(folder):
    return sorted(glob.glob(folder + "/events.out.tfevents.*"))


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def expected(metrics, first):
    """The scalars of the metrics from a step on, in the order of the lines."""
    lines = [json.loads(line) for line in open(metrics)][1:]
    keys = ("loss", "lr", "grad_norm", "loss_scale", "skipped", "val_loss")
    return [(line["step"], {key: f32(float(line[key])) for key in keys if line.get(key) is not None})
            for line in lines if line["step"] >= first]


def check(path, metrics, first, session=True):
    found = event_file.events(path)
    assert found[0]["file_version"] == "brain.Event:2", found[0]
    if session:
        assert found[1]["session"] == {1: 1} and found[1]["step"] == first, found[1]
    times = [event["wall_time"] for event in found]
    assert times == sorted(times) and abs(times[-1] - time.time()) < 600, times
    scalars = [event for event in found if event["scalars"]]
    wanted = expected(metrics, first)
    assert len(scalars) == len(wanted), (len(scalars), len(wanted))
    for event, (step, values) in zip(scalars, wanted):
        assert event["step"] == step, (event, step)
        speed = event["scalars"].pop("tokens_per_s", None)
        assert (speed is not None) == ("loss" in values) and (speed is None or speed > 0), event
        assert event["scalars"] == values, (event, values)


def main(examples):
    must([sys.executable, examples + "/make_mlp_data.py", "digits.safetensors", "--rows", "64"])
    must(["weft", "compile", examples + "/mlp.mlir", "-o", "mlp"])
    must(["./mlp", *DATA, "--steps", "4", "--eval-every", "2", "--save-dir", "run", "--save-every", "2",
          "--metrics", "m.jsonl", "--tensorboard", "tb/deep"])
    (first,) = files("tb/deep")
    check(first, "m.jsonl", 1)
    before = open(first, "rb").read()

    # Resumed from step 2: a new file that begins at step 3, and the old one stays.
    # The flag is kept from the checkpoint.
    time.sleep(1.1)
    must(["./mlp", "--resume", "run/step_00000002", "--save-dir", "run2", "--steps", "6", "--threads", "1",
          "--progress", "none"])
    old, new = files("tb/deep")
    assert old == first and open(old, "rb").read() == before
    check(new, "m.jsonl", 3)

    # An evaluation repeats no step, so it has no start.
    must(["./mlp", *DATA, "--resume", "run2", "--eval-only", "--tensorboard", "eval"])
    (alone,) = files("eval")
    found = event_file.events(alone)
    assert [set(event["scalars"]) for event in found] == [set(), {"val_loss"}], found
    assert found[1]["step"] == 6 and "session" not in found[1], found

    # Rank 0 writes.
    must(["weft", "compile", examples + "/mlp.mlir", "--mesh", "dp:2", "-o", "two"])
    must(["./two", "--data", "digits.safetensors", "--steps", "2", "--loopback", "2", "--progress", "none",
          "--metrics", "two.jsonl", "--tensorboard", "two-tb"])
    (both,) = files("two-tb")
    check(both, "two.jsonl", 1)

    for code, said, flags in (
        (2, "--tensorboard expects a file outside of checkpoints", ["--steps", "1", "--tensorboard", "run/step_00000004"]),
        (8, "digits.safetensors: cannot create the directory", ["--steps", "1", "--tensorboard", "digits.safetensors"]),
        (0, "", ["--steps", "1", "--dry-run", "--tensorboard", "dry"]),
    ):
        result = run(["./mlp", *DATA, *flags])
        text = result.stderr.decode()
        assert result.returncode == code and said in text, (flags, result.returncode, text)
    assert not os.path.exists("dry")
    full = run(["sh", "-c", "ulimit -f 1; trap '' XFSZ; exec ./mlp --data digits.safetensors --steps 40 --threads 1 "
                "--progress none --tensorboard full"])
    assert full.returncode == 8 and b"cannot write the event file" in full.stderr, (full.returncode, full.stderr)
    print("event files agree with the metrics")


main(os.path.abspath(sys.argv[1]))
