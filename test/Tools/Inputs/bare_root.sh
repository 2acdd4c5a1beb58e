#!/usr/bin/env bash
# bare_root.sh TARBALL SCRATCH [PACKAGES]: trains with the tarball of
# scripts/package.sh in a root file system that holds libc, libstdc++ and dash.
#
# The root is made from packages in SCRATCH: `*.deb` files in PACKAGES, of any
# distribution, else packages of this system's archive, else, without an archive,
# the installed files of the same packages. Needs root, or user namespaces.
set -euo pipefail
tarball=$(realpath "$1")
mkdir -p "$2"
scratch=$(cd "$2" && pwd)
root=$scratch/root
packages=(libc6 libstdc++6 libgcc-s1 dash)

fail() {
  echo "bare_root.sh: error: $*" >&2
  exit 1
}

rm -rf "$root" && mkdir -p "$root" "$scratch/packages"
if [ $# -gt 2 ]; then
  debs=$(realpath "$3") origin=$3
elif (cd "$scratch/packages" && timeout 60 apt-get download -q "${packages[@]}") >"$scratch/apt.log" 2>&1; then
  debs=$scratch/packages origin="packages of the archive"
else
  debs= origin="installed packages (no archive is reachable)"
fi
if [ -n "$debs" ]; then
  for file in "$debs"/*.deb; do
    dpkg-deb -x "$file" "$root" || fail "cannot unpack $file"
  done
else
  dpkg -L "${packages[@]}" | grep -v '^/usr/share/' | sort -u |
    while read -r path; do
      if [ ! -d "$path" ]; then echo "$path"; fi
    done | tar -cf - --files-from=- --absolute-names | tar -xf - -C "$root" --strip-components=1
fi
# One /usr, as systems have it.
for folder in bin lib lib64 sbin; do
  if [ -d "$root/$folder" ] && [ ! -L "$root/$folder" ]; then
    mkdir -p "$root/usr/$folder"
    cp -a "$root/$folder/." "$root/usr/$folder"
    rm -r "${root:?}/$folder"
  fi
  mkdir -p "$root/usr/$folder"
  ln -sfn "usr/$folder" "$root/$folder"
done
[ -e "$root/bin/sh" ] || ln -s dash "$root/bin/sh"
mkdir -p "$root/proc" "$root/dev" "$root/tmp" "$root/opt"
tar -xzf "$tarball" -C "$root/opt"
mv "$root"/opt/weft-* "$root/opt/weft"
cat "$root"/opt/weft/share/doc/weft/docs/how-to/*.md >"$root/tmp/text"

cat >"$root/tmp/train" <<'SH'
set -e
export HOME=/tmp TMPDIR=/tmp PATH=/opt/weft/bin:/usr/bin
for tool in cc c++ g++ clang++ ld mpirun; do
  if command -v $tool; then exit 1; fi
done
cd /opt/weft
weft train examples/gpt2-mini --data /tmp/text --batch 2 --seq 32 --steps 5 --log-every 1
echo "trained on one rank"
weft compile examples/gpt2-mini --batch 2 --seq 32 --mesh dp:2 -o /tmp/two
/tmp/two --loopback 2 --data /tmp/text --steps 2 --log-every 1
echo "trained on two ranks"
weft compile examples/mlp.mlir -o /tmp/mlp
/tmp/mlp --version
weft-opt --version
SH
mounts=(unshare --mount --pid --fork)
[ "$(id -u)" -eq 0 ] || mounts+=(--map-root-user)
mount_and_enter='mount -t proc proc "$0/proc" && touch "$0/dev/null" && mount --bind /dev/null "$0/dev/null" && exec chroot "$0" /bin/sh /tmp/train'
echo "root file system from $origin"
"${mounts[@]}" bash -c "$mount_and_enter" "$root" || fail "the tarball does not work there"
