//! Opening what has to be a file. Something else may lie under its name: a named pipe would be waited for without an end by
//! whoever opens it, a device may have bytes without an end, and of a socket the system only says that there is no such device.

use std::fs::{File, FileType, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// Opens a file without waiting for anybody. Flags that `options` had for the system are not kept.
///
/// # Errors
/// As `OpenOptions::open`. What is no file is told by its name, as `IsADirectory` or `InvalidInput`.
pub fn open_regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // A terminal must not become that of the process.
    let opened = options
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path);
    match opened {
        Ok(file) => match refusal(file.metadata()?.file_type()) {
            None => Ok(file),
            Some(error) => Err(error),
        },
        // Some kinds cannot be opened so at all.
        Err(error) => match std::fs::metadata(path) {
            Ok(found) => Err(refusal(found.file_type()).unwrap_or(error)),
            Err(_) => Err(error),
        },
    }
}

fn refusal(kind: FileType) -> Option<io::Error> {
    let (what, error) = if kind.is_file() {
        return None;
    } else if kind.is_dir() {
        ("a folder", io::ErrorKind::IsADirectory)
    } else if kind.is_fifo() {
        ("a named pipe", io::ErrorKind::InvalidInput)
    } else if kind.is_socket() {
        ("a socket", io::ErrorKind::InvalidInput)
    } else {
        ("a device", io::ErrorKind::InvalidInput)
    };
    Some(io::Error::new(error, format!("it is {what} and no file")))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn what_is_no_file_is_told_by_its_name_and_nobody_waits_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("folder")).unwrap();
        std::fs::write(path("file"), "x").unwrap();
        let _socket = UnixListener::bind(path("socket")).unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(path("pipe"))
            .status();
        assert!(made.unwrap().success());
        std::os::unix::fs::symlink(path("pipe"), path("link")).unwrap();
        for (name, what) in [
            (path("folder"), "a folder"),
            (path("pipe"), "a named pipe"),
            (path("link"), "a named pipe"),
            (path("socket"), "a socket"),
            ("/dev/null".into(), "a device"),
        ] {
            for options in [
                OpenOptions::new().read(true),
                OpenOptions::new().write(true),
                OpenOptions::new().read(true).write(true),
            ] {
                let error = open_regular(&name, options).unwrap_err().to_string();
                assert_eq!(error, format!("it is {what} and no file"));
            }
        }
        assert!(open_regular(&path("file"), OpenOptions::new().read(true)).is_ok());
        let none = open_regular(&path("none"), OpenOptions::new().read(true));
        assert_eq!(none.unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
