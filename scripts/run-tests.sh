#!/usr/bin/env bash
# Runs every test of a build: the GoogleTest binaries, then the lit suite. Ends
# with a line for each test that failed and one line
# `N passed, N failed, N skipped`; exit 1 if anything failed.
# Usage: run-tests.sh   (WEFT_BUILD: build folder, default build/)
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/scripts/usage.sh" || exit 1
if [ $# -gt 0 ]; then
  echo "run-tests.sh: error: expects no arguments, but got $*" >&2
  exit 1
fi
build=${WEFT_BUILD:-$top/build}
passed=0 failed=0 skipped=0
report=$(mktemp) failures=$(mktemp)
trap 'rm -f "$report" "$failures"' EXIT

# As many binaries at a time as there are processors, as lit does with its tests.
reports=$(mktemp -d)
trap 'rm -rf "$report" "$failures" "$reports"' EXIT
run_unit_tests() { # BINARY
  local name status=0
  name=$(basename "$1")
  "$1" --gtest_brief=1 --gtest_output="json:$reports/$name.json" >"$reports/$name.log" 2>&1 || status=$?
  echo "$status" >"$reports/$name.status"
  [ "$status" -eq 0 ] || cat "$reports/$name.log"
}
export -f run_unit_tests
export reports
find "$build/test/unit" -maxdepth 1 -name '*Tests' -type f -perm -u+x -print0 2>/dev/null |
  sort -z >"$reports/binaries"
xargs -0r -a "$reports/binaries" -P "$(nproc)" -I{} bash -c 'run_unit_tests "$1"' _ {}
counts=$(python3 - "$reports" "$failures" <<'PY'
import json, os, sys
passed = failed = skipped = 0
failures = open(sys.argv[2], "a")
binaries = open(os.path.join(sys.argv[1], "binaries")).read().split("\0")
for name in map(os.path.basename, filter(None, binaries)):
    path = os.path.join(sys.argv[1], name + ".status")
    if not os.path.exists(path):
        print("failed:", name, "(did not run to its end)", file=failures)
        failed += 1
        continue
    status = open(path).read().strip()
    try:
        tests = json.load(open(path[:-len("status")] + "json"))
    except Exception:
        print("failed:", name, file=failures)
        failed += 1
        continue
    cases = [(suite["name"], case) for suite in tests["testsuites"] for case in suite["testsuite"]]
    bad = [(suite, case) for suite, case in cases if case.get("failures")]
    for suite, case in bad:
        print(f"failed: {name} {suite}.{case['name']}", file=failures)
    if not bad and status != "0":  # as it ended, of a sanitizer for one
        print(f"failed: {name} exit {status}", file=failures)
        failed += 1
    left_out = sum(case.get("result") == "SKIPPED" for _, case in cases)
    passed += tests["tests"] - len(bad) - left_out
    failed += len(bad)
    skipped += left_out
print(passed, failed, skipped)
PY
) || counts="0 1 0"
read -r passed failed skipped <<<"$counts"

lit=$(command -v lit-22 || echo "$(llvm-config-22 --bindir)/lit")
# A third of the tests waits for processes more than it computes.
"$lit" -sv -j $(($(nproc) * 3 / 2)) --output "$report" "$build/test" ${WEFT_LIT_ARGS:-}
counts=$(python3 - "$report" "$failures" <<'PY'
import json, re, sys
failures = open(sys.argv[2], "a")
try:
    tests = json.load(open(sys.argv[1]))["tests"]
except Exception:
    print("failed: lit", file=failures)
    print(0, 1, 0, 0, 0)
    sys.exit()
codes = [test["code"] for test in tests]
good = sum(code in ("PASS", "XFAIL", "FLAKYPASS") for code in codes)
skip = [test for test in tests if test["code"] in ("UNSUPPORTED", "SKIPPED")]
for test in skip:
    print("skipped:", test["name"], "-", test["output"].strip() or "not on this machine", file=sys.stderr)
for test in tests:
    if test["code"] not in ("PASS", "XFAIL", "FLAKYPASS", "UNSUPPORTED", "SKIPPED"):
        print("failed:", test["name"], "-", test["code"], file=failures)
# Of a toolkit, or of a build with all of one: and nothing else that is missing.
cuda = {"cuda-toolkit", "emulated-device", "cudnn", "emulated-cudnn", "emulated-nccl", "nvtx"}
wants_cuda = sum(set(re.split(r"[:,] ", test["output"].strip())[1:]) <= cuda
                 for test in skip if "unavailable features" in test["output"])
# Long forms, which wait for `scripts/test.sh --full`.
second = sum("full" in re.split(r"[:,] ", test["output"].strip())[1:] for test in skip
             if "unavailable features" in test["output"])
print(good, len(codes) - good - len(skip), len(skip), wants_cuda, second)
PY
)
read -r p f s wants_cuda second <<<"$counts"
passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))

if [ "${wants_cuda:-0}" -gt 0 ]; then
  echo "$wants_cuda of the skipped tests need a CUDA toolkit or parts of one that were not found (cuDNN, NCCL, NVTX): WEFT_TEST_CUDA=1 scripts/test.sh"
  echo "gets them (scripts/setup-cuda.sh --cudnn --nccl, from NVIDIA's Python wheels) and runs the tests, with the unit tests that need its headers"
fi
if [ "${second:-0}" -gt 0 ]; then
  echo "$second of the skipped tests are in the second tier: scripts/test.sh --full runs them, --list names them"
fi
cat "$failures"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
