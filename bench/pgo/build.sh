#!/usr/bin/env bash
# Builds the binary with profile-guided optimisation in a folder of its own: once with counters, which `train.py` fills,
# then with all crates optimised as one for what was counted.
set -euo pipefail
export CARGO_TARGET_DIR=${1:?usage: build.sh TARGET_FOLDER}
cd "$(dirname "$0")/../.."
host=$(rustc -vV | sed -n 's/^host: //p')
# Naming the target keeps build scripts and macros free of counters.
build=(cargo build --release --locked -p clew --target "$host")
counted=$CARGO_TARGET_DIR/counted
profile=$CARGO_TARGET_DIR/clew.profdata

# Any version of the tool that reads what this compiler writes will do: its own, or the system's newest.
merge=$(ls "$(rustc --print sysroot)/lib/rustlib/$host/bin/llvm-profdata" /usr/lib/llvm-*/bin/llvm-profdata 2>/dev/null | sort -V | tail -1)
if [ -z "$merge" ]; then
	echo "llvm-profdata is needed: rustup component add llvm-tools, or apt-get install llvm-19" >&2
	exit 1
fi

rm -rf "$counted"
RUSTFLAGS="-Cprofile-generate=$counted" "${build[@]}"
"${PYTHON:-python3}" bench/pgo/train.py --bin "$CARGO_TARGET_DIR/$host/release/clew"
"$merge" merge -o "$profile" "$counted"
CARGO_PROFILE_RELEASE_LTO=fat CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1 RUSTFLAGS="-Cprofile-use=$profile" "${build[@]}"
echo "$CARGO_TARGET_DIR/$host/release/clew"
