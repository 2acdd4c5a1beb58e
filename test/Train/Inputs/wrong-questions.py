"""usage: wrong-questions.py -- COMMAND...

COMMAND with --val-data ends with exit 3 for each file, gives a hint, and names
the line, the column and the field. A line with choices is wrong as the third
line of a file and as its first.
"""
import pathlib
import subprocess
import sys

GOOD = '{"prompt": "a", "choices": ["b", "c"], "answer": 0}\n'
CASES = [
    ('{"choices": ["b", "c"], "answer": 0}', "expects a field 'prompt' of a question, but got none at column 1"),
    ('{"prompt": "a", "choices": ["b", "c"]}', "expects a field 'answer' of a question, but got none at column 1"),
    ('{"prompt": "a", "answer": 0}', "expects a field 'choices' of a question, but got none at column 1"),
    ('{"id": 1, "text": "a"}', "expects a field 'choices' of a question, but got a document (field 'text') at column 11"),
    ('{"prompt": "a", "choices": [], "answer": 0}', "expects a list of at least two texts in the field 'choices', but got [] at column 17"),
    ('{"prompt": "a", "choices": ["b"], "answer": 0}', "at least two texts in the field 'choices', but got [\"b\"] at column 17"),
    ('{"prompt": "a", "choices": "b", "answer": 0}', "a list of at least two texts in the field 'choices', but got \"b\" at column 17"),
    ('{"prompt": "a", "choices": ["b", 3], "answer": 0}', "a text that is not empty as choice 1 in the field 'choices', but got 3 at column 17"),
    ('{"prompt": "a", "choices": ["b", ""], "answer": 0}', "a text that is not empty as choice 1 in the field 'choices', but got \"\""),
    ('{"prompt": "a", "choices": ["b", "c"], "answer": 2}', "the number of a choice, 0 to 1 in the field 'answer', but got 2 at column 40"),
    ('{"prompt": "a", "choices": ["b", "c"], "answer": -1}', "the number of a choice, 0 to 1 in the field 'answer', but got -1 at column 40"),
    ('{"prompt": "a", "choices": ["b", "c"], "answer": "A"}', "the number of a choice, 0 to 1 in the field 'answer', but got \"A\" at column 40"),
    ('{"prompt": 1, "choices": ["b", "c"], "answer": 0}', "a text in the field 'prompt', but got 1 at column 2"),
    ('{"prompt": "\\"answer\\": 1", "choices": ["b", "c"], "answer": 7}', "but got 7 at column 52"),
    ('{"prompt": "a", "choices": ["b", "c"], "answer": 0', "malformed JSON at column"),
    ('{"prompt": "a", "choices": ["b", "c"], "answer": 0, "answer": 0}', "expects one field 'answer', but got two, the first at column 40"),
    ('{"prompt": "a, "choices": ["b", "c"], "answer": 0}', "malformed JSON at column"),
    ('["a"]', "expects a JSON object in a line, but got another value at column 1"),
    ('{"prompt": "a", "choices": ["' + "word " * 60 + '", "c"], "answer": 0}', "choice 0: expects choices of at most 16 tokens, the positions of the program (--seq), but got"),
]

command = sys.argv[sys.argv.index("--") + 1:]
wrong = files = 0
for text, message in CASES:
    for before, line in ((GOOD + "\n", 3), ("", 1)):
        if line == 1 and '"choices"' not in text:
            continue
        files += 1
        pathlib.Path("wrong.jsonl").write_text(before + text + "\n" + GOOD)
        done = subprocess.run([*command, "--val-data", "wrong.jsonl"], capture_output=True, text=True)
        where = f"weft: error: wrong.jsonl:{line}: "
        if done.returncode != 3 or any(part not in done.stderr for part in (message, where, "\nhint: ")):
            wrong += 1
            print(f"exit {done.returncode} for {text[:80]}\n{done.stderr[-500:]}")
print(f"{files} files, {wrong} wrong")
