"""site.py SOURCE WORK: the documentation as a site, built strictly.

Uses mkdocs-material of this Python, or installs it into WORK/venv from PyPI
within a time limit. Where neither works the test is skipped, with the reason.
"""
import os
import re
import subprocess
import sys

PACKAGE = "mkdocs-material==9.*"
INSTALL_SECONDS, BUILD_SECONDS = 240, 600


def skip(reason):
    print(f"weft-skip: {reason}")
    sys.exit(1)


def find_failure(command, seconds):
    """Why a command fails, or None."""
    try:
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             timeout=seconds)
    except OSError as error:
        return str(error)
    except subprocess.TimeoutExpired:
        return f"no end within {seconds} s"
    lines = run.stdout.strip().split("\n")
    return None if run.returncode == 0 else lines[-1] or f"exit status {run.returncode}"


def find_python(work):
    """A Python with mkdocs-material."""
    if not find_failure([sys.executable, "-c", "import mkdocs, material"], 60):
        return sys.executable
    venv = os.path.join(work, "venv")
    python = os.path.join(venv, "bin", "python")
    install = [python, "-m", "pip", "--disable-pip-version-check", "--quiet", "--retries", "0",
               "--timeout", "10", "install", PACKAGE]
    for command in ([sys.executable, "-m", "venv", venv], install):
        failure = find_failure(command, INSTALL_SECONDS)
        if failure:
            skip(f"no mkdocs-material, and it cannot be installed: {failure}")
    return python


def main(source, work):
    out = os.path.join(work, "site")
    command = [find_python(work), "-m", "mkdocs", "build", "--strict", "--site-dir", out,
               "--config-file", os.path.join(source, "mkdocs.yml")]
    # Not quietly: strict counts the warnings that are written.
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         timeout=BUILD_SECONDS, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    if run.returncode != 0:
        print(run.stdout)
        print("site: error: expects a site without warnings")
        return 1
    pages = sum(name.endswith(".html") for _, _, names in os.walk(out) for name in names)
    with open(os.path.join(out, "search", "search_index.json"), encoding="utf-8") as file:
        searches = file.read()
    broken = [path for path in find_pages(out) if has_raw_markdown(path)]
    for path in broken:
        print(f"{os.path.relpath(path, out)}: expects no list or block that is left as text")
    print(f"{pages} pages, {'with' if 'location' in searches else 'without'} search, "
          f"{len(broken)} with raw text")
    return 1 if broken else 0


def find_pages(out):
    for folder, _, names in os.walk(out):
        for name in sorted(names):
            if name.endswith(".html"):
                yield os.path.join(folder, name)


def has_raw_markdown(path):
    """Whether a list, a table or a fence became part of a paragraph."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"<(pre|code|script|style)\b.*?</\1>", "", file.read(), flags=re.S)
    return bool(re.search(r"<p>[^<]*\n(?:[-*] |\d+\. )|<p>\||```", text))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
