"""leave_early.py STATUS -- COMMAND...: reads the first bytes of the output of a command and closes it.

The command ends with STATUS and says nothing.
"""
import os
import subprocess
import sys

status, dashes, *command = sys.argv[1:]
environment = {**os.environ, "XDG_CACHE_HOME": os.path.abspath("cache")}
process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
process.stdout.read(12)
process.stdout.close()
said = process.stderr.read().decode()
if process.wait(timeout=300) != int(status) or said:
    sys.exit(f"leave_early.py: error: expects exit {status} without a message, but got {process.returncode}: {said}")
