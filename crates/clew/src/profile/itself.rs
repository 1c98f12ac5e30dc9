//! A profile that a command takes of itself while it works.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::anyhow;
use clew_profile::{Format, Profile, ProfileError, Rate};

use super::{asked, format_of};
use crate::output_file;

/// Time on the processors from [`OwnProfile::start`] to [`OwnProfile::end`].
pub(crate) struct OwnProfile {
    path: PathBuf,
    format: Format,
    stop: Arc<AtomicBool>,
    watcher: JoinHandle<Result<Profile, ProfileError>>,
}

impl OwnProfile {
    /// Watches this process, if a file is named to write to; its format is told by its name.
    pub(crate) fn start(path: Option<&Path>) -> anyhow::Result<Option<Self>> {
        let Some(path) = path else {
            return Ok(None);
        };
        let format = format_of(path)?;
        output_file::check_writable(path)?;
        let rate = Rate::per_second(asked::RATE_DEFAULT)?;
        let stop = Arc::new(AtomicBool::new(false));
        let told = stop.clone();
        let watch =
            move || clew_profile::on_cpu(rate, Duration::MAX, &|| told.load(Ordering::Relaxed));
        let watcher = std::thread::Builder::new()
            .name("clew-profile".into())
            .spawn(watch)?;
        Ok(Some(OwnProfile {
            path: path.to_path_buf(),
            format,
            stop,
            watcher,
        }))
    }

    /// Writes what was seen.
    pub(crate) fn end(self) -> anyhow::Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        let profile = self
            .watcher
            .join()
            .map_err(|_| anyhow!("the profile broke down"))??;
        let mut bytes = Vec::new();
        profile.write(self.format, &mut bytes)?;
        output_file::write(&self.path, &bytes)?;
        writeln!(std::io::stderr(), "{}", self.path.display())?;
        Ok(())
    }
}
