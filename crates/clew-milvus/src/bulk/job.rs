//! What is known of an import, as it is kept.

use serde::{Deserialize, Serialize};

/// How far an import is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum State {
    Pending,
    Importing,
    Failed,
    Completed,
}

impl State {
    /// As the RESTful API names it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            State::Pending => "Pending",
            State::Importing => "Importing",
            State::Failed => "Failed",
            State::Completed => "Completed",
        }
    }

    /// Its number among Milvus' `ImportState`.
    pub(crate) fn number(self) -> i32 {
        match self {
            State::Pending => 0,
            State::Failed => 1,
            State::Importing => 2,
            State::Completed => 6,
        }
    }

    pub(crate) fn is_ended(self) -> bool {
        match self {
            State::Failed | State::Completed => true,
            State::Pending | State::Importing => false,
        }
    }
}

/// What an import reads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct JobFile {
    /// As it was named; several names where fields have files of their own.
    pub(crate) name: String,
    pub(crate) bytes: u64,
    /// Bytes that were checked, and that were written.
    #[serde(default)]
    pub(crate) read: [u64; 2],
    /// Rows that were found, and that were written.
    #[serde(default)]
    pub(crate) rows: [u64; 2],
}

/// An import.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) id: i64,
    pub(crate) database: String,
    pub(crate) collection: String,
    pub(crate) collection_id: i64,
    pub(crate) partition: String,
    pub(crate) files: Vec<JobFile>,
    pub(crate) state: State,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) reason: String,
    pub(crate) began_ms: u64,
    #[serde(default)]
    pub(crate) ended_ms: u64,
}

/// Shares of the progress, in percent: before the first byte, and for the rows that were checked.
const BEGUN: u64 = 10;
const CHECKED: u64 = 30;

/// How far the reading of so many bytes is, in percent.
fn progress([checked, written]: [u64; 2], bytes: u64, state: State) -> u64 {
    let whole = bytes.max(1);
    match state {
        State::Pending => BEGUN,
        State::Completed => 100,
        State::Importing | State::Failed => {
            let share = |part: u64, of: u64| part.min(whole).saturating_mul(of) / whole;
            // Nothing is done before the last row is durable.
            let done = BEGUN + share(checked, CHECKED) + share(written, 100 - BEGUN - CHECKED);
            done.min(99)
        }
    }
}

impl JobFile {
    pub(crate) fn progress(&self, state: State) -> u64 {
        progress(self.read, self.bytes, state)
    }
}

impl Job {
    /// How far it is, in percent.
    pub(crate) fn progress(&self) -> u64 {
        let read = |at: usize| -> u64 {
            let all = self.files.iter().filter_map(|file| file.read.get(at));
            all.sum()
        };
        progress([read(0), read(1)], self.bytes(), self.state)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Rows that were found, and that were written.
    pub(crate) fn rows(&self) -> (u64, u64) {
        let all = self.files.iter();
        all.fold((0, 0), |(found, written), file| {
            let [more, done] = file.rows;
            (found + more, written + done)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_rises_to_the_end() {
        let file = |read| JobFile {
            bytes: 200,
            read,
            ..JobFile::default()
        };
        for (read, state, told) in [
            ([0, 0], State::Pending, 10),
            ([0, 0], State::Importing, 10),
            ([100, 0], State::Importing, 25),
            ([200, 0], State::Importing, 40),
            ([200, 100], State::Importing, 70),
            ([200, 200], State::Importing, 99),
            ([200, 200], State::Completed, 100),
            ([100, 0], State::Failed, 25),
        ] {
            assert_eq!(file(read).progress(state), told);
        }
        let empty = JobFile::default();
        assert_eq!(empty.progress(State::Importing), 10);
    }
}
