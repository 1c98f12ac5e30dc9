//! Files that commands write at their end: whether they can is found out at the beginning, and until there is something to write
//! what was there stays.

use std::fs::{File, OpenOptions, canonicalize, remove_file};
use std::io::Write;
use std::path::Path;

use anyhow::Context;

/// Fails now, and not after what takes long, where a file that is wanted later cannot be written.
pub(crate) fn check_writable(path: &Path) -> anyhow::Result<()> {
    let is_new = !path.exists();
    let told = || format!("cannot write {}", path.display());
    let opened = OpenOptions::new().create(true).append(true).open(path);
    opened.with_context(told)?;
    if is_new {
        // What fails before there is anything to write shall leave nothing; a link to what is not there yet stays one.
        let made = canonicalize(path).with_context(told)?;
        remove_file(made).with_context(told)?;
    }
    Ok(())
}

/// Writes a file in place of what was there. Of one that cannot be written to its end nothing is left: half a result would be taken
/// for one.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let told = || format!("cannot write {}", path.display());
    let mut file = File::create(path).with_context(told)?;
    let written = file.write_all(bytes);
    // Pipes and devices stay.
    if written.is_err()
        && file.metadata().is_ok_and(|about| about.is_file())
        && let Ok(half) = canonicalize(path)
    {
        let _ = remove_file(half);
    }
    written.with_context(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_what_is_not_there_yet_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        let (link, target) = (folder.path().join("link"), folder.path().join("target"));
        std::os::unix::fs::symlink(&target, &link).unwrap();
        check_writable(&link).unwrap();
        assert!(link.is_symlink() && !target.exists());
        write(&link, b"whole").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&target).unwrap(), b"whole");
        // What is there stays until there is something to write.
        check_writable(&link).unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"whole");
        assert!(check_writable(folder.path()).is_err());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_device_stays_that_takes_nothing() {
        let device = Path::new("/dev/full");
        assert!(write(device, b"lost").is_err());
        assert!(device.exists());
    }
}
