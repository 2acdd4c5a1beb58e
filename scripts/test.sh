#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test. The last line is
# `N passed, N failed, N skipped`.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
"$top/scripts/install-deps.sh"
"$top/scripts/build.sh" all weft-unit-tests
exec "$top/scripts/run-tests.sh"
