"""disturb_tokenizer.py kill|stop|stop-both|starve TEXT FOLDER -- COMMAND...: disturbs the tokenizer of a run after a line with TEXT.

kill: ends the process. stop: it does not run any more. stop-both: the run
then gets SIGTERM, and must end within a minute. starve: it has no descriptor for the next connection for a while.
The tokenizer is the process that serves the model in FOLDER. Exits as the command does.
"""
import os
import resource
import signal
import subprocess
import sys
import time

mode, text, folder, dashes, *command = sys.argv[1:]


def find_servers():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().decode(errors="replace").split("\0")
            place = os.readlink(f"/proc/{pid}/cwd")
        except OSError:
            continue
        if words[1:2] == ["serve-text"] and os.path.join(place, words[2]).startswith(os.path.abspath(folder)):
            found.append(int(pid))
    return found


run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
for line in run.stdout:
    print(line, end="")
    if text in line:
        break
servers = find_servers()
if len(servers) != 1:
    sys.exit(f"disturb_tokenizer.py: error: expects one process of the tokenizer, but got {servers}")
if mode in ("kill", "stop", "stop-both"):
    os.kill(servers[0], signal.SIGKILL if mode == "kill" else signal.SIGSTOP)
else:
    limits = resource.prlimit(servers[0], resource.RLIMIT_NOFILE)
    resource.prlimit(servers[0], resource.RLIMIT_NOFILE, (3, limits[1]))
    time.sleep(0.5)
    resource.prlimit(servers[0], resource.RLIMIT_NOFILE, limits)
if mode == "stop-both":
    time.sleep(1)
    run.send_signal(signal.SIGTERM)
    try:
        print(run.communicate(timeout=60)[0], end="")
    except subprocess.TimeoutExpired:
        run.kill()
        sys.exit("disturb_tokenizer.py: error: expects the end of the run, but it waits for the tokenizer")
else:
    print(run.stdout.read(), end="")
sys.exit(run.wait())
