//! Files that the command line names and that are read as a whole: with a bound, for a wrong name may be that of a device, or of
//! something that fills the memory.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, ensure};

/// What a configuration may take: a thousand times what those have that somebody wrote.
pub(crate) const CONFIG_BYTES_MAX: u64 = 16 << 20;

/// What is in a file.
///
/// # Errors
/// When it cannot be read, or is longer than that.
pub(crate) fn read(path: &Path, bytes_max: u64) -> anyhow::Result<Vec<u8>> {
    let told = || format!("cannot read {}", path.display());
    let file = File::open(path).with_context(told)?;
    let mut bytes = Vec::new();
    let mut within = file.take(bytes_max.saturating_add(1));
    within.read_to_end(&mut bytes).with_context(told)?;
    ensure!(
        bytes.len() as u64 <= bytes_max,
        "cannot read {}: it has more than {bytes_max} bytes",
        path.display()
    );
    Ok(bytes)
}

/// What is in a file of text.
///
/// # Errors
/// As `read`, and when it is not UTF-8.
pub(crate) fn read_text(path: &Path, bytes_max: u64) -> anyhow::Result<String> {
    let text = String::from_utf8(read(path, bytes_max)?);
    text.with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_up_to_their_bound() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, b"four").unwrap();
        assert_eq!(read(&file, 4).unwrap(), b"four");
        assert_eq!(read_text(&file, 4).unwrap(), "four");
        let error = read(&file, 3).unwrap_err().to_string();
        assert!(error.ends_with("it has more than 3 bytes"), "{error}");
        std::fs::write(&file, b"\xff").unwrap();
        assert!(read_text(&file, 4).is_err());
        assert!(read(&folder.path().join("none"), 4).is_err());
    }

    #[test]
    #[cfg(unix)]
    fn a_device_without_an_end_fills_nothing() {
        assert!(read(Path::new("/dev/zero"), CONFIG_BYTES_MAX).is_err());
    }
}
