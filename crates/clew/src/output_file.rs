//! Files that commands write at their end: whether they can is found out at the beginning, and until there is something to write
//! what was there stays.

use std::fs::OpenOptions;
use std::path::Path;

use anyhow::Context;

/// Fails now, and not after what takes long, where a file that is wanted later cannot be written.
pub(crate) fn check_writable(path: &Path) -> anyhow::Result<()> {
    let is_new = !path.exists();
    let told = || format!("cannot write {}", path.display());
    let opened = OpenOptions::new().create(true).append(true).open(path);
    opened.with_context(told)?;
    if is_new {
        // What fails before there is anything to write shall leave nothing.
        std::fs::remove_file(path).with_context(told)?;
    }
    Ok(())
}

/// Writes a file in place of what was there.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}
