//! What is told of a configuration that is read line by line.

use serde_json::{Map, Value};

use super::{LeftOut, ReadFolder};

/// What is left out of a configuration, and what else its readers share.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) left_out: Vec<LeftOut>,
    /// What reads folders of patterns, if something does.
    pub(super) folders: Option<ReadFolder>,
}

impl Told {
    pub(super) fn tell(&mut self, line: usize, place: &str, reason: impl Into<String>) {
        self.left_out.push(LeftOut {
            line: Some(line),
            place: place.to_owned(),
            reason: reason.into(),
        });
    }

    /// Tells of settings that nobody has taken.
    pub(super) fn tell_rest(&mut self, line: usize, place: &str, settings: &Map<String, Value>) {
        // Names and performance: nothing is lost with them.
        const NOTHING_LOST: [&str; 5] = [
            "id",
            "enable_metric",
            "periodic_flush",
            "workers",
            "threads",
        ];
        for key in settings
            .keys()
            .filter(|key| !NOTHING_LOST.contains(&key.as_str()))
        {
            self.tell(line, place, format!("[{key}] has no counterpart"));
        }
    }
}
