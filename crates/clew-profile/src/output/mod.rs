//! A capture as files: what other programs read, and what people look at.

mod collapsed;
mod difference;
mod flame;
mod pprof;
mod tree;

use std::io::Write;

pub use self::difference::difference;
pub use self::flame::svg_text;
use crate::{Profile, ProfileError};

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// pprof's protobuf, compressed by gzip: for `go tool pprof` and whatever else reads it.
    Pprof,
    /// One line for each stack: frames with semicolons between them, a blank, a number.
    Collapsed,
    /// A flame graph, which a browser shows with zoom and search.
    Svg,
    /// The same in a page.
    Html,
}

impl Format {
    /// By what a request or a file's name says, in letters of either size.
    pub fn by_name(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "pprof" | "pb" | "gz" => Some(Format::Pprof),
            "collapsed" | "folded" | "txt" => Some(Format::Collapsed),
            "svg" => Some(Format::Svg),
            "html" => Some(Format::Html),
            _ => None,
        }
    }

    /// The type of its content, for HTTP.
    pub fn content_type(self) -> &'static str {
        match self {
            Format::Pprof => "application/octet-stream",
            Format::Collapsed => "text/plain; charset=utf-8",
            Format::Svg => "image/svg+xml",
            Format::Html => "text/html; charset=utf-8",
        }
    }
}

/// Writes a picture into a page of its own.
///
/// # Errors
/// When writing fails.
pub fn html_page(picture: &[u8], to: &mut dyn Write) -> Result<(), ProfileError> {
    to.write_all(
        b"<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>Flame graph</title></head>\n\
          <body style=\"margin: 0\">\n",
    )?;
    to.write_all(picture)?;
    to.write_all(b"</body>\n</html>\n")?;
    Ok(())
}

impl Profile {
    /// Writes the main value, or all values where the format has room for them.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write(&self, format: Format, to: &mut dyn Write) -> Result<(), ProfileError> {
        self.write_value(format, self.main_value(), to)
    }

    /// The same with a value of one's choice in front.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write_value(
        &self,
        format: Format,
        value: usize,
        to: &mut dyn Write,
    ) -> Result<(), ProfileError> {
        match format {
            Format::Pprof => pprof::write(self, value, to),
            Format::Collapsed => collapsed::write(self, value, to),
            Format::Svg => flame::write(self, value, to),
            Format::Html => {
                let mut picture = Vec::new();
                flame::write(self, value, &mut picture)?;
                html_page(&picture, to)
            }
        }
    }

    /// Reads a file of pprof's, compressed or not, or of collapsed stacks.
    ///
    /// # Errors
    /// When it is neither, or larger than 256 MiB.
    pub fn read(bytes: &[u8]) -> Result<Self, ProfileError> {
        match bytes {
            [0x1f, 0x8b, ..] => pprof::read(bytes),
            // Stacks, too, may begin with the end of a line.
            [0x0a, ..] => {
                pprof::read(bytes).or_else(|wrong| collapsed::read(bytes).map_err(|_| wrong))
            }
            _ => collapsed::read(bytes),
        }
    }
}
