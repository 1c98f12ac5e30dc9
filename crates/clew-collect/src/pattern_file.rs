//! The patterns of lines that the processors `pattern` have found, beside the registry, so that what was seen in an earlier run
//! is not new, and has its id. `docs/formats/patterns.md` specifies the file.
//!
//! A file that is damaged is told, and begun anew: ids come from lines, and most will be the same.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clew_ingest::KeptPattern;
use clew_platform::Disk;
use serde::{Deserialize, Serialize};

use crate::planned::Planned;

const VERSION: u32 = 1;
/// Digits of the sum in front of the JSON, and the newline behind them.
const SUM_BYTES: usize = 9;
/// The largest file.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// The time between two savings.
const SAVE_EVERY: Duration = Duration::from_secs(10);

/// What is kept.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    version: u32,
    /// By list of processors, as the configuration has inputs, and then by step.
    plans: Vec<Vec<Vec<KeptPattern>>>,
}

/// The file, and what is known of it.
#[derive(Debug)]
pub(crate) struct PatternFile {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    /// The changes that are in it.
    saved: u64,
    saved_at: Duration,
}

impl PatternFile {
    pub(crate) fn new(disk: Arc<dyn Disk>, path: PathBuf, now: Duration) -> Self {
        PatternFile {
            disk,
            path,
            saved: 0,
            saved_at: now,
        }
    }

    /// Puts back what is in the file.
    pub(crate) fn restore(&self, plans: &mut [Option<Planned>]) {
        if !self.disk.exists(&self.path) {
            return;
        }
        match self.load() {
            Ok(kept) => {
                for (plan, kept) in plans.iter_mut().zip(kept.plans) {
                    if let Some(planned) = plan {
                        planned.plan.restore_patterns(kept);
                    }
                }
            }
            Err(reason) => {
                let path = self.path.display();
                tracing::warn!(%path, reason, "patterns of earlier runs cannot be read, and are found anew");
            }
        }
    }

    fn load(&self) -> Result<Kept, String> {
        let wrong = |error: io::Error| error.to_string();
        let length = self.disk.len(&self.path).map_err(wrong)?;
        if length > FILE_BYTES_MAX {
            return Err(format!(
                "it has {length} bytes, at most {FILE_BYTES_MAX} are read"
            ));
        }
        let bytes = self.disk.read(&self.path).map_err(wrong)?;
        let (sum, json) = bytes
            .split_at_checked(SUM_BYTES)
            .ok_or("it has no checksum")?;
        if sum != format!("{:08x}\n", crc32c::crc32c(json)).as_bytes() {
            return Err("its checksum does not fit its content".to_owned());
        }
        let kept: Kept = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        match kept.version {
            VERSION => Ok(kept),
            other => Err(format!(
                "it has version {other}, this program writes {VERSION}"
            )),
        }
    }

    /// Writes the file if something changed, and the last time was a while ago.
    pub(crate) fn save_if_due(&mut self, plans: &mut [Option<Planned>], now: Duration) {
        if now.saturating_sub(self.saved_at) >= SAVE_EVERY {
            self.save(plans, now);
        }
    }

    /// Writes the file if something changed. That it cannot be written is told, and ends nothing.
    pub(crate) fn save(&mut self, plans: &mut [Option<Planned>], now: Duration) {
        let planned = plans.iter_mut().flatten();
        let changes: u64 = planned.map(|planned| planned.plan.pattern_changes()).sum();
        self.saved_at = now;
        if changes == self.saved {
            return;
        }
        let kept = |plan: &mut Option<Planned>| match plan {
            Some(planned) => planned.plan.kept_patterns(),
            None => Vec::new(),
        };
        let kept = Kept {
            version: VERSION,
            plans: plans.iter_mut().map(kept).collect(),
        };
        match self.write(&kept) {
            Ok(()) => self.saved = changes,
            Err(error) => {
                let path = self.path.display();
                tracing::warn!(%path, %error, "patterns cannot be kept");
            }
        }
    }

    fn write(&self, kept: &Kept) -> io::Result<()> {
        let mut bytes = vec![0; SUM_BYTES];
        serde_json::to_writer(&mut bytes, kept)?;
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let sum = format!("{:08x}\n", crc32c::crc32c(&bytes[SUM_BYTES..]));
        bytes[..SUM_BYTES].copy_from_slice(sum.as_bytes());
        self.disk.write_atomic(&self.path, &bytes)
    }
}
