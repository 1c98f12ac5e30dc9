//! What can be done about damage that [`verify_folder`](crate::verify_folder) has found, offline. Nothing is deleted:
//! damaged files are moved aside. A shard is made anew from the log where that still has everything of it; else segments
//! can be given up, with what was in them.

use std::path::{Path, PathBuf};

use clew_log::Log;
use clew_platform::Disk;

use crate::base::error::EngineError;
use crate::catalog::record::Catalog;
use crate::node::verify::{FolderReport, ShardReport};
use crate::shard::ShardRepair;

/// What is to be done about one shard.
#[derive(Debug)]
#[non_exhaustive]
pub struct RepairStep {
    /// The index.
    pub index: String,
    /// The shard's number.
    pub number: u32,
    /// The shard's folder.
    pub dir: PathBuf,
    /// What is done.
    pub cure: Cure,
}

/// A way to a shard that serves again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cure {
    /// Its files go aside, and the next start makes it anew from the log. Nothing is lost.
    FromTheLog,
    /// The segments with damaged files go aside, and with them these living rows.
    GiveUpSegments {
        /// Documents and nested objects.
        rows: u64,
    },
    /// None: the log lacks some of it, and segments may not be given up, or the manifest itself is damaged.
    None,
}

/// Whether segments may be given up that nothing can bring back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GiveUp {
    /// Shards that the log cannot bring back stay as they are.
    Nothing,
    /// Damaged segments of these go aside.
    Segments,
}

/// What would be done about each damaged shard of a folder.
pub fn plan_repair(report: &FolderReport, give_up: GiveUp) -> Vec<RepairStep> {
    let damaged = report
        .shards
        .iter()
        .filter(|shard| !shard.damage.is_empty());
    let step = |shard: &ShardReport| RepairStep {
        index: shard.index.clone(),
        number: shard.number,
        dir: shard.dir.clone(),
        cure: cure_of(shard, give_up),
    };
    damaged.map(step).collect()
}

fn cure_of(shard: &ShardReport, give_up: GiveUp) -> Cure {
    if shard.log_has_all {
        return Cure::FromTheLog;
    }
    match give_up {
        GiveUp::Segments if shard.checkpoint.is_some() && !shard.has_other_operations => {
            Cure::GiveUpSegments {
                rows: shard.rows_damaged,
            }
        }
        _ => Cure::None,
    }
}

/// Does what was planned. Files that go aside come into a folder that `aside` names, under their paths in the data
/// folder. Ended in the middle, it can be done again.
///
/// # Errors
/// When a server has the folder open, or the disk fails.
pub fn repair(
    disk: &dyn Disk,
    data: &Path,
    steps: &[RepairStep],
    aside: &Path,
) -> Result<(), EngineError> {
    let _alone = Log::lock_folder(disk, &data.join("log"))?;
    if steps.iter().any(|step| step.cure == Cure::FromTheLog) {
        // The next start must read the log from its beginning.
        let path = data.join("catalog.json");
        if let Some(mut catalog) = Catalog::load(disk, &path)? {
            catalog.uncover();
            catalog.save(disk, &path)?;
        }
    }
    for step in steps {
        let inside = step.dir.strip_prefix(data).unwrap_or(&step.dir);
        let repair = ShardRepair {
            disk,
            dir: &step.dir,
            aside: &aside.join(inside),
        };
        match step.cure {
            Cure::FromTheLog => repair.begin_anew()?,
            Cure::GiveUpSegments { .. } => repair.give_up_segments()?,
            Cure::None => {}
        }
    }
    Ok(())
}
