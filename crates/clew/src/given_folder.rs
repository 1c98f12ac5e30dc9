//! Folders that the command line names: one that cannot be looked at is told as that, and not as one that is not there.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::Context;

/// Whether a folder is there.
///
/// # Errors
/// When that cannot be found out, as without the right to look.
pub(crate) fn is_folder(path: &Path) -> anyhow::Result<bool> {
    match std::fs::metadata(path) {
        Ok(about) => Ok(about.is_dir()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(false)
        }
        Err(error) => Err(error).with_context(|| format!("cannot look at {}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_looked_at_is_not_told_as_missing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, b"").unwrap();
        assert!(is_folder(folder.path()).unwrap());
        for absent in [&file, &file.join("below"), &folder.path().join("none")] {
            assert!(!is_folder(absent).unwrap(), "{}", absent.display());
        }
        // Rights would do, but for those of root.
        let beyond = folder.path().join("n".repeat(300));
        let error = is_folder(&beyond).unwrap_err().to_string();
        assert!(error.starts_with("cannot look at "), "{error}");
    }
}
