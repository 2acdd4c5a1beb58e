#!/usr/bin/env bash
# Installs what weft needs on Debian 12, with apt (root or sudo). Does nothing
# when everything is there.
# Usage: install-deps.sh [--no-root]
#   --no-root   install nothing: name the missing packages, exit 1 if there are any
set -euo pipefail

installs=true
for argument in "$@"; do
  case $argument in
  --no-root) installs=false ;;
  -h | --help) # as in usage.sh, but the Containerfile copies this file alone
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"
    exit 0
    ;;
  *)
    echo "install-deps.sh: error: expects --no-root or nothing, but got $argument" >&2
    exit 1
    ;;
  esac
done

packages=(
  build-essential cmake ninja-build ccache git python3 python3-numpy
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools clang-22 lld-22
  libdnnl-dev nlohmann-json3-dev libtomlplusplus-dev libxxhash-dev
  libpcre2-dev libutf8proc-dev libsentencepiece-dev
  libgtest-dev zlib1g-dev libzstd-dev libopenmpi-dev openmpi-bin
)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0
if ! $installs; then
  echo "install-deps.sh: error: misses packages, get them with: apt-get install --no-install-recommends ${missing[*]}" >&2
  exit 1
fi

sudo=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "install-deps.sh: error: needs root or sudo to install: ${missing[*]}" >&2
    exit 1
  }
  sudo=(sudo)
fi
echo "installing: ${missing[*]}"
"${sudo[@]}" apt-get update -q

unknown=()
for package in "${missing[@]}"; do
  apt-cache show "$package" >/dev/null 2>&1 || unknown+=("$package")
done
if [ ${#unknown[@]} -gt 0 ]; then
  echo "install-deps.sh: error: apt knows no package: ${unknown[*]}" >&2
  echo "install-deps.sh: LLVM 22 is in the component main of the suite bookworm-security, the security" >&2
  echo "updates of Debian 12: name both in a source of /etc/apt" >&2
  exit 1
fi
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -q --no-install-recommends "${missing[@]}"
