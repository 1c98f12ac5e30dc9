//! The folder that a benchmark works in, on the disk that is to be measured.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

/// A benchmark's folder, removed at the end.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    /// Makes one below another that has to be there; `what` is measured in it.
    pub(super) fn new(below: &Path, what: &str) -> anyhow::Result<Self> {
        ensure!(below.is_dir(), "{} is no folder", below.display());
        let path = below.join(format!("clew-bench-{what}-{}", std::process::id()));
        std::fs::create_dir_all(&path)
            .with_context(|| format!("cannot make the folder {}", path.display()))?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
