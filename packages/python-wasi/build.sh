#!/bin/bash
# Builds CPython for WASI preview 1 from Debian's source package, on Debian 13 and as root (a container will do):
#
#   build.sh OUTPUT [BUILD_FOLDER]
#
# Writes OUTPUT/python.wasm, OUTPUT/LICENSES.txt and OUTPUT/SHA256SUMS. The result depends on neither the folder nor the
# time.
set -euo pipefail

here=$(dirname "$(realpath "$0")")
output=$(realpath -m "${1:?Name the folder for the result.}")
work=$(realpath -m "${2:-/tmp/python-wasi}")
version=3.13.5-2+deb13u5
zlib=1:1.3.dfsg+really1.3.1-1
bzip2=1.0.8-6
sqlite=3.46.1-7+deb13u2

# The time of the source package, in place of that of the build.
export SOURCE_DATE_EPOCH=1750000000
export LC_ALL=C.UTF-8 TZ=UTC DEBIAN_FRONTEND=noninteractive PYTHONHASHSEED=0

apt-get update -qq
apt-get install -y -qq --no-install-recommends \
  ca-certificates clang-19 dpkg-dev file libclang-rt-19-dev-wasm32 lld-19 llvm-19 make python3.13 tcl wasi-libc \
  >/dev/null
if ! grep -rqs deb-src /etc/apt/sources.list /etc/apt/sources.list.d; then
  mirror=$(apt-get indextargets --format '$(REPO_URI)' "Created-By: Packages" | head -1)
  echo "deb-src $mirror trixie main" >/etc/apt/sources.list.d/python-wasi-source.list
  apt-get update -qq
fi

rm -rf "$work" && mkdir -p "$work/libraries" "$output" && cd "$work"
apt-get source -qq "python3.13=$version" "zlib=$zlib" "bzip2=$bzip2" "sqlite3=$sqlite"
source="$work/python3.13-${version%%-*}"
target="--target=wasm32-wasi --sysroot=/usr -ffile-prefix-map=$work=."

# Libraries of the modules zlib, bz2 and sqlite3. A library is a folder of sources.
library() {
  local name="$1" folder="$2" flags="$3"
  shift 3
  mkdir "$work/libraries/$name"
  (cd "$folder" && for file in "$@"; do
    clang-19 $target -O2 $flags -c "$file" -o "$work/libraries/$name/$(basename "$file" .c).o"
  done)
  llvm-ar-19 rcs "$work/libraries/lib$name.a" "$work/libraries/$name"/*.o
}
library z zlib-*/ "-DHAVE_UNISTD_H" \
  adler32.c compress.c crc32.c deflate.c inf{back,fast,late,trees}.c trees.c uncompr.c zutil.c
library bz2 bzip2-*/ "" blocksort.c huffman.c crctable.c randtable.c compress.c decompress.c bzlib.c
# One program without threads, shared memory and extensions uses the database, in memory or in files of its own.
(cd sqlite3-*/ && mkdir made && cd made && CC=clang-19 ../configure --disable-tcl --disable-readline >configure.log &&
  make BCC=clang-19 sqlite3.c >make.log 2>&1)
library sqlite3 sqlite3-*/made "-DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_OMIT_WAL \
  -DSQLITE_TEMP_STORE=3 -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_RTREE -DSQLITE_ENABLE_MATH_FUNCTIONS \
  -DSQLITE_ENABLE_COLUMN_METADATA" sqlite3.c
found() { echo "-I$(realpath "$1") -ffile-prefix-map=$work=."; }
export ZLIB_CFLAGS=$(found zlib-*/) ZLIB_LIBS="-L$work/libraries -lz"
export BZIP2_CFLAGS=$(found bzip2-*/) BZIP2_LIBS="-L$work/libraries -lbz2"
export LIBSQLITE3_CFLAGS=$(found sqlite3-*/made) LIBSQLITE3_LIBS="-L$work/libraries -lsqlite3"

mkdir "$source/cross" && cd "$source/cross"
# The two exports let a program continue a booted interpreter from a copy of its memory.
exports="-Wl,--export=PyRun_SimpleStringFlags,--export=__stack_pointer"
CONFIG_SITE=../Tools/wasm/config.site-wasm32-wasi HOSTRUNNER=/bin/true \
  CC="clang-19 $target" CXX="clang++-19 $target" CPP="clang-19 -E $target" AR=llvm-ar-19 RANLIB=llvm-ranlib-19 \
  ../configure --host=wasm32-wasi --build=x86_64-pc-linux-gnu --with-build-python=/usr/bin/python3.13 \
  --disable-test-modules --disable-ipv6 --with-ensurepip=no --prefix=/usr/local >configure.log
make -j"$(nproc)" LDFLAGS_NODIST="$exports" python.wasm pybuilddir.txt >make.log 2>&1 || { tail -40 make.log; exit 1; }

llvm-strip-19 -o stripped.wasm python.wasm
# The module of the build's settings has paths of the build folder.
sysconfig=$(find build -name '_sysconfigdata_*.py')
sed -i "s#$work#.#g" "$sysconfig"
python3.13 "$here/add-library.py" stripped.wasm "$source/Lib" "$sysconfig" "$output/python.wasm"
for text in "$source/debian/copyright" "$work"/{zlib,bzip2,sqlite3}-*/debian/copyright \
  /usr/share/doc/{wasi-libc,libclang-rt-19-dev-wasm32}/copyright; do
  printf '======== %s\n\n' "${text#"$work/"}"
  cat "$text"
done >"$output/LICENSES.txt"
cd "$output" && sha256sum python.wasm | tee SHA256SUMS
