//! Where a log is: in a data folder of this machine, or behind a server.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use clew_log::{Log, LogError, LogOptions, LogReader};
use clew_platform::{RealClock, RealDisk};

use super::remote::Remote;

/// The log's folder inside a data folder.
const LOG_FOLDER: &str = "log";

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct LogPlace {
    /// Data folder. Reading works beside a running server, writing needs the folder for itself.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// A server's gRPC address.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
}

/// A place for reading.
pub(crate) enum Reading {
    Local(Box<LogReader>),
    Remote(Box<Remote>),
}

/// A place for writing.
pub(crate) enum Writing {
    Local(Log),
    Remote(Box<Remote>),
}

impl LogPlace {
    pub(crate) fn open_to_read(&self) -> anyhow::Result<Reading> {
        if let Some(url) = &self.url {
            return Ok(Reading::Remote(Box::new(Remote::connect(url)?)));
        }
        let dir = self.dir();
        let reader = Log::open_read_only(Arc::new(RealDisk), &dir)
            .with_context(|| format!("cannot read the log in {}", dir.display()))?;
        Ok(Reading::Local(Box::new(reader)))
    }

    /// Opens the place as its only writer; a missing data folder is made.
    pub(crate) fn open_to_write(&self) -> anyhow::Result<Writing> {
        if let Some(url) = &self.url {
            return Ok(Writing::Remote(Box::new(Remote::connect(url)?)));
        }
        let dir = self.dir();
        let clock = Arc::new(RealClock::new());
        match Log::open(Arc::new(RealDisk), clock, &dir, LogOptions::default()) {
            Ok(log) => Ok(Writing::Local(log)),
            Err(error @ LogError::Locked { .. }) => Err(error).with_context(|| {
                format!(
                    "cannot write to {}: a server has it open; write through the server, with \
                     --url http://HOST:PORT in place of --data",
                    dir.display()
                )
            }),
            Err(error) => {
                Err(error).with_context(|| format!("cannot open the log in {}", dir.display()))
            }
        }
    }

    fn dir(&self) -> PathBuf {
        let data = self.data.as_deref().unwrap_or(Path::new(""));
        data.join(LOG_FOLDER)
    }
}

/// The log's folder, given it or the data folder around it.
pub(crate) fn log_folder(given: &Path) -> PathBuf {
    let inner = given.join(LOG_FOLDER);
    if inner.is_dir() {
        inner
    } else {
        given.to_owned()
    }
}
