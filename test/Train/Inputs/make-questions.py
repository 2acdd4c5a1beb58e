"""usage: make-questions.py DIR

q.jsonl has two questions; moved.jsonl has the same text, with the space between
prompt and choice at the other side.
"""
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
QUESTIONS = [("The work is", ["free", "a program", "x"], 1),
             ("A prompt of many words, more of them than a row has positions for, so that it is cut", ["yes", "no"], 0)]


def line(prompt, choices, answer):
    return json.dumps({"prompt": prompt, "choices": choices, "answer": answer, "subject": "left out"}) + "\n"


(folder / "q.jsonl").write_text("".join(line(p + " ", c, a) for p, c, a in QUESTIONS))
(folder / "moved.jsonl").write_text("".join(line(p, [" " + x for x in c], a) for p, c, a in QUESTIONS))
