#!/usr/bin/env bash
# Builds the binary with profile-guided optimisation in a folder of its own: once with counters, which `train.py` fills,
# then with all crates optimised as one for what was counted.
set -euo pipefail
export CARGO_TARGET_DIR=${1:?usage: build.sh TARGET_FOLDER}
cd "$(dirname "$0")/../.."
# Nothing is built a third time.
export CARGO_INCREMENTAL=0
host=$(rustc -vV | sed -n 's/^host: //p')
# Naming the target keeps build scripts and macros free of counters.
build=(cargo build --release --locked -p clew --target "$host")
# What .cargo/config.toml asks for, which RUSTFLAGS replaces.
frames=-Cforce-frame-pointers=yes
counted=$CARGO_TARGET_DIR/counted
profile=$CARGO_TARGET_DIR/clew.profdata

# Any version of the tool that reads what this compiler writes will do: its own, or the system's newest.
merge=
for tool in $(ls /usr/lib/llvm-*/bin/llvm-profdata 2>/dev/null | sort -V) "$(rustc --print sysroot)/lib/rustlib/$host/bin/llvm-profdata"; do
	if [ -x "$tool" ]; then merge=$tool; fi
done
if [ -z "$merge" ]; then
	echo "llvm-profdata is needed: rustup component add llvm-tools, or apt-get install llvm-19" >&2
	exit 1
fi

rm -rf "$counted"
RUSTFLAGS="$frames -Cprofile-generate=$counted" "${build[@]}"
"${PYTHON:-python3}" bench/pgo/train.py --bin "$CARGO_TARGET_DIR/$host/release/clew"
"$merge" merge -o "$profile" "$counted"
CARGO_PROFILE_RELEASE_LTO=fat CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1 RUSTFLAGS="$frames -Cprofile-use=$profile" "${build[@]}"
ln -f "$CARGO_TARGET_DIR/$host/release/clew" "$CARGO_TARGET_DIR/clew"
echo "$CARGO_TARGET_DIR/clew"
