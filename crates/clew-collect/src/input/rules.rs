//! What is done with the files of one input: its options, checked and made ready.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::glob::{is_pattern, path_matches};
use crate::error::CollectError;
use crate::frame::{Encoding, Framing, Group, Joiner, Rest, unmarked};
use crate::options::FileOptions;
use crate::parse::ParserName;

/// The longest wait for the rest of a container's line where no other time is given.
const PART_TIMEOUT: Duration = Duration::from_secs(5);

/// Bytes of a file that its parser is chosen by.
pub(super) const SAMPLE_BYTES_MAX: usize = 64 << 10;

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

    /// Whether the input would read a file that is found at a path.
    pub(crate) fn asks_for(&self, path: &Path) -> bool {
        let fits = |pattern: &str| is_pattern(pattern) && path_matches(pattern, path);
        let asks = |asked: &PathBuf| path.starts_with(asked) || asked.to_str().is_some_and(fits);
        self.options.paths.iter().any(asks) && !self.excludes(path)
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

    /// The text of the first lines of a file, without what they are wrapped in, by which its parser is chosen; nothing
    /// while there is no whole line, unless nothing more comes.
    pub(crate) fn sample(&self, encoding: Encoding, data: &[u8], last: bool) -> Option<String> {
        let framing = self.framing(encoding, ParserName::Plain);
        if !framing.decodes() {
            let range = sample_range(data, last)?;
            let text = unmarked(&data[range], 0);
            // What is before the first line that was not lost says nothing.
            let text = String::from_utf8_lossy(text);
            return Some(text.trim_start_matches('\0').to_owned());
        }
        let is_over = last || data.len() > SAMPLE_BYTES_MAX;
        let data = &data[..data.len().min(SAMPLE_BYTES_MAX)];
        let mut group = Group::default();
        let (mut at, mut text) = (0, Vec::new());
        let bytes_max = self.options.line_bytes_max;
        while framing.first(&data[at..], bytes_max, Rest::Quiet, &mut group) {
            text.extend_from_slice(&group.text);
            text.push(b'\n');
            at += group.end;
        }
        (at > 0 || is_over).then(|| String::from_utf8_lossy(&text).into_owned())
    }
}

/// The whole lines at the start of a file.
fn sample_range(data: &[u8], last: bool) -> Option<Range<usize>> {
    let start = &data[..data.len().min(SAMPLE_BYTES_MAX)];
    match memchr::memrchr(b'\n', start) {
        Some(end) => Some(0..end + 1),
        None if last || data.len() > SAMPLE_BYTES_MAX => Some(0..start.len()),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_that_is_longer_than_a_sample_is_not_waited_for() {
        let rules = FileRules::new(&FileOptions::new(Vec::new())).unwrap();
        for encoding in [Encoding::Utf8, Encoding::Utf16Le] {
            let sample = |bytes: usize| rules.sample(encoding, &vec![b'x'; bytes], false);
            assert_eq!(sample(SAMPLE_BYTES_MAX), None);
            assert!(sample(SAMPLE_BYTES_MAX + 1).is_some());
        }
    }
}
