//! The folder that a benchmark works in, on the disk that is to be measured.

use std::path::{Path, PathBuf};

use anyhow::ensure;

use super::begun::Begun;

/// A benchmark's folder, removed at the end.
pub(super) struct Folder(pub(super) PathBuf, Begun);

impl Folder {
    /// Makes one below another that has to be there; `what` is measured in it.
    pub(super) fn new(below: &Path, what: &str, begun: &Begun) -> anyhow::Result<Self> {
        ensure!(below.is_dir(), "{} is no folder", below.display());
        let path = below.join(format!("clew-bench-{what}-{}", std::process::id()));
        begun.make(&path)?;
        Ok(Folder(path, begun.clone()))
    }

    /// Fails once nothing is to be begun in it any more.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        self.1.check()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.1.remove(&self.0);
    }
}
