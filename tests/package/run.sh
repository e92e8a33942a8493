#!/usr/bin/env bash
# Uses Weft from outside, in every way the documentation promises.
#   tests/package/run.sh BUILD    BUILD is a finished build with static libraries
set -euo pipefail

build=${1:?usage: tests/package/run.sh BUILD}
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'wait; rm -rf "$work"' EXIT

fail() {
  echo "package: $*" >&2
  exit 1
}

# quietly COMMAND...: shows the output only when the command fails. Two may run at a time.
quietly() {
  local log=$work/log.$BASHPID
  "$@" >"$log" 2>&1 || {
    cat "$log" >&2
    fail "failed: $*"
  }
}

# expect_output PROGRAM: the consumer must compute the right thing, with the right version.
version=$(sed -n 's/^#define WEFT_VERSION "\(.*\)"$/\1/p' "$root/include/weft/version.hpp")
expect_output() {
  local printed
  printed=$(timeout 60 "$1") || fail "$1 ended with $?"
  [[ $printed == "weft $version: fib(20) = 6765" ]] || fail "$1 printed: $printed"
}

configure() { # NAME OPTIONS...
  local name=$1
  shift
  quietly cmake -G Ninja -S "$here/consumer" -B "$work/$name" -DCMAKE_BUILD_TYPE=Release "$@"
}

consume_installed() { # NAME PREFIX
  local name=$1 prefix=$2
  configure "$name-all" -DCMAKE_PREFIX_PATH="$prefix"
  quietly cmake --build "$work/$name-all"
  expect_output "$work/$name-all/consumer"

  configure "$name-components" -DCMAKE_PREFIX_PATH="$prefix" -DWEFT_COMPONENTS="core;base"
  quietly cmake --build "$work/$name-components"
  expect_output "$work/$name-components/consumer"

  local flags
  export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
  [[ $(pkg-config --modversion weft) == "$version" ]] || fail "pkg-config has another version"
  read -r -a flags <<<"$(pkg-config --cflags --libs weft)"
  quietly g++ -std=c++20 -o "$work/$name-pkg-config" "$here/consumer/main.cpp" "${flags[@]}" \
    "-Wl,-rpath,$prefix/lib"
  expect_output "$work/$name-pkg-config"

  configure "$name-batch" -DCMAKE_PREFIX_PATH="$prefix" -DWEFT_BATCH=ON
  quietly cmake --build "$work/$name-batch"
  read -r -a flags <<<"$(pkg-config --cflags --libs weft-batch)"
  quietly g++ -std=c++20 -o "$work/$name-batch-pkg-config" "$here/consumer/batch.cpp" "${flags[@]}" \
    "-Wl,-rpath,$prefix/lib"
  for program in "$work/$name-batch/consumer" "$work/$name-batch-pkg-config"; do
    [[ $(timeout 60 "$program") == "2 passed, 1 failed" ]] || fail "$program ran no plan"
  done

  for layer in io flow; do
    configure "$name-$layer" -DCMAKE_PREFIX_PATH="$prefix" "-DWEFT_${layer^^}=ON"
    quietly cmake --build "$work/$name-$layer"
    read -r -a flags <<<"$(pkg-config --cflags --libs "weft-$layer")"
    quietly g++ -std=c++20 -o "$work/$name-$layer-pkg-config" "$here/consumer/$layer.cpp" \
      "${flags[@]}" "-Wl,-rpath,$prefix/lib"
    for program in "$work/$name-$layer/consumer" "$work/$name-$layer-pkg-config"; do
      [[ $(timeout 60 "$program") == 42 ]] || fail "$program ran no task"
    done
  done

  configure "$name-metrics" -DCMAKE_PREFIX_PATH="$prefix" -DWEFT_METRICS=ON
  quietly cmake --build "$work/$name-metrics"
  read -r -a flags <<<"$(pkg-config --cflags --libs weft-metrics)"
  quietly g++ -std=c++20 -o "$work/$name-metrics-pkg-config" "$here/consumer/metrics.cpp" \
    "${flags[@]}" "-Wl,-rpath,$prefix/lib"
  for program in "$work/$name-metrics/consumer" "$work/$name-metrics-pkg-config"; do
    [[ $(timeout 60 "$program") == counted ]] || fail "$program has no metrics"
  done

  configure "$name-otlp" -DCMAKE_PREFIX_PATH="$prefix" -DWEFT_OTLP=ON
  quietly cmake --build "$work/$name-otlp"
  read -r -a flags <<<"$(pkg-config --cflags --libs weft-otlp)"
  quietly g++ -std=c++20 -o "$work/$name-otlp-pkg-config" "$here/consumer/otlp.cpp" \
    "${flags[@]}" "-Wl,-rpath,$prefix/lib"
  for program in "$work/$name-otlp/consumer" "$work/$name-otlp-pkg-config"; do
    [[ $(timeout 60 "$program") == waits ]] || fail "$program exports nothing"
  done
  echo "package: $name: find_package, components and pkg-config work"
}

# The prefix is moved after the installation: nothing in it may remember where it was.
install_moved() { # BUILD PREFIX
  quietly cmake --install "$1" --prefix "$2.before"
  mv "$2.before" "$2"
}

quietly cmake --build "$build"
install_moved "$build" "$work/static"
# One program after the other leaves a core idle; what follows uses it.
consume_installed static "$work/static" &
static=$!

quietly cmake -G Ninja -S "$root" -B "$work/shared-build" -DCMAKE_BUILD_TYPE=Release \
  -DBUILD_SHARED_LIBS=ON -DCMAKE_INSTALL_LIBDIR=lib \
  -DWEFT_BUILD_TESTS=OFF -DWEFT_BUILD_BENCH=OFF -DWEFT_BUILD_EXAMPLES=OFF
quietly cmake --build "$work/shared-build"
install_moved "$work/shared-build" "$work/shared"
compgen -G "$work/shared/lib/libweft_base.so*" >/dev/null || fail "no shared library was installed"
consume_installed shared "$work/shared"
wait "$static"

if cmake -G Ninja -S "$here/consumer" -B "$work/unknown" -DCMAKE_PREFIX_PATH="$work/static" \
  -DWEFT_COMPONENTS="core;teleport" >"$work/log" 2>&1; then
  fail "an unknown component was accepted"
fi
grep -q 'weft has no component "teleport"' "$work/log" || {
  cat "$work/log" >&2
  fail "the message about an unknown component does not name it"
}
if cmake -G Ninja -S "$here/consumer" -B "$work/too-new" -DCMAKE_PREFIX_PATH="$work/static" \
  -DWEFT_WANTED_VERSION=99.0 >"$work/log" 2>&1; then
  fail "a version that is too old was accepted"
fi
echo "package: an unknown component and a version from the future are refused"

configure subdirectory -DWEFT_SOURCE="$root"
quietly cmake --build "$work/subdirectory"
expect_output "$work/subdirectory/consumer"
if grep -q -e '-Werror' "$work/subdirectory/build.ninja"; then
  fail "add_subdirectory forces our warnings on the consumer"
fi
echo "package: add_subdirectory works"
