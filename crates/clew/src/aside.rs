//! Where files go that are taken out of a data folder, so that nothing is lost by taking them out.

use std::path::{Path, PathBuf};

/// Where damaged files of a data folder go now: a folder for each repair, by its time.
pub(crate) fn aside(data: &Path) -> PathBuf {
    let now = jiff::Timestamp::now()
        .strftime("%Y%m%dT%H%M%SZ")
        .to_string();
    data.join("aside").join(now)
}
