"""text_forms.py EXAMPLES SOURCE: data files of other forms, and the way out.

Each is refused with exit 3. The first part of the hint is a command whose
output trains and is the text; the second, --data-format=text, trains the bytes.
"""

import csv
import json
import os
import struct
import subprocess
import sys

LINES = ["It was the best of times,", "it was the \"worst\" of times; {0}", "caf\u00e9 [1]"] * 20
TEXT = "\n".join(LINES) + "\n"
failures = 0


def expect(condition, *words):
    global failures
    if not condition:
        failures += 1
        print("wrong:", *words)


def write(path, data):
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def train(path, *more):
    return subprocess.run(
        ["./gpt", "--data", path, "--steps", "1", "--threads", "1", *more],
        capture_output=True, text=True, timeout=120)


def refused(path, kind):
    result = train(path)
    expect(result.returncode == 3 and f"but got {kind}\n" in result.stderr, path, result.returncode, result.stderr)
    hint = result.stderr.split("hint: ")[-1].strip()
    command, _, rest = hint.rpartition("--data-format=text")
    command = command.removesuffix("; ")
    expect(rest == " reads its bytes as they are", path, hint)
    expect(train(path, "--data-format", "text").returncode == 0, path, "--data-format text")
    return command


def converted(path, kind, want=TEXT):
    command = refused(path, kind)
    made = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    expect(made.returncode == 0, command, made.stderr)
    name = path + ".txt"
    if made.returncode == 0:
        with open(name, encoding="utf-8") as file:
            expect(file.read() == want, path, "has other text")
        expect(train(name).returncode == 0, name)


def main():
    examples, source = sys.argv[1:]
    subprocess.run(["weft", "compile", os.path.join(examples, "gpt2-mini"), "--batch", "1", "--seq", "16", "-o", "gpt"],
                   check=True)
    rows = [{"id": i, "text": line} for i, line in enumerate(LINES)]
    write("lines.txt", "".join(json.dumps(row) + "\n" for row in rows))
    converted("lines.txt", "JSON lines")
    write("a name.jsonl", "".join(json.dumps({"body": line}, ensure_ascii=False) + "\n" for line in LINES))
    converted("a name.jsonl", "JSON lines")
    write("rows.data", json.dumps(rows, indent=1))
    converted("rows.data", "a JSON file")
    write("one.json", json.dumps({"title": 1, "content": TEXT[:-1]}))
    converted("one.json", "a JSON file")
    # By what they hold, whatever the name says, and with a byte-order mark.
    mark = "\ufeff"
    write("lines.json", "".join(json.dumps(row) + "\n" for row in rows))
    converted("lines.json", "JSON lines")
    write("rows.jsonl", mark + json.dumps(rows))
    converted("rows.jsonl", "a JSON file")
    write("marked.txt", mark + "".join(json.dumps(row) + "\n" for row in rows))
    converted("marked.txt", "JSON lines")
    write("texts.json", json.dumps(LINES))
    converted("texts.json", "a JSON file")
    for name, separator, coding in (("table.csv", ",", "utf-8"), ("table.tsv", "\t", "utf-8"),
                                    ("marked.csv", ",", "utf-8-sig"), ("semicolons.csv", ";", "utf-8")):
        with open(name, "w", newline="", encoding=coding) as file:
            csv.writer(file, delimiter=separator).writerows([["id", "text"], *enumerate(LINES)])
        converted(name, "a table (CSV)")
    # Nobody knows which field is meant, or there is none.
    write("fields.csv", 'id,"a, b",label\n' + "1,x,y\n" * 50)
    expect("with the name of a field for FIELD (id, a, b, label)" in refused("fields.csv", "a table (CSV)"), "fields.csv")
    write("nested.json", json.dumps({"data": rows}))
    expect("['FIELD']" in refused("nested.json", "a JSON file"), "nested.json")
    write("pretty.json", "\n".join(json.dumps(row, indent=1) for row in rows))
    expect(refused("pretty.json", "JSON lines") == "", "pretty.json has a command")
    for coding, kind in (("utf-16", "UTF-16"), ("utf-16-le", "UTF-16"), ("utf-16-be", "UTF-16"), ("utf-32", "UTF-32")):
        write(coding, TEXT.encode(coding))
        converted(coding, kind + " text")
    write("t.npy", b"\x93NUMPY\1\0v\0" + b"{'descr': '<u2', 'fortran_order': False, 'shape': (100,), }".ljust(117)
          + b"\n" + struct.pack("<100H", *range(100)))
    expect("astype('uint16')" in refused("t.npy", "a NumPy array"), "no command for t.npy")
    result = train("t.npy", "--data-format", "u16")
    expect(result.returncode == 3 and "expects u16 tokens, but got a NumPy array" in result.stderr, result.stderr)

    # Text that only resembles the other forms trains.
    write("bom.txt", b"\xef\xbb\xbf" + TEXT.encode())
    result = train("bom.txt")
    expect(result.returncode == 0 and "begins with a byte-order mark, which is left out" in result.stderr, result.stderr)
    write("commas.txt", "a,b,c\n1,2,3\n" * 50)
    write("footnotes.txt", "[1] See {\"text\": 1}.\n" * 50)
    for path in ("commas.txt", "footnotes.txt", os.path.join(source, "test/Inputs/corpus.txt"),
                 os.path.join(source, "lib/Formats/JsonParse.cpp"), os.path.join(examples, "make_mlp_data.py")):
        result = train(path)
        expect(result.returncode == 0 and path not in result.stderr, path, result.stderr)

    # Tokens read too narrow.
    write("wide.bin", struct.pack("<200I", *range(200)))
    result = train("wide.bin", "--data-format", "u16")
    expect(result.returncode == 0 and "every second token is 0" in result.stderr, result.stderr)
    result = train("wide.bin", "--data-format", "u32")
    expect(result.returncode == 0 and "wide.bin" not in result.stderr, result.stderr)
    print(f"{len(os.listdir('.'))} files, {failures} wrong")


main()
