#!/bin/bash
# Builds CPython for WASI preview 1 from Debian's source package, on Debian 13 and as root (a container will do):
#
#   build.sh OUTPUT [BUILD_FOLDER]
#
# Writes OUTPUT/python.wasm and OUTPUT/SHA256SUMS. The result depends on neither the folder nor the time.
set -euo pipefail

output=$(realpath -m "${1:?Name the folder for the result.}")
work=$(realpath -m "${2:-/tmp/python-wasi}")
version=3.13.5-2+deb13u5

# The time of the source package, in place of that of the build.
export SOURCE_DATE_EPOCH=1750000000
export LC_ALL=C.UTF-8 TZ=UTC DEBIAN_FRONTEND=noninteractive

apt-get update -qq
apt-get install -y -qq --no-install-recommends \
  ca-certificates clang-19 dpkg-dev libclang-rt-19-dev-wasm32 lld-19 llvm-19 make python3.13 wasi-libc >/dev/null
if ! grep -rqs deb-src /etc/apt/sources.list /etc/apt/sources.list.d; then
  mirror=$(apt-get indextargets --format '$(REPO_URI)' "Created-By: Packages" | head -1)
  echo "deb-src $mirror trixie main" >/etc/apt/sources.list.d/python-wasi-source.list
  apt-get update -qq
fi

rm -rf "$work" && mkdir -p "$work" "$output" && cd "$work"
apt-get source -qq "python3.13=$version"
cd "python3.13-${version%%-*}"

mkdir cross && cd cross
target="--target=wasm32-wasi --sysroot=/usr -ffile-prefix-map=$work=."
CONFIG_SITE=../Tools/wasm/config.site-wasm32-wasi HOSTRUNNER=/bin/true \
  CC="clang-19 $target" CXX="clang++-19 $target" CPP="clang-19 -E $target" AR=llvm-ar-19 RANLIB=llvm-ranlib-19 \
  ../configure --host=wasm32-wasi --build=x86_64-pc-linux-gnu --with-build-python=/usr/bin/python3.13 \
  --disable-test-modules --disable-ipv6 --with-ensurepip=no --prefix=/usr/local >configure.log
make -j"$(nproc)" python.wasm >make.log 2>&1 || { tail -40 make.log; exit 1; }

llvm-strip-19 -o "$output/python.wasm" python.wasm
cd "$output" && sha256sum python.wasm | tee SHA256SUMS
