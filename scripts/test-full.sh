#!/usr/bin/env bash
# Runs the second tier: all long forms of tests and campaigns, passes through
# text and bytecode, the sanitizers, and each fuzz target for a minute. Steps
# that passed on the same sources are not run again, so a run that was cut off
# continues. Ends with `N steps passed, N failed`; exit 1 if any
# failed. Logs and marks are in build/full-tests.
# Usage: scripts/test.sh --full   (WEFT_FUZZ_SECONDS: of each target, default 60)
set -uo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/scripts/usage.sh" || exit 1
if [ $# -gt 0 ]; then
  echo "test-full.sh: error: expects no arguments, but got $*" >&2
  exit 1
fi
cd "$top" || exit 1
state=build/full-tests
passed=0 failed=0 kept=0

# The key of a mark. Marks of other sources, compilers or toolkits mean nothing.
sources() {
  git rev-parse HEAD && git diff HEAD &&
    git ls-files --others --exclude-standard -z | xargs -0r sha256sum || return 1
  echo "${WEFT_CUDA_HOME:-} ${CUDA_HOME:-} $(command -v ptxas)"
  clang++-22 --version 2>&1
}
if ! described=$(sources); then
  echo "test-full.sh: error: expects a git checkout, by which it knows the sources of earlier steps" >&2
  exit 1
fi
key=$(sha256sum <<<"$described" | cut -d' ' -f1)
if [ "$(cat "$state/key" 2>/dev/null)" != "$key" ]; then
  rm -rf "$state"
  mkdir -p "$state" && echo "$key" >"$state/key" || exit 1
fi

# run NAME COMMAND...: runs it and counts it.
run() {
  local name=$1 log=$state/$1.log
  shift
  echo "== $name"
  if "$@" >"$log" 2>&1; then
    passed=$((passed + 1))
  else
    tail -n 40 "$log"
    echo "failed: $name (all of it: $log)"
    failed=$((failed + 1))
    return 1
  fi
}

# step NAME COMMAND...: the same, unless it has passed. Builds are no steps: what
# stands in a build folder may be of other sources.
step() {
  if [ -e "$state/$1.passed" ]; then
    kept=$((kept + 1)) passed=$((passed + 1))
  elif run "$@"; then
    touch "$state/$1.passed"
  fi
}

lit=$(command -v lit-22 || echo "$(llvm-config-22 --bindir)/lit")
export PATH=$top/build/bin:$PATH

folders() {
  find test -name '*.test' -o -name '*.mlir' | grep -v /Inputs/ |
    cut -d/ -f2 | sort -u | grep -vxE 'unit|fuzz|reference|bench'
}

unit_tests() { # BUILD
  local binary
  for binary in "$1"/test/unit/*Tests; do
    step "unit-$(basename "$1")-$(basename "$binary")" "$binary" --gtest_brief=1
  done
}

run build scripts/build.sh all weft-unit-tests || exit 1
unit_tests build
for folder in $(folders); do
  step "lit-$folder" "$lit" -sv -Dfull=1 "build/test/$folder"
done
for folder in $(folders); do
  step "round-trip-$folder" "$lit" -sv -Dverify_roundtrip=1 "build/test/$folder"
done

# libLLVM would not unpoison what LLVM's headers poison.
export ASAN_OPTIONS=allow_user_poisoning=0
preset() { # PRESET TARGETS...
  cmake --preset "$1" && cmake --build --preset "$1" --target "${@:2}"
}
if run asan-build preset asan weft-unit-tests weft weft-opt weft-interp weft-fuzzers; then
  unit_tests build-asan
  step asan-lit "$lit" -sv build-asan/test --filter 'Train|Autodiff'
  seconds=${WEFT_FUZZ_SECONDS:-60}
  step "fuzzers-$seconds" test/fuzz/run.sh build-asan "$seconds"
fi
if run tsan-build preset tsan RoutinesTests RuntimeTests BaseTests FormatsTests; then
  unit_tests build-tsan
fi

echo "$passed steps passed, $failed failed ($kept of them before)"
[ "$failed" -eq 0 ]
