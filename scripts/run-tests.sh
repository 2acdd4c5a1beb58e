#!/usr/bin/env bash
# Runs every test of a build: the GoogleTest binaries, then the lit suite. Ends
# with a line for each test that failed and one line
# `N passed, N failed, N skipped`; exit 1 if anything failed.
# Usage: run-tests.sh   (WEFT_BUILD: build folder, default build/)
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
build=${WEFT_BUILD:-$top/build}
passed=0 failed=0 skipped=0
report=$(mktemp) failures=$(mktemp)
trap 'rm -f "$report" "$failures"' EXIT

for binary in "$build"/test/unit/*Tests; do
  [ -x "$binary" ] || continue
  status=0
  "$binary" --gtest_brief=1 --gtest_output="json:$report" || status=$?
  counts=$(python3 - "$report" "$(basename "$binary")" "$status" 2>>"$failures" <<'PY'
import json, sys
try:
    tests = json.load(open(sys.argv[1]))
except Exception:
    print("failed:", sys.argv[2], file=sys.stderr)
    print(0, 1, 0)
    sys.exit()
for suite in tests["testsuites"]:
    for case in suite["testsuite"]:
        if case.get("failures"):
            print(f"failed: {sys.argv[2]} {suite['name']}.{case['name']}", file=sys.stderr)
failed = tests["failures"]
if failed == 0 and sys.argv[3] != "0":  # as it ended, of a sanitizer for one
    print(f"failed: {sys.argv[2]} exit {sys.argv[3]}", file=sys.stderr)
    failed = 1
skipped = sum(case.get("result") == "SKIPPED"
              for suite in tests["testsuites"] for case in suite["testsuite"])
print(tests["tests"] - tests["failures"] - skipped, failed, skipped)
PY
)
  read -r p f s <<<"$counts"
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  : >"$report"
done

lit=$(command -v lit-22 || echo "$(llvm-config-22 --bindir)/lit")
"$lit" -sv --output "$report" "$build/test" ${WEFT_LIT_ARGS:-}
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
