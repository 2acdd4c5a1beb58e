#!/usr/bin/env bash
# Packs a finished build into weft-VERSION-linux-x86_64.tar.gz, a folder that
# works wherever it is unpacked: the tools, the libraries that they load, oneDNN
# and libgomp for compiled programs, and a linker with the start files and
# libraries of C and C++, so that `weft compile` needs no compiler.
# Usage: package.sh [BUILD [OUT]]   (default: build/, and OUT is BUILD)
#
# patchelf, from PATH, makes the tools find their libraries. Without patchelf
# each tool is started by a small script that sets LD_LIBRARY_PATH.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/scripts/usage.sh"

fail() {
  echo "package.sh: error: $*" >&2
  exit 1
}

[[ ${1:-} != -* ]] || fail "expects [BUILD [OUT]], but got $1"
[ $# -le 2 ] || fail "expects [BUILD [OUT]], but got $*"
build=${1:-$top/build}
out=${2:-$build}
[ -x "$build/bin/weft" ] || fail "expects a finished build in $build, but got no bin/weft (scripts/build.sh)"
version=$(sed -n 's/^project(weft VERSION \([0-9.]*\).*/\1/p' "$top/CMakeLists.txt")
name=weft-$version-linux-$(uname -m)
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d "$out/.package.XXXXXX")
trap 'rm -rf "$work"' EXIT
root=$work/$name

cmake --install "$build" --prefix "$root" >"$work/install.log" ||
  fail "cannot install $build: $(tail -n 3 "$work/install.log")"
ln -s share/doc/weft/examples "$root/examples"
mkdir -p "$root/libexec" "$root/lib/programs" "$root/lib/sysroot" "$root/licenses"

#===- Files of the system -------------------------------------------------===#

# take FILE FOLDER [NAME]: copies a file of an installed package, and once per
# package its licence.
take() {
  local file package
  file=$(realpath "$1")
  cp "$file" "$root/$2/${3:-$(basename "$1")}"
  # Some packages name /lib where the system has /usr/lib.
  package=$({ dpkg-query -S "$file" || dpkg-query -S "${file#/usr}"; } 2>/dev/null | head -n 1)
  package=${package%%:*}
  [ -n "$package" ] || fail "expects $1 to belong to a package, whose licence is packed, but found none"
  [ -e "$root/licenses/$package" ] || cp -L "/usr/share/doc/$package/copyright" "$root/licenses/$package" ||
    fail "found no licence of the package $package"
}

# Libraries that come with every Linux system that has C++.
system='^(ld-linux.*|lib(c|m|mvec|dl|rt|pthread|resolv|stdc\+\+|gcc_s))\.so\.[0-9]+$'

# libraries FILE...: paths of the libraries that files load, without the system's.
libraries() {
  local found
  found=$(ldd "$@")
  ! grep 'not found' <<<"$found" >&2 || fail "misses libraries"
  awk '$2 == "=>" && $3 ~ "^/" { print $3 }' <<<"$found" | sort -u |
    while read -r path; do
      [[ $(basename "$path") =~ $system ]] || echo "$path"
    done
}

lld=$(command -v ld.lld-22 || command -v ld.lld) || fail "needs ld.lld (apt install lld-22)"
cxx=$(command -v g++ || command -v c++) || fail "needs g++, whose start files are packed"
file_of() { # NAME: a file that the compiler links
  local path
  path=$("$cxx" -print-file-name="$1")
  [[ $path = /* ]] || fail "expects $1 in the folders of $cxx, but found none"
  echo "$path"
}

# Programs load oneDNN and libgomp. Their folder holds nothing else, so that it
# may stand in LD_LIBRARY_PATH.
programs=$(file_of libdnnl.so)
for library in "$(dirname "$programs")/libdnnl.so.2" $(libraries "$programs"); do
  take "$library" lib/programs
done
[ -e "$root/lib/programs/libgomp.so.1" ] || take "$(file_of libgomp.so.1)" lib/programs
ln -s libdnnl.so.2 "$root/lib/programs/libdnnl.so"

take "$lld" libexec ld.lld
for library in $(libraries "$root"/bin/* "$root/libexec/ld.lld"); do
  [ -e "$root/lib/programs/$(basename "$library")" ] || take "$library" lib
done

for file in Scrt1.o crti.o crtn.o crtbeginS.o crtendS.o libc_nonshared.a libgcc.a \
  libc.so.6 libm.so.6 libmvec.so.1 ld-linux-x86-64.so.2 libstdc++.so.6 libgcc_s.so.1; do
  take "$(file_of "$file")" lib/sysroot
done

#===- Search of libraries -------------------------------------------------===#

patchelf=$(command -v patchelf || true)
if [ -n "$patchelf" ]; then
  chmod u+w "$root"/lib/*.so* "$root"/lib/programs/*.so*
  for file in "$root"/bin/* "$root/libexec/ld.lld"; do
    "$patchelf" --set-rpath '$ORIGIN/../lib:$ORIGIN/../lib/programs' "$file"
  done
  for file in "$root"/lib/*.so* "$root"/lib/programs/*.so.*; do
    "$patchelf" --set-rpath '$ORIGIN' "$file"
  done
fi

# launcher NAME [ENVIRONMENT]: bin/NAME starts libexec/NAME.
launcher() {
  mv "$root/bin/$1" "$root/libexec/$1"
  {
    cat <<'SH'
#!/bin/sh
# Starts a tool of this folder with the libraries and the linker beside it.
here=$0
! command -v readlink >/dev/null || here=$(readlink -f "$0")
here=$(cd "${here%/*}/.." && pwd -P)
# Programs that weft starts find oneDNN and libgomp, also after a move.
SH
    [ -n "$patchelf" ] || echo 'LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}'
    echo 'export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$here/lib/programs'
    echo 'export WEFT_CXX=${WEFT_CXX:-$here/libexec/link-program}'
    echo "exec \"\$here/libexec/$1\" \"\$@\""
  } >"$root/bin/$1"
  chmod 755 "$root/bin/$1"
}
for tool in "$root"/bin/*; do
  tool=$(basename "$tool")
  if [ "$tool" = weft ] || [ -z "$patchelf" ]; then
    launcher "$tool"
  fi
done
install -m 755 "$top/scripts/link-program.sh" "$root/libexec/link-program"

#===- Archive -------------------------------------------------------------===#

# newest PREFIX: the newest version of symbols with a prefix that files need.
newest() {
  readelf -W --version-info "$root"/libexec/* "$root"/bin/* "$root"/lib/*.so* \
    "$root"/lib/programs/*.so* 2>/dev/null |
    grep -o "Name: $1_[0-9.]*" | sort -V | tail -n 1 | cut -d_ -f2
}
cat >"$root/README.txt" <<TEXT
weft $version for Linux on $(uname -m). It needs glibc $(newest GLIBC), a libstdc++ with
GLIBCXX_$(newest GLIBCXX), and /bin/sh, or newer ones.

  bin/weft train examples/gpt2-mini --data TEXT --steps 100

share/doc/weft/docs/how-to/install.md describes this folder, and licenses/ holds
the licence of each package that files were taken from.
TEXT
epoch=${SOURCE_DATE_EPOCH:-$(git -C "$top" log -1 --format=%ct 2>/dev/null || date +%s)}
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" \
  --mode=u+w,go-w -cf - "$name" | gzip -n >"$work/archive"
mv "$work/archive" "$out/$name.tar.gz"
echo "$out/$name.tar.gz: $(($(stat -c %s "$out/$name.tar.gz") >> 20)) MiB, $(($(du -sk "$root" | cut -f1) >> 10)) MiB unpacked"
