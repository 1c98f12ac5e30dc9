//! What a benchmark has begun, its folders and the rows that it has measured, for whoever ends it before it ends by itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use parking_lot::Mutex;

use super::results::{Results, Row};
use crate::signals::Beside;

/// Why a run ends that is told to.
pub(super) const STOPPED: &str =
    "stopped before the end: only what was measured until then is told";
/// Who measures may leave off by itself for so long, which it does with the next thing that it begins.
const LEFT_OFF_WITHIN: Duration = Duration::from_secs(1);
/// How often a folder is removed that somebody still writes to.
const TRIES: usize = 100;

/// Clones are of the same benchmark.
#[derive(Clone, Debug, Default)]
pub(crate) struct Begun(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    folders: Vec<PathBuf>,
    rows: Vec<Row>,
    /// Where the rows are written to, if anywhere.
    json: Option<PathBuf>,
    /// Nothing is to be begun any more.
    is_stopped: bool,
}

impl State {
    fn check(&self) -> anyhow::Result<()> {
        match self.is_stopped {
            true => bail!("{STOPPED}"),
            false => Ok(()),
        }
    }

    fn write(&self) -> anyhow::Result<()> {
        match &self.json {
            Some(path) => Results::of(self.rows.clone()).write(path),
            None => Ok(()),
        }
    }
}

impl Begun {
    /// Rows are written to this file.
    pub(super) fn keep_in(&self, json: Option<&Path>) {
        self.0.lock().json = json.map(Path::to_path_buf);
    }

    /// Fails once nothing is to be begun any more.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        self.0.lock().check()
    }

    /// Makes a folder, which is removed at the latest when the benchmark is ended.
    pub(super) fn make(&self, folder: &Path) -> anyhow::Result<()> {
        let mut state = self.0.lock();
        state.check()?;
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        state.folders.push(folder.to_path_buf());
        Ok(())
    }

    /// Removes a folder.
    pub(super) fn remove(&self, folder: &Path) {
        let _ = std::fs::remove_dir_all(folder);
        self.0.lock().folders.retain(|made| made != folder);
    }

    /// Adds a row.
    pub(super) fn add(&self, row: Row) -> anyhow::Result<()> {
        let mut state = self.0.lock();
        state.check()?;
        state.rows.push(row);
        Ok(())
    }

    /// Writes the rows, where a file is named.
    pub(super) fn write(&self) -> anyhow::Result<()> {
        let state = self.0.lock();
        state.check()?;
        state.write()
    }

    /// Lets nothing be begun any more.
    fn stop(&self) {
        self.0.lock().is_stopped = true;
    }

    /// Removes the folders, and writes what was measured.
    fn end(&self) -> anyhow::Result<()> {
        let mut state = self.0.lock();
        for folder in std::mem::take(&mut state.folders) {
            let is_gone = || std::fs::remove_dir_all(&folder).is_ok() || !folder.exists();
            let _ = (0..TRIES).any(|_| is_gone());
        }
        match state.rows.is_empty() {
            true => Ok(()),
            false => state.write(),
        }
    }
}

/// Measures on a thread of its own, and leaves it behind when the process is told to stop (SIGINT, SIGTERM): the command is to
/// end after that.
pub(super) fn until_stopped(
    measure: impl FnOnce(&Begun) -> anyhow::Result<()> + Send + 'static,
) -> anyhow::Result<()> {
    let begun = Begun::default();
    let own = begun.clone();
    let mut work = Beside::begin("clew-bench", move || measure(&own))?;
    if let Some(outcome) = work.wait()? {
        return outcome;
    }
    begun.stop();
    let _ = work.wait_for(LEFT_OFF_WITHIN);
    begun.end()?;
    bail!("{STOPPED}")
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;

    #[test]
    fn what_was_begun_is_ended_and_what_was_measured_is_kept() {
        let below = tempfile::tempdir().unwrap();
        let (folder, json) = (below.path().join("work"), below.path().join("rows.json"));
        let begun = Begun::default();
        begun.keep_in(Some(&json));
        begun.make(&folder).unwrap();
        std::fs::write(folder.join("file"), b"much").unwrap();
        let row = Row {
            name: "append".to_owned(),
            params: Map::new(),
            metrics: Map::new(),
        };
        begun.add(row.clone()).unwrap();
        begun.check().unwrap();
        begun.stop();
        begun.end().unwrap();
        assert!(!folder.exists());
        assert_eq!(Results::read(&json).unwrap().rows.len(), 1);
        // Whoever still measures begins nothing else, and does not write.
        assert!(begun.check().is_err());
        assert!(begun.make(&folder).is_err() && !folder.exists());
        assert!(begun.add(row).is_err() && begun.write().is_err());
    }

    #[test]
    fn nothing_measured_is_no_file_of_results() {
        let below = tempfile::tempdir().unwrap();
        let json = below.path().join("rows.json");
        let begun = Begun::default();
        begun.keep_in(Some(&json));
        begun.end().unwrap();
        assert!(!json.exists());
    }
}
