#!/usr/bin/env bash
# run.sh BUILD [SECONDS]: runs every fuzz target of a build for some seconds from
# its seeds; ends non-zero at the first finding. Inputs that fail stay in
# BUILD/fuzz/findings.
set -euo pipefail
build=${1:?usage: run.sh BUILD [SECONDS]}
seconds=${2:-60}
here=$(cd "$(dirname "$0")" && pwd)
python3 "$here/make-seeds.py" "$build/fuzz/seeds"
mkdir -p "$build/fuzz/findings"
for target in "$build"/fuzz/fuzz-*; do
  [[ -x $target && -f $target ]] || continue
  name=$(basename "$target")
  corpus=$build/fuzz/corpus/$name
  mkdir -p "$corpus" "$build/fuzz/seeds/$name"
  echo "== $name, $seconds s"
  "$target" -max_total_time="$seconds" -max_len=8192 -rss_limit_mb=2048 -timeout=10 \
    -print_final_stats=1 -verbosity=0 -artifact_prefix="$build/fuzz/findings/$name-" \
    "$corpus" "$build/fuzz/seeds/$name" 2>&1 | tail -15
done
