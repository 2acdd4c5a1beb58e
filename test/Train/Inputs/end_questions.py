"""end_questions.py SIGNAL -- COMMAND...: ends an evaluation of many questions by a signal.

Prints what is left in the folder TMPDIR, and the progress that names the questions.
"""
import json
import os
import signal
import subprocess
import sys
import time

name, dashes, *command = sys.argv[1:]
with open("many.jsonl", "w") as file:
    for i in range(60000):
        file.write(json.dumps({"prompt": f"question {i}", "choices": [" yes", " no"], "answer": i % 2}) + "\n")
run = subprocess.Popen([*command, "--val-data", "many.jsonl"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                       text=True, start_new_session=True)
# The first progress comes after two seconds.
progress = next(line for line in run.stderr if "predicting" in line and "%" in line)
run.send_signal(signal.Signals[name])
code = run.wait()
deadline = time.monotonic() + 10
while name != "SIGKILL" and os.listdir(os.environ["TMPDIR"]) and time.monotonic() < deadline:
    time.sleep(0.05)
print(f"{progress.strip()}; exit {code}; left {len(os.listdir(os.environ['TMPDIR']))}")
