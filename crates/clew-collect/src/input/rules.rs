//! What is done with the files of one input: its options, checked and made ready.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::frame::{Encoding, Framing, Joiner};
use super::glob::path_matches;
use crate::error::CollectError;
use crate::options::FileOptions;
use crate::parse::ParserName;

/// The longest wait for the rest of a container's line where no other time is given.
const PART_TIMEOUT: Duration = Duration::from_secs(5);

/// The rules of one input.
#[derive(Debug)]
pub(crate) struct FileRules {
    /// The options, with absolute paths.
    pub(crate) options: FileOptions,
    joiner: Option<Joiner>,
    /// How long a file has to be quiet until an event that waits for more is taken as it is.
    pub(crate) quiet_after: Duration,
}

impl FileRules {
    pub(crate) fn new(options: &FileOptions) -> Result<FileRules, CollectError> {
        let absolute = |path: &PathBuf| {
            std::path::absolute(path).map_err(|source| CollectError::Io {
                action: "find the folder of",
                path: path.clone(),
                source,
            })
        };
        let multiline = options.multiline.as_ref();
        Ok(FileRules {
            options: FileOptions {
                paths: options
                    .paths
                    .iter()
                    .map(absolute)
                    .collect::<Result<_, _>>()?,
                ..options.clone()
            },
            joiner: multiline.map(Joiner::new).transpose()?,
            quiet_after: multiline.map_or(PART_TIMEOUT, |multiline| multiline.timeout),
        })
    }

    /// Whether a file that was found is left out.
    pub(crate) fn excludes(&self, path: &Path) -> bool {
        let excluded = |pattern: &String| path_matches(pattern, path);
        self.options.exclude.iter().any(excluded)
    }

    /// The encoding of a file that begins like this.
    pub(crate) fn encoding(&self, start: &[u8]) -> Encoding {
        match self.options.encoding {
            Encoding::Utf8 => Encoding::marked(start).unwrap_or_default(),
            given => given,
        }
    }

    /// How the events of a file with this parser are told apart.
    pub(crate) fn framing(&self, encoding: Encoding, parser: ParserName) -> Framing {
        Framing::new(self.joiner.clone(), self.options.wrapping, encoding, parser)
    }
}
