//! A profile that a command takes of itself while it works.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::anyhow;
use clew_profile::{Format, Profile, ProfileError, Rate};

use super::{asked, create, format_of};

/// Time on the processors from [`OwnProfile::start`] to [`OwnProfile::end`].
pub(crate) struct OwnProfile {
    file: BufWriter<File>,
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
        let (format, file) = (format_of(path)?, create(path)?);
        let rate = Rate::per_second(asked::RATE_DEFAULT)?;
        let stop = Arc::new(AtomicBool::new(false));
        let told = stop.clone();
        let watch =
            move || clew_profile::on_cpu(rate, Duration::MAX, &|| told.load(Ordering::Relaxed));
        let watcher = std::thread::Builder::new()
            .name("clew-profile".into())
            .spawn(watch)?;
        Ok(Some(OwnProfile {
            file,
            path: path.to_path_buf(),
            format,
            stop,
            watcher,
        }))
    }

    /// Writes what was seen.
    pub(crate) fn end(mut self) -> anyhow::Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        let profile = self
            .watcher
            .join()
            .map_err(|_| anyhow!("the profile broke down"))??;
        profile.write(self.format, &mut self.file)?;
        self.file.flush()?;
        writeln!(std::io::stderr(), "{}", self.path.display())?;
        Ok(())
    }
}
