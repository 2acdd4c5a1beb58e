"""report.py EXAMPLES: pages of weft report, and inputs that it refuses."""

import json
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(__file__))
from programs import must, run
from report_page import Page

HOSTILE = "</script><script>alert('x')</script>&\"\x1b[31m"


def report(*arguments, code=0):
    result = run(["weft", "report", *arguments])
    text = result.stderr.decode()
    assert result.returncode == code, (arguments, result.returncode, text)
    return text


def page(*arguments):
    report(*arguments, "-o", "page.html")
    found = Page("page.html")
    found.check()
    return found


def lines_of(path):
    return [json.loads(line) for line in open(path)]


def write(path, text):
    with open(path, "w") as out:
        out.write(text)


def make_runs(examples):
    must([sys.executable, examples + "/make_mlp_data.py", "digits.safetensors", "--rows", "64"])
    must(["weft", "compile", examples + "/mlp.mlir", "--mesh", "dp:2", "--zero", "3", "-o", "two"])
    must(["weft", "compile", examples + "/mlp.mlir", "--precision", "f16", "-o", "half"])
    common = ["--data", "digits.safetensors", "--val-fraction", "0.5", "--eval-every", "2", "--progress", "none"]
    must(["./two", *common, "--loopback", "2", "--steps", "5", "--lr-schedule", "cosine", "--save-dir", "run",
          "--metrics", "m.jsonl", "--trace", "t.json"])
    must(["./half", *common, "--steps", "4", "--metrics", "half.jsonl"],
         env={**os.environ, "WEFT_FAULT": "num:inf@step=2"})


def check_whole():
    """All parts of a run with two ranks."""
    full = page("run", "--program", "two", "--trace", "t.json")
    lines = lines_of("m.jsonl")[1:]
    for title, name, field in (("Loss", "loss", "loss"), ("Loss", "val_loss", "val_loss"),
                               ("Learning rate", "lr", "lr"), ("Norm of the gradients", "grad_norm", "grad_norm"),
                               ("Most memory of the process", "mem_bytes", "mem_bytes")):
        wanted = [(line["step"], line[field]) for line in lines if field in line]
        assert full.points(title, name) == wanted, (title, name)
    memory = full.points("Bytes of the arena in use over a step, estimated", "in use")
    report_json = json.loads(must(["weft", "inspect", "two", "--memory", "--json"]).stdout)["memory"]
    peak = max(bytes for _, bytes in memory)
    assert peak <= report_json["arena_bytes"] and peak > report_json["persistent_bytes"], (peak, report_json)
    assert "Measured, the last step of the trace" in full.text and "Estimated, one micro-batch" in full.text
    kinds = {rect["class"] for rect in full.rects}
    assert {"generated", "library", "collective"} <= kinds, kinds
    profile = json.loads(must(["weft", "inspect", "two", "--profile", "t.json", "--json"]).stdout)["profile"]
    for kernel in profile["kernels"][:5]:
        assert kernel["name"] in full.cells, kernel
    assert "Mesh dp:2, 2 ranks, ZeRO stage 3." in full.text
    assert "fc1.weight" in full.cells or any("fc1" in cell for cell in full.cells)
    for flag, value in (("--lr-schedule", "cosine"), ("--steps", "5")):
        assert full.cells[full.cells.index(flag) + 1] == value, flag
    estimated = page("run", "--program", "two")
    assert "Measured" not in estimated.text
    assert "No measured times: a run with --trace FILE measures them" in estimated.text


def check_scale():
    """A skipped step is a mark, and its numbers are gaps."""
    half = page("half.jsonl", "--program", "half")
    lines = lines_of("half.jsonl")[1:]
    title = "Loss scale, and skipped steps as lines"
    assert half.points(title, "loss_scale") == [(line["step"], line["loss_scale"]) for line in lines if "lr" in line]
    assert "Skipped steps, 1: 2." in half.text, half.text
    assert half.source.count('class="mark"') == 1
    assert "No sharding for one rank: a program compiled with --mesh dp:N shards it." in half.text
    assert "Not all flags: a run with --save-dir DIR records them" in half.text


def check_missing():
    alone = page("m.jsonl")
    for name in ("memory report", "timeline", "commands", "sharding"):
        assert f"No {name}: weft report with --program FILE, the program of the run, shows it." in alone.text, name
    lines = lines_of("m.jsonl")
    lines[0]["scaler"] = None
    kept = [line for line in lines if "val_loss" not in line]
    for line in kept[1:]:
        line["grad_norm"] = None
    write("bare.jsonl", "".join(json.dumps(line) + "\n" for line in kept))
    bare = page("bare.jsonl")
    assert "No validation loss: a run with --val-data FILE or --val-fraction X" in bare.text
    assert "No norm of the gradients: a program compiled with --clip-norm=2 records it." in bare.text
    assert "No loss scale: a program compiled with --precision=f16" in bare.text
    write("begun.jsonl", json.dumps(lines[0]) + "\n")
    assert "No curves: the run has not finished a step yet." in page("begun.jsonl").text
    shutil.move("m.jsonl", "moved.jsonl")
    assert "m.jsonl of the run are missing: --metrics FILE names their new place." in page("run").text
    assert page("run", "--metrics", "moved.jsonl").points("Loss", "loss")
    shutil.move("moved.jsonl", "m.jsonl")


def check_hostile():
    """Text of a file is text."""
    lines = lines_of("m.jsonl")
    lines[0]["data"] = lines[0]["model"] = HOSTILE
    folder = "a<b>&\"c'"
    os.makedirs(folder, exist_ok=True)
    write(folder + "/m.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    found = page(folder + "/m.jsonl")
    assert "alert('x')" in found.text and found.tags.count("script") == len(found.charts) + 1
    assert folder in found.titles[0] and "\x1b" not in found.source and "\\x1B" in found.text


def check_large():
    """Many steps are thinned; the extremes stay. Huge and equal numbers are drawn."""
    header = json.dumps(lines_of("m.jsonl")[0])
    values = [3 + (i % 7) * 0.01 for i in range(50000)]
    values[31234], values[777] = 91.5, -4.25
    steps = [{"step": i + 1, "loss": value, "lr": 0.1} for i, value in enumerate(values)]
    write("large.jsonl", "\n".join([header] + [json.dumps(step) for step in steps]) + "\n")
    points = page("large.jsonl").points("Loss", "loss")
    assert len(points) <= 1200 and (31235, 91.5) in points and (778, -4.25) in points
    assert os.path.getsize("page.html") < 400000
    for loss in (1e300, -1e300, 5e-324, 0, None):
        write("odd.jsonl", header + "\n" + "".join(
            json.dumps({"step": i, "loss": loss if i == 1 else 1.5, "lr": 0.1}) + "\n" for i in (1, 2, 3)))
        assert "nan" not in page("odd.jsonl").source.split("</style>")[1].split("<h2 id=\"memory\"")[0].lower().replace(
            "norm", "")


def check_errors(examples):
    good = open("m.jsonl").read()
    lines = good.splitlines(keepends=True)

    def refused(code, said, name, text, *more):
        if text is not None:
            write(name, text)
        os.path.exists("no.html") and os.remove("no.html")
        found = report(name, "-o", "no.html", *more, code=code)
        assert said in found, (said, found)
        assert not os.path.exists("no.html"), name

    refused(3, "gone: cannot open the run: no such file or directory", "gone", None)
    refused(3, "bad.jsonl: expects the metrics of a run, but got an empty file", "bad.jsonl", "")
    refused(3, "bad.jsonl:1: expects the metrics of a run, whose first line describes it", "bad.jsonl", "step,loss\n")
    refused(3, "two: expects the metrics of a run, but got a program", "two", None)
    refused(3, "bad.jsonl:3: expects a JSON object with a step, but got '{\"step\":2,'", "bad.jsonl",
            "".join(lines[:2]) + '{"step":2,\n' + "".join(lines[3:]))
    refused(3, "bad.jsonl:2: expects a number or null in 'loss', but got '\"high\"'", "bad.jsonl",
            lines[0] + '{"step":1,"loss":"high"}\n')
    refused(3, "bad.jsonl:2: expects true or false in 'skipped', but got '1'", "bad.jsonl",
            lines[0] + '{"step":1,"loss":1.0,"skipped":1}\n')
    os.makedirs("empty", exist_ok=True)
    refused(5, "empty", "empty", None)
    refused(2, "--trace expects --program, the program of the trace", "run", None, "--trace", "t.json")
    refused(2, "--metrics expects a RUN that is a save directory, but got a file, 'm.jsonl'", "m.jsonl", None,
            "--metrics", "half.jsonl")
    refused(3, "expects a program that weft compile made", "run", None, "--program", "t.json")
    must(["weft", "compile", examples + "/gpt2-mini", "--batch", "1", "--seq", "16", "-o", "other"])
    refused(3, "other: expects a program of the run's model, but got one of 'gpt2'", "run", None, "--program", "other")
    write("cut.json", open("t.json").read()[:2000])
    refused(3, "cut.json:", "run", None, "--program", "two", "--trace", "cut.json")
    refused(3, "expects a trace of", "half.jsonl", None, "--program", "half", "--trace", "t.json")

    # A line that a crash has torn is left out, with a warning that names it.
    write("torn.jsonl", good[:-20])
    said = report("torn.jsonl", "-o", "page.html")
    assert f"warning: torn.jsonl:{len(lines)}: the line is torn and is left out" in said, said
    assert f"Line {len(lines)} of the metrics is torn: it is left out." in Page("page.html").text

    assert "expects a RUN" in report("-o", "x.html", code=2)
    assert "expects -o FILE" in report("m.jsonl", code=2)


def check_outputs():
    write("mine.html", "<p>mine</p>")
    assert "expects a new file, or one that weft wrote, but got another file" in report(
        "m.jsonl", "-o", "mine.html", code=2)
    assert open("mine.html").read() == "<p>mine</p>"
    report("m.jsonl", "-o", "mine.html", "--overwrite")
    report("m.jsonl", "-o", "mine.html")  # its own page
    write("mine.html", open("mine.html").read().replace("Training", "My training"))
    assert "but got one that was edited since" in report("m.jsonl", "-o", "mine.html", code=2)
    before = open("m.jsonl").read()
    for output, said in (("m.jsonl", "--output expects a file of its own, but got the file of the metrics"),
                         ("two", "--output expects a file of its own, but got the file of --program"),
                         ("run/step_00000005/page.html", "--output expects a file outside of checkpoints")):
        assert said in report("run", "--program", "two", "-o", output, code=2), output
    assert open("m.jsonl").read() == before
    report("m.jsonl", "-o", "/dev/full", code=8)
    report("m.jsonl", "-o", "nowhere/page.html", code=8)
    assert b"<!DOCTYPE html>" in must(["weft", "report", "m.jsonl", "-o", "/dev/stdout"]).stdout
    first = open("page.html", "rb").read()
    report("torn.jsonl", "-o", "page.html")
    assert open("page.html", "rb").read() == first, "two pages of one run differ"
    assert not [name for name in os.listdir(".") if ".tmp" in name]


def main(examples):
    make_runs(examples)
    check_whole()
    check_scale()
    check_missing()
    check_hostile()
    check_large()
    check_errors(examples)
    page("torn.jsonl")
    check_outputs()
    print("the pages show the runs")


main(os.path.abspath(sys.argv[1]))
