//! How the released program is linked.

use std::env;
use std::process::Command;

/// The first version of glibc whose loader knows packed relocations.
const GLIBC: (u32, u32) = (2, 36);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let of = |name: &str| env::var(name).unwrap_or_default();
    let released = of("PROFILE") == "release";
    let at_home = of("TARGET") == of("HOST") && of("CARGO_CFG_TARGET_ENV") == "gnu";
    if released && at_home && glibc().is_some_and(|version| version >= GLIBC) {
        // The places that the loader puts addresses in, each told by 24 bytes, are 3.5 MB of the program; by a bit each they
        // are a thirtieth of that.
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The version of this system's C library, which the program will not start below where relocations are packed.
fn glibc() -> Option<(u32, u32)> {
    let asked = Command::new("getconf").arg("GNU_LIBC_VERSION").output();
    let said = String::from_utf8(asked.ok()?.stdout).ok()?;
    let (major, minor) = said.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
