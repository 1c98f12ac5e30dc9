//! The names that files of a shard have. What has another one is not ours, and is never removed.

use std::path::Path;

use clew_platform::TEMPORARY_SUFFIX;
use tantivy::index::SegmentId;

use super::manifest::manifest_number;
use super::merge_job::{SAVEPOINT_PREFIX, SAVEPOINT_SUFFIX};

/// Whether a file of this name is a manifest.
pub(crate) fn is_manifest(name: &str) -> bool {
    manifest_number(Path::new(name)).is_some()
}

/// Whether a file of this name can be a shard's: a manifest, a segment's, an interrupted merge's, or one of these that is
/// being written.
pub(crate) fn is_shard_file(name: &str) -> bool {
    let name = name.strip_suffix(TEMPORARY_SUFFIX).unwrap_or(name);
    let of_segment = || {
        let (id, _) = name.split_once('.')?;
        SegmentId::from_uuid_string(id).ok()
    };
    let of_merge = name.starts_with(SAVEPOINT_PREFIX) && name.ends_with(SAVEPOINT_SUFFIX);
    is_manifest(name) || of_merge || of_segment().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_our_files_are_known_and_others_are_not() {
        let id = "0123456789abcdef0123456789abcdef";
        for ours in [
            "manifest-00000000000000000007",
            "manifest-00000000000000000007.tmp",
            "merge-3.savepoint",
            &format!("{id}.term"),
            &format!("{id}.12.alive"),
            &format!("{id}.12.alive.tmp"),
        ] {
            assert!(is_shard_file(ours), "{ours}");
        }
        assert!(is_manifest("manifest-00000000000000000007"));
        for foreign in [
            "notes.txt",
            "manifest",
            "manifest-x",
            "merge-3",
            "a.tmp",
            id,
        ] {
            assert!(!is_shard_file(foreign), "{foreign}");
            assert!(!is_manifest(foreign), "{foreign}");
        }
    }
}
