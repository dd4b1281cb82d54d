#!/usr/bin/env bash
# tests/install/run.sh BUILD: installs what BUILD holds into an empty folder, tries the program there from another
# directory, and builds and runs a consumer of find_package(noteg).
set -euo pipefail
build=$(readlink -f "$1")
here="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/root" >"$work/install.log"
cd "$work"
"$work/root/bin/noteg" --version
"$work/root/bin/noteg" simulate --arch l4 --kernel naive_16 --shape 512x512x512 >"$work/text"
test -s "$work/root/share/man/man1/noteg.1"
bash -n "$work/root/share/bash-completion/completions/noteg"
cmake -S "$here/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$work/root" -DCMAKE_BUILD_TYPE=Release >"$work/configure.log"
cmake --build "$work/consumer" >"$work/build.log"
NOTEG_ARCH_PATH="$work/root/share/noteg/arch" "$work/consumer/consumer"
echo "installed, found and run"
