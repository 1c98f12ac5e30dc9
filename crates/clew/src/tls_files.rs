//! Whom servers that this one connects to are trusted by, and what they are shown: a section of the configuration.

use std::path::PathBuf;

use anyhow::bail;
use clew_collect::ClientTls;
use clew_platform::RealDisk;
use serde::{Deserialize, Serialize};

/// Whom to trust, and what to show.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct TlsFiles {
    /// A file of authorities, in PEM; without one those of the system.
    pub(crate) ca: Option<PathBuf>,
    /// The certificate that is shown.
    pub(crate) certificate: Option<PathBuf>,
    /// Its key.
    pub(crate) key: Option<PathBuf>,
}

impl TlsFiles {
    /// Reads the files of a section.
    ///
    /// # Errors
    /// A file that is wrong, by its key.
    pub(crate) fn read(&self, section: &str) -> anyhow::Result<ClientTls> {
        let identity = self.certificate.as_deref().zip(self.key.as_deref());
        let read = ClientTls::trusting(&RealDisk, self.ca.as_slice(), identity);
        read.map_err(|reason| anyhow::anyhow!("[{section}]: {reason}"))
    }

    /// # Errors
    /// A certificate without its key, or a key alone.
    pub(crate) fn check(&self, section: &str) -> anyhow::Result<()> {
        if self.certificate.is_some() != self.key.is_some() {
            bail!("[{section}] must have both [certificate] and [key], or none of them");
        }
        Ok(())
    }
}
