//! What is known of an import, as it is kept, and how much of that.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Most jobs that are to be done, as in Milvus, and most that are kept.
pub(crate) const JOBS_MAX: usize = 1_024;
/// What the names of all files may take together that are kept.
const NAMES_BYTES_MAX: usize = 16 << 20;
/// For how long a job is told of that has ended, as in Milvus.
const KEPT_MS: u64 = 3 * 60 * 60 * 1_000;
/// What is told of why a job failed, at most: values of files can be long.
const REASON_BYTES_MAX: usize = 2_000;

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

    /// Ends it, and says why if it failed.
    pub(crate) fn end(&mut self, failed: Option<&str>, now_ms: u64) {
        self.ended_ms = now_ms;
        self.state = match failed {
            None => State::Completed,
            Some(_) => State::Failed,
        };
        self.reason = failed.map_or_else(String::new, shortened);
    }

    /// What the names of its files take.
    fn name_bytes(&self) -> usize {
        self.files.iter().map(|file| file.name.len()).sum()
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

/// A text without its middle, where it is long.
fn shortened(text: &str) -> String {
    let half = REASON_BYTES_MAX / 2;
    if text.len() <= REASON_BYTES_MAX {
        return text.to_string();
    }
    let (beginning, _) = text.split_at(text.floor_char_boundary(half));
    let (_, end) = text.split_at(text.ceil_char_boundary(text.len() - half));
    format!("{beginning}...{end}")
}

/// Which of the jobs that are kept are forgotten when another one begins: those that ended long ago, and for its room those that
/// ended first. Nothing where those that are to be done leave no room.
pub(crate) fn forgotten(jobs: &BTreeMap<i64, Job>, new: &Job) -> Option<Vec<i64>> {
    let mut count = jobs.len();
    let names: usize = jobs.values().map(Job::name_bytes).sum();
    let mut names = names + new.name_bytes();
    let has_room = |count: usize, names: usize| count < JOBS_MAX && names <= NAMES_BYTES_MAX;
    let mut ended: Vec<&Job> = jobs.values().filter(|job| job.state.is_ended()).collect();
    ended.sort_by_key(|job| job.ended_ms);
    let mut forgotten = Vec::new();
    for job in ended {
        let is_over = new.began_ms.saturating_sub(job.ended_ms) > KEPT_MS;
        if !is_over && has_room(count, names) {
            break;
        }
        count -= 1;
        names -= job.name_bytes();
        forgotten.push(job.id);
    }
    has_room(count, names).then_some(forgotten)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(id: i64, state: State, ended_ms: u64) -> Job {
        Job {
            id,
            database: "default".into(),
            collection: "c".into(),
            collection_id: 1,
            partition: String::new(),
            files: Vec::new(),
            state,
            reason: String::new(),
            began_ms: KEPT_MS + 10,
            ended_ms,
        }
    }

    #[test]
    fn jobs_that_ended_make_room_for_others() {
        let kept = |jobs: Vec<Job>| -> BTreeMap<i64, Job> {
            jobs.into_iter().map(|job| (job.id, job)).collect()
        };
        let new = job(0, State::Pending, 0);
        // Long ago; of the others none has to go.
        let jobs = kept(vec![
            job(1, State::Completed, 20),
            job(2, State::Failed, 9),
            job(3, State::Importing, 0),
        ]);
        assert_eq!(forgotten(&jobs, &new), Some(vec![2]));
        let last = i64::try_from(JOBS_MAX).unwrap();
        let many = |state, ended_ms| (1..=last).map(move |id| job(id, state, ended_ms)).collect();
        assert_eq!(forgotten(&kept(many(State::Importing, 0)), &new), None);
        let mut jobs = kept(many(State::Completed, 20));
        jobs.insert(7, job(7, State::Failed, 15));
        assert_eq!(forgotten(&jobs, &new), Some(vec![7]));
        // Long names take the room of several.
        let long = |mut job: Job| {
            let name = "x".repeat(NAMES_BYTES_MAX / 3);
            job.files = vec![JobFile {
                name,
                ..JobFile::default()
            }];
            job
        };
        let jobs = kept((1..=3).map(|id| long(job(id, State::Failed, 20))).collect());
        assert_eq!(forgotten(&jobs, &long(new.clone())), Some(vec![1]));
        assert_eq!(forgotten(&jobs, &new), Some(Vec::new()));
    }

    #[test]
    fn reasons_are_not_as_long_as_values() {
        let mut ended = job(1, State::Importing, 0);
        ended.end(Some(&"é".repeat(2_000_000)), 5);
        assert_eq!((ended.state, ended.ended_ms), (State::Failed, 5));
        assert!(ended.reason.len() < 2_010 && ended.reason.contains("é...é"));
        ended.end(None, 6);
        assert_eq!((ended.state, ended.reason.as_str()), (State::Completed, ""));
    }

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
