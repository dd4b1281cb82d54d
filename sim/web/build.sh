#!/usr/bin/env bash
# usage: build.sh ROOT OUT JOBS: the live page as OUT/noteg.html and the site as OUT/site. ./dev web calls it, with
# emscripten, Node.js and npm installed. OUT keeps the objects of the simulator for the next time.
set -euo pipefail

root=$1 out=$2 jobs=$3
toolchain=/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake
export CCACHE_COMPILERTYPE=clang # em++, which is one
export NODE_PATH=/usr/share/nodejs${NODE_PATH:+:$NODE_PATH} # emscripten's own helpers, whichever Node.js runs them

say() { printf 'web: %s\n' "$*" >&2; }

# The distribution has yaml-cpp for this machine only: its sources, through the lists of a folder of our own.
fetch_yaml_cpp() {
  [[ ! -f $out/yaml-cpp/src/parser.cpp ]] || return 0
  say "fetching the sources of yaml-cpp"
  local lists=$out/apt codename
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  mkdir -p "$lists/lists/partial" "$out/yaml-cpp"
  echo "deb-src http://deb.debian.org/debian $codename main" > "$lists/sources.list"
  local apt=(apt-get -q -o Dir::Etc::sourcelist="$lists/sources.list" -o Dir::Etc::sourceparts=-
    -o Dir::State::lists="$lists/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root)
  (cd "$lists" && "${apt[@]}" update && "${apt[@]}" source --download-only yaml-cpp) >&2
  tar -xf "$lists"/yaml-cpp_*.orig.tar.* -C "$out/yaml-cpp" --strip-components=1
}

# Headers that hold all that is used of their library; not /usr/include itself, whose C library is another one.
link_headers() {
  mkdir -p "$out/headers"
  local name
  for name in fmt nlohmann boost zlib.h zconf.h; do ln -sfn "/usr/include/$name" "$out/headers/$name"; done
}

modules() {
  mkdir -p "$out/node"
  if ! cmp -s "$root/sim/web/package.json" "$out/node/package.json"; then
    say "installing the page's libraries from npm"
    cp "$root/sim/web/package.json" "$out/node/package.json.new"
    mv "$out/node/package.json.new" "$out/node/package.json"
    npm install --no-audit --no-fund --loglevel=error --prefix "$out/node" >&2 || { rm "$out/node/package.json"; exit 1; }
  fi
}

simulator() {
  [[ -f $out/wasm/build.ninja ]] ||
    cmake -S "$root" -B "$out/wasm" -G Ninja -DCMAKE_TOOLCHAIN_FILE=$toolchain -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" -DBUILD_TESTING=OFF \
      -DNOTEG_WEB_HEADERS="$out/headers" -DNOTEG_YAML_CPP="$out/yaml-cpp" >&2
  cmake --build "$out/wasm" --parallel "$jobs" --target live >&2
}

fetch_yaml_cpp
link_headers
modules
simulator
node --no-experimental-fetch "$root/sim/web/build.mjs" "$root/sim/web/page" "$out/wasm/bin" "$out/node" "$out/noteg.html"
node "$root/sim/web/site.mjs" "$root" "$out/node" "$out/noteg.html" "$out/site"
say "open $out/noteg.html, from disk; the same with the documentation: $out/site/index.html"
