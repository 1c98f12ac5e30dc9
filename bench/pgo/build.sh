#!/usr/bin/env bash
# Builds the binary with profile-guided optimisation in a folder of its own: once with counters, then with all crates
# optimised as one for what was counted.
#
#   build.sh FOLDER               trained by train.py
#   build.sh FOLDER --counting    only the binary with counters, to be run where the work is real
#   build.sh FOLDER A.profraw…    trained by what such binaries have counted
set -euo pipefail
export CARGO_TARGET_DIR=${1:?usage: build.sh TARGET_FOLDER [--counting | PROFILE…]}
shift
cd "$(dirname "$0")/../.."
# Nothing is built a third time.
export CARGO_INCREMENTAL=0
host=$(rustc -vV | sed -n 's/^host: //p')
# Naming the target keeps build scripts and macros free of counters.
build=(cargo build --release --locked -p clew --target "$host")
# What .cargo/config.toml asks for, which RUSTFLAGS replaces.
frames=-Cforce-frame-pointers=yes
built=$CARGO_TARGET_DIR/$host/release/clew
profile=$CARGO_TARGET_DIR/clew.profdata

# The compiler's own tool, or the system's newest that reads what this compiler writes: 19 does, 14 does not.
merge=
for tool in $(ls /usr/lib/llvm-*/bin/llvm-profdata 2>/dev/null | sort -V) "$(rustc --print sysroot)/lib/rustlib/$host/bin/llvm-profdata"; do
	version=$({ "$tool" merge --version 2>/dev/null || true; } | sed -n 's/.*LLVM version \([0-9]*\).*/\1/p')
	if [ "${version:-0}" -ge 19 ]; then merge=$tool; fi
done
if [ -z "$merge" ] && [ "${1:-}" != --counting ]; then
	echo "llvm-profdata of LLVM 19 or later is needed: rustup component add llvm-tools, or apt-get install llvm-19" >&2
	exit 1
fi

if [ $# = 0 ] && ! command -v python3 >/dev/null; then
	echo "python3 is needed for the work that it is trained by" >&2
	exit 1
fi

if [ $# = 0 ] || [ "$1" = --counting ]; then
	# A process that is asked to end also writes what it has counted, beside where it was started.
	RUSTFLAGS="$frames -Cprofile-generate --cfg clew_training" "${build[@]}"
	ln -f "$built" "$CARGO_TARGET_DIR/clew-counting"
fi
if [ "${1:-}" = --counting ]; then
	echo "$CARGO_TARGET_DIR/clew-counting"
	exit
fi
if [ $# = 0 ]; then
	counted=$CARGO_TARGET_DIR/counted
	rm -rf "$counted"
	mkdir -p "$counted"
	python3 bench/pgo/train.py --bin "$CARGO_TARGET_DIR/clew-counting" --out "$counted"
	set -- "$counted"/*.profraw
fi
"$merge" merge -o "$profile" "$@"
CARGO_PROFILE_RELEASE_LTO=fat CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1 RUSTFLAGS="$frames -Cprofile-use=$profile" "${build[@]}"
ln -f "$built" "$CARGO_TARGET_DIR/clew"
echo "$CARGO_TARGET_DIR/clew"
