//! What tells whether a field is a time, as a server reads them: it refuses an event whose `@timestamp` is none.

use jiff::tz::TimeZone;
use serde_json::Value as Json;

use crate::error::DefinitionError;
use crate::steps::dates::{EPOCH_YEAR, Readings};
use crate::text::{Moment, Times};

/// A time, in milliseconds since the epoch, and how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// So that servers read it.
    AsServersRead(i64),
    /// In another way, which has to be written anew.
    Otherwise(i64),
}

/// The ways in which times are written.
#[derive(Debug)]
pub(super) struct Stamps {
    /// How nearly all are written.
    usual: [Moment; 2],
    times: Times,
    /// What servers take for times.
    known: Readings,
    /// What they do not take, and is a time.
    other: Readings,
}

impl Stamps {
    pub(super) fn new() -> Result<Self, DefinitionError> {
        let usual = |format| {
            Moment::compile(format).ok_or_else(|| DefinitionError::malformed("a known format"))
        };
        let read = |format: &str| Readings::parse(&[format.to_owned()], None, None);
        Ok(Stamps {
            usual: [
                usual("yyyy-MM-dd'T'HH:mm:ss.SSSXXX")?,
                usual("yyyy-MM-dd'T'HH:mm:ssXXX")?,
            ],
            times: Times::new(TimeZone::UTC),
            known: read("strict_date_optional_time||epoch_millis")?,
            other: read("ISO8601")?,
        })
    }

    /// What a text says, if it is a time.
    pub(super) fn read(&mut self, text: &str) -> Option<Written> {
        let times = &mut self.times;
        let usual = self.usual.iter().find_map(|one| one.read(text, times));
        let known = usual.or_else(|| self.known.read(text, EPOCH_YEAR).ok());
        known.map(Written::AsServersRead).or_else(|| {
            let other = self.other.read(text, EPOCH_YEAR).ok()?;
            Some(Written::Otherwise(other))
        })
    }
}

/// What the only item of a list says: servers read a list of one as that one.
pub(super) fn only_item(json: &str) -> Option<String> {
    let [item]: [Json; 1] = serde_json::from_str(json).ok()?;
    match item {
        Json::String(text) => Some(text),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
