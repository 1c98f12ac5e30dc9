//! A data folder held against what was written, without an engine: every byte of every file, what damage of it costs,
//! and what is there that nobody wrote.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clew_log::{Glsn, Log, LogReader, Order, Range, Selection, StreamId, VerifyReport};
use clew_platform::Disk;

use crate::base::error::{EngineError, io_error};
use crate::base::operation::CATALOG_STREAM;
use crate::base::signal::Signal;
use crate::catalog::record::{Catalog, CatalogOperation};
use crate::index::handle::Index;
use crate::node::data_folder;
use crate::node::engine::Engine;
use crate::shard::{FileDamage, ShardFiles};

/// What was found in a data folder.
#[derive(Debug)]
#[non_exhaustive]
pub struct FolderReport {
    /// Files of shards that were read.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Why the catalog cannot be read, where it cannot.
    pub catalog: Option<FileDamage>,
    /// Every shard of the catalog, index by index.
    pub shards: Vec<ShardReport>,
    /// What the log's own check has found.
    pub log: VerifyReport,
    /// Why the log cannot be the one that the rest was made of: it ends before that does.
    pub incomplete: Option<String>,
    /// Files and folders that nobody here wrote. They do no harm.
    pub foreign: Vec<PathBuf>,
}

/// What was found of a shard.
#[derive(Debug)]
#[non_exhaustive]
pub struct ShardReport {
    /// The index.
    pub index: String,
    /// Its unique id, which is the name of its folder.
    pub uuid: String,
    /// The shard's number.
    pub number: u32,
    /// The shard's folder.
    pub dir: PathBuf,
    /// Its damaged files; or its folder, where it has other operations than the log has counted.
    pub damage: Vec<FileDamage>,
    /// Whether it is that: there is no segment to give up for it.
    pub has_other_operations: bool,
    /// Living rows of its segments: documents and nested objects.
    pub rows: u64,
    /// Living rows of the segments that have damaged files.
    pub rows_damaged: u64,
    /// The position that its segments cover; `None` when no manifest tells.
    pub checkpoint: Option<Glsn>,
    /// Whether the log still has everything that was ever written to the shard.
    pub log_has_all: bool,
}

impl FolderReport {
    fn new(log: VerifyReport) -> Self {
        FolderReport {
            files: 0,
            bytes: 0,
            catalog: None,
            shards: Vec::new(),
            log,
            incomplete: None,
            foreign: Vec::new(),
        }
    }

    /// Whether nothing is damaged.
    pub fn is_sound(&self) -> bool {
        self.damage().next().is_none() && self.log.damage.is_empty() && self.incomplete.is_none()
    }

    /// The damage of all files but the log's.
    pub fn damage(&self) -> impl Iterator<Item = &FileDamage> {
        let shards = self.shards.iter().flat_map(|shard| &shard.damage);
        self.catalog.iter().chain(shards)
    }

    /// Reads the saved catalog; an empty one where it is damaged.
    fn read_catalog(&mut self, disk: &dyn Disk, path: &Path) -> Result<Catalog, EngineError> {
        match Catalog::load(disk, path) {
            // Before the first one was saved the log has all of it.
            Ok(catalog) => Ok(catalog.unwrap_or_default()),
            Err(EngineError::Corrupt { path, reason }) => {
                self.catalog = Some(FileDamage::of(path, reason));
                Ok(Catalog::default())
            }
            Err(EngineError::Io {
                action,
                path,
                source,
            }) => {
                let reason = format!("cannot {action} it: {source}");
                self.catalog = Some(FileDamage::of(path, reason));
                Ok(Catalog::default())
            }
            Err(error) => Err(error),
        }
    }

    /// Finds what a start would miss: of the log, or of shards, whose operations are numbered without gaps and counted by
    /// the log. `saved` is the position that the catalog covers, and where it lies; the next index gets the stream `next`.
    fn hold_against(
        &mut self,
        log: &LogReader,
        (data, saved, next): (&Path, (Glsn, PathBuf), u32),
        counted: &mut [CountedShard],
    ) -> Result<(), EngineError> {
        let ends = self.shards.iter().map(|shard| {
            let what = format!("the newest manifest in {}", shard.dir.display());
            (shard.checkpoint.unwrap_or_default(), what)
        });
        let ends = ends.chain([(saved.0, saved.1.display().to_string())]);
        self.incomplete = data_folder::beyond_the_log(data, log.last(), ends);
        // One that cannot be read knows nothing.
        if self.incomplete.is_none() && self.catalog.is_none() {
            self.incomplete = data_folder::unknown_stream(data, &log.streams(), next);
        }
        // What the log lacks is no lack of the shards.
        if self.incomplete.is_some() {
            return Ok(());
        }
        count_logged(log, counted)?;
        for (one, shard) in counted.iter().zip(&mut self.shards) {
            let (manifest, saved) = one.saved;
            let ever = log.stream_info(one.stream);
            let ever = ever.map_or(0, |info| info.last.get());
            let has = saved + one.logged;
            if !shard.damage.is_empty() || has == ever {
                continue;
            }
            // What is logged behind a lack does not fill it.
            let lack = match has < ever {
                true => (saved, ever - one.logged),
                false => (has, ever),
            };
            let reason = data_folder::lack_in(&shard.dir, manifest, lack);
            let damage = FileDamage::of(shard.dir.clone(), reason);
            shard.damage.push(damage);
            shard.has_other_operations = true;
            shard.log_has_all &= has < ever;
        }
        Ok(())
    }
}

/// Reads all of a data folder and checks it, while nobody else has it open. `progress` is told the bytes done so far.
///
/// # Errors
/// When a server has the folder open, or it cannot be listed itself; damage is part of the report.
pub fn verify_folder(
    disk: &Arc<dyn Disk>,
    data: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<FolderReport, EngineError> {
    let log_dir = data.join("log");
    let _alone = Log::lock_folder(&**disk, &log_dir)?;
    let mut done = 0;
    let log = clew_log::verify(&**disk, &log_dir, &mut |bytes| {
        done = bytes;
        progress(bytes);
    })?;
    let path = data.join("catalog.json");
    let mut report = FolderReport::new(log);
    let mut catalog = report.read_catalog(&**disk, &path)?;
    let saved = (catalog.applied().max(catalog.covered()), path);
    let reader = match report.log.damage.is_empty() {
        true => Some(Log::open_read_only(disk.clone(), &log_dir)?),
        false => None,
    };
    let history = match &reader {
        Some(log) => LogHistory::read(log, &mut catalog)?,
        None => LogHistory::default(),
    };
    let mut counted_shards = Vec::new();
    for record in catalog.indices.values() {
        for number in 0..record.settings.shards {
            let dir = data
                .join("indices")
                .join(&record.uuid)
                .join(number.to_string());
            let mut counted = |bytes| {
                done += bytes;
                progress(done);
            };
            let files = read_shard(&**disk, &dir, &mut counted)?;
            let (rows, rows_damaged) = files.rows(&**disk, &dir);
            counted_shards.push(CountedShard {
                stream: record.stream(number),
                saved: files.operations(),
                from: catalog
                    .covered()
                    .max(files.checkpoint().unwrap_or_default()),
                logged: 0,
            });
            report.files += files.files;
            report.bytes += files.bytes;
            report.foreign.extend(files.foreign.iter().cloned());
            report.shards.push(ShardReport {
                index: record.name.clone(),
                uuid: record.uuid.clone(),
                number,
                rows,
                rows_damaged,
                checkpoint: files.checkpoint(),
                log_has_all: history.has_all_of(&record.uuid),
                damage: files.damage,
                has_other_operations: false,
                dir,
            });
        }
    }
    if let Some(log) = &reader {
        let saved = (data, saved, catalog.next_stream());
        report.hold_against(log, saved, &mut counted_shards)?;
    }
    let known = |uuid: &str| report.catalog.is_some() || catalog.indices.contains_key(uuid);
    report.foreign.extend(foreign_in(&**disk, data, &known)?);
    Ok(report)
}

/// Reads a shard's folder. One that the disk refuses is damage of that shard, since all others are still to be looked at.
fn read_shard(
    disk: &dyn Disk,
    dir: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<ShardFiles, EngineError> {
    let mut files = ShardFiles::default();
    if !disk.exists(dir) {
        return Ok(files);
    }
    match ShardFiles::read(disk, dir, progress) {
        Err(EngineError::Io {
            action,
            path,
            source,
        }) => {
            let reason = format!("cannot {action} it: {source}");
            files.damage.push(FileDamage::of(path, reason));
            Ok(files)
        }
        read => read,
    }
}

/// How many operations of a shard there are.
struct CountedShard {
    stream: StreamId,
    /// The number of the newest manifest, and the operations that it covers.
    saved: (u64, u64),
    /// The position behind which a start reads the log for it.
    from: Glsn,
    /// Operations that the log has there.
    logged: u64,
}

/// Counts the operations that the log has behind what segments cover, reading it once for all shards.
fn count_logged(log: &LogReader, counted: &mut [CountedShard]) -> Result<(), EngineError> {
    let first = counted.iter().map(|one| one.from).min();
    let Some(first) = first.filter(|first| *first < log.last()) else {
        return Ok(());
    };
    let by_stream = counted.iter_mut().map(|one| (one.stream, one));
    let mut by_stream: HashMap<StreamId, &mut CountedShard> = by_stream.collect();
    let from = first.next().max(log.first());
    let mut scan = log.scan(from)?;
    while let Some(entry) = scan.next() {
        let entry = entry?;
        if let Some(one) = by_stream.get_mut(&entry.stream)
            && entry.glsn > one.from
        {
            one.logged += 1;
        }
    }
    Ok(())
}

/// What the log tells of indexes.
#[derive(Default)]
struct LogHistory {
    /// Nothing was ever trimmed.
    from_the_start: bool,
    /// Indexes that were made after the log's first entry.
    made: BTreeSet<String>,
}

impl LogHistory {
    /// Follows the catalog's changes in a log, of which the catalog may lack the last.
    fn read(log: &LogReader, catalog: &mut Catalog) -> Result<Self, EngineError> {
        let mut history = LogHistory {
            from_the_start: log.first() <= Glsn::ZERO.next(),
            made: BTreeSet::new(),
        };
        let mut scan = log.scan_with(&Selection {
            range: Range::Glsn {
                from: Glsn::ZERO,
                to: log.last().next(),
            },
            streams: vec![StreamId::new(CATALOG_STREAM)],
            order: Order::Forward,
        })?;
        while let Some(entry) = scan.next() {
            let entry = entry?;
            let Ok(operation) = serde_json::from_slice::<CatalogOperation>(entry.payload) else {
                continue;
            };
            history.made.extend(operation.made().map(String::from));
            if entry.glsn > catalog.applied() {
                catalog.apply(operation, entry.glsn)?;
            }
        }
        Ok(history)
    }

    fn has_all_of(&self, uuid: &str) -> bool {
        self.from_the_start || self.made.contains(uuid)
    }
}

/// What lies in a data folder that is not the node's.
fn foreign_in(
    disk: &dyn Disk,
    data: &Path,
    known: &dyn Fn(&str) -> bool,
) -> Result<Vec<PathBuf>, EngineError> {
    let mut foreign = Vec::new();
    let name_of = |path: &Path| {
        path.file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    for path in disk.list(data).map_err(io_error("list", data))? {
        let name = name_of(&path).unwrap_or_default();
        if !["log", "indices", "catalog.json", "aside"].contains(&&*name) {
            foreign.push(path);
        }
    }
    let indices = data.join("indices");
    if disk.exists(&indices) {
        for path in disk.list(&indices).map_err(io_error("list", &indices))? {
            if !known(&name_of(&path).unwrap_or_default()) {
                foreign.push(path);
            }
        }
    }
    Ok(foreign)
}

impl FileDamage {
    /// Of a file as a whole.
    pub(crate) fn of(path: PathBuf, reason: String) -> Self {
        FileDamage {
            path,
            offset: None,
            reason,
        }
    }
}

/// What was found of a shard that serves.
#[derive(Debug)]
#[non_exhaustive]
pub struct ShardVerdict {
    /// The index.
    pub index: String,
    /// The shard's number.
    pub number: u32,
    /// Bytes of its files that were read.
    pub bytes: u64,
    /// The first damage; the shard refuses everything from then on, unless it is damage of vectors, which searches find
    /// where it matters.
    pub damage: Option<String>,
}

/// Read between two looks at the clock.
const PACE_BYTES: u64 = 1 << 20;

impl Engine {
    /// Holds every byte of an index's segments against its sums, those that were checked before too, beside what else
    /// the node does and at no more than so many bytes a second. `progress` is told the bytes of each block.
    ///
    /// # Errors
    /// When the engine closes; damage is part of the verdicts.
    pub fn verify(
        &self,
        index: &Index,
        bytes_per_second: u64,
        progress: &dyn Fn(u64),
    ) -> Result<Vec<ShardVerdict>, EngineError> {
        let clock = &self.inner.clock;
        let (rest, started) = (Signal::default(), clock.monotonic());
        let (mut read, mut paced) = (0_u64, 0_u64);
        let mut verdicts = Vec::new();
        for shard in &index.shards {
            let before = read;
            let mut done = |bytes: usize| {
                read += bytes as u64;
                progress(bytes as u64);
                if read - paced < PACE_BYTES {
                    return Ok(());
                }
                paced = read;
                if self.inner.closed.load(Ordering::SeqCst) {
                    return Err(std::io::Error::other(EngineError::Closed));
                }
                let due_ms = read.saturating_mul(1000) / bytes_per_second.max(1);
                let passed = clock.monotonic().saturating_sub(started);
                let early = Duration::from_millis(due_ms).saturating_sub(passed);
                if !early.is_zero() {
                    rest.sleep(Some(early));
                }
                Ok(())
            };
            let damage = match shard.failure() {
                Some(known) if shard.is_damaged() => Some(known),
                _ => shard.verify(&mut done).err().map(|error| error.to_string()),
            };
            if self.inner.closed.load(Ordering::SeqCst) {
                return Err(EngineError::Closed);
            }
            // Files that have gone with their index are not missed.
            if shard.is_retired() {
                continue;
            }
            verdicts.push(ShardVerdict {
                index: index.name().to_string(),
                number: shard.place.number,
                bytes: read - before,
                damage,
            });
        }
        Ok(verdicts)
    }
}
