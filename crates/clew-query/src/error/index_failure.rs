//! What tantivy has said, in words for clients: its own show how Rust writes the values that it has.

use std::io;

use tantivy::TantivyError;
use tantivy::directory::error::{OpenDirectoryError, OpenReadError, OpenWriteError};

/// What is wrong with the files of an index, or with what was asked of them: which file, and what the system has said.
pub fn index_reason(error: &TantivyError) -> String {
    match error {
        // What was told by ourselves stands as it is.
        TantivyError::InvalidArgument(reason)
        | TantivyError::InternalError(reason)
        | TantivyError::SchemaError(reason)
        | TantivyError::SystemError(reason)
        | TantivyError::ErrorInThread(reason) => reason.clone(),
        TantivyError::IoError(source) => source.to_string(),
        TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(path)) => {
            format!("there is no file {}", path.display())
        }
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, filepath }) => {
            format!("cannot read {}: {io_error}", filepath.display())
        }
        TantivyError::OpenWriteError(OpenWriteError::FileAlreadyExists(path)) => {
            format!("there is a file {} already", path.display())
        }
        TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, filepath }) => {
            format!("cannot write {}: {io_error}", filepath.display())
        }
        TantivyError::OpenDirectoryError(error) => directory_reason(error),
        TantivyError::LockFailure(error, _) => error.to_string(),
        other => other.to_string(),
    }
}

fn directory_reason(error: &OpenDirectoryError) -> String {
    match error {
        OpenDirectoryError::FailedToCreateTempDir(source) => {
            format!("cannot create a folder: {source}")
        }
        OpenDirectoryError::IoError {
            io_error,
            directory_path,
        } => format!("cannot open {}: {io_error}", directory_path.display()),
        other => other.to_string(),
    }
}

/// What the disk has said, where it is that which is wrong.
pub fn index_disk_error(error: &TantivyError) -> Option<&io::Error> {
    match error {
        TantivyError::IoError(source)
        | TantivyError::OpenReadError(OpenReadError::IoError {
            io_error: source, ..
        })
        | TantivyError::OpenWriteError(OpenWriteError::IoError {
            io_error: source, ..
        })
        | TantivyError::OpenDirectoryError(OpenDirectoryError::IoError {
            io_error: source, ..
        }) => Some(&**source),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_disk_has_said_is_told_with_the_file_and_without_rust() {
        let full = || io::Error::from_raw_os_error(28);
        let read = OpenReadError::wrap_io_error(full(), "a.term".into());
        let write = OpenWriteError::wrap_io_error(full(), "a.pos".into());
        let folder = OpenDirectoryError::wrap_io_error(full(), "shard".into());
        for (error, file) in [
            (TantivyError::from(full()), ""),
            (read.into(), "cannot read a.term: "),
            (write.into(), "cannot write a.pos: "),
            (folder.into(), "cannot open shard: "),
        ] {
            assert_eq!(index_reason(&error), format!("{file}{}", full()));
            let said = index_disk_error(&error).and_then(io::Error::raw_os_error);
            assert_eq!(said, Some(28));
        }
    }

    #[test]
    fn what_is_wrong_otherwise_is_told_in_words() {
        let missing = OpenReadError::FileDoesNotExist("a.idx".into());
        let there = OpenWriteError::FileAlreadyExists("a.idx".into());
        for (error, words) in [
            (TantivyError::from(missing), "there is no file a.idx"),
            (there.into(), "there is a file a.idx already"),
            (TantivyError::InternalError("x".into()), "x"),
            (TantivyError::InvalidArgument("y".into()), "y"),
        ] {
            assert_eq!(index_reason(&error), words);
            assert!(index_disk_error(&error).is_none());
        }
    }
}
