//! What a file that is not being read yet is: one that was read before, a copy that a rotation
//! made of one, a new one, or none that should be read.

use std::io;
use std::sync::Arc;

use super::SkipReason;
use super::content;
use super::discover::{Candidate, CandidateReason};
use super::fleet::{Fleet, Look, Now, Patience, file_key, text_name};
use super::nuls::first_text;
use super::source::FileSource;
use super::tail::{Tail, advance, window_bytes_at_start};
use crate::document::Origin;
use crate::file_system;
use crate::fingerprint::{HEAD_BYTES_MAX, Head, Likeness, Position};
use crate::frame::Encoding;
use crate::options::StartAt;
use crate::parse::ParserChoice;
use crate::registry::{FileRecord, Registry, Slot};
use crate::rotated_names::{is_rotated, stem};

/// Bytes by which text is told from other content.
const SAMPLE_BYTES: usize = 8 << 10;
/// A file changed this recently may still be in the making.
const RECENT_MS: i64 = 2_000;
/// Contents with the same beginning that a compressed one is held against, each of which may mean to decompress it.
const PACKED_ORIGINS_MAX: usize = 8;
/// Equal beginnings of this length are no accident, even in different folders.
const TELLING_BYTES: u64 = HEAD_BYTES_MAX as u64;

/// What a file turned out to be.
enum Verdict {
    /// The same incarnation as this entry.
    Resume(Slot),
    /// A copy of what this entry read; the rest begins at the position.
    Continue(Slot, Position),
    /// Read from here on.
    New(Position),
    /// Not clear yet.
    Wait,
    /// Nothing this run was asked for.
    Ignore,
    Refuse(SkipReason),
}

/// A candidate that was opened.
struct Opened<'a> {
    candidate: &'a Candidate,
    name: &'a str,
    source: FileSource,
    sample: Vec<u8>,
}

impl Fleet {
    pub(super) fn admit(&mut self, registry: &mut Registry, mut candidate: Candidate, look: Look) {
        let now = look.now;
        if let Some((stat, reason)) = self.refused.get(candidate.place())
            && *stat == candidate.stat
            // Rights, and handles that are free, may have changed without the file.
            && !matches!(reason, SkipReason::Unreadable(_))
        {
            return self.skip(&candidate, reason.clone());
        }
        if candidate.stat.size_bytes == 0 {
            // What it held before, if we knew it, is over.
            for slot in registry.of_file(candidate.stat.file) {
                if registry.get(slot).position.offset > 0 {
                    registry.retire(slot, now.wall_ms);
                }
            }
            return self.skip(&candidate, SkipReason::Empty);
        }
        if is_too_old(&candidate, now) {
            return self.skip(&candidate, SkipReason::TooOld);
        }
        match file_system::open(candidate.place()) {
            Err(error) => self.refuse(&candidate, SkipReason::Unreadable(error.to_string())),
            // Renamed between the look and the opening: the next look sees both.
            Ok((_, stat)) if stat.file != candidate.stat.file => {}
            Ok((file, stat)) => {
                candidate.stat = stat;
                let name = text_name(&candidate.path).unwrap_or_default().to_owned();
                let mut sample = vec![0; SAMPLE_BYTES];
                let opened = FileSource::new(file).and_then(|mut source| {
                    let got = source.read_at(0, &mut sample)?;
                    sample.truncate(got.bytes);
                    Ok(Opened {
                        candidate: &candidate,
                        name: &name,
                        source,
                        sample,
                    })
                });
                let verdict = opened.and_then(|mut opened| {
                    let verdict = decide(registry, &mut opened, look)?;
                    Ok((verdict, opened))
                });
                match verdict {
                    Ok((verdict, opened)) => self.follow_verdict(registry, verdict, opened, now),
                    Err(error) => {
                        self.refuse(&candidate, SkipReason::Unreadable(error.to_string()));
                    }
                }
            }
        }
    }

    fn skip(&mut self, candidate: &Candidate, reason: SkipReason) {
        if candidate.wanted == CandidateReason::Asked {
            self.skipped.insert(candidate.path.clone(), reason);
        }
    }

    /// Skips until the file changes.
    fn refuse(&mut self, candidate: &Candidate, reason: SkipReason) {
        let place = candidate.place().to_owned();
        self.refused.insert(place, (candidate.stat, reason.clone()));
        self.skip(candidate, reason);
    }

    fn follow_verdict(
        &mut self,
        registry: &mut Registry,
        verdict: Verdict,
        opened: Opened<'_>,
        now: Now,
    ) {
        let candidate = opened.candidate;
        let path = candidate.path.to_string_lossy().into_owned();
        let target = candidate.target_text();
        let file = candidate.stat.file;
        let slot = match verdict {
            Verdict::Ignore => return,
            Verdict::Wait => return self.skip(candidate, SkipReason::BeingRotated),
            Verdict::Refuse(reason) => return self.refuse(candidate, reason),
            Verdict::Resume(slot) => {
                registry.revive(slot);
                let entry = registry.get(slot);
                if entry.path != path || entry.target != target {
                    registry.update(slot, |entry| {
                        entry.path = path;
                        entry.target = target;
                    });
                }
                slot
            }
            Verdict::Continue(origin, position) => {
                let head = Head::of(&opened.sample);
                let origin = registry.get(origin).clone();
                let retired_ms = None;
                registry.insert(FileRecord {
                    path,
                    target,
                    file,
                    head,
                    position,
                    retired_ms,
                    ..origin
                })
            }
            Verdict::New(position) => {
                let before = registry.of_file(file);
                let generation = before
                    .iter()
                    .map(|slot| registry.get(*slot).generation + 1)
                    .max();
                let generation = generation.unwrap_or(0);
                registry.insert(FileRecord {
                    first_path: path.clone(),
                    path,
                    target,
                    file,
                    generation,
                    key: file_key(&self.options.host, file, generation, now),
                    head: Head::of(&opened.sample),
                    position,
                    parser: None,
                    fit: None,
                    updated_ms: now.wall_ms,
                    retired_ms: None,
                })
            }
        };
        self.start_tail(registry.get(slot), slot, opened, now);
    }

    fn start_tail(&mut self, entry: &FileRecord, slot: Slot, opened: Opened<'_>, now: Now) {
        let is_left = opened.candidate.wanted == CandidateReason::Left;
        let rules = Arc::clone(&opened.candidate.rules);
        let parser = match rules.options.parse {
            ParserChoice::Named(parser) => Some(parser),
            ParserChoice::Auto => entry.parser.as_deref().and_then(|name| name.parse().ok()),
        };
        let compressed = opened.source.is_compressed();
        self.by_file.insert(entry.file, self.tails.len());
        let keep_open = !compressed && !self.has_many_open();
        self.open += usize::from(keep_open);
        self.tails.push(Tail {
            slot,
            file: entry.file,
            path: opened.candidate.path.clone(),
            target: opened.candidate.target.clone(),
            stat: opened.candidate.stat,
            compressed,
            // A decompressor holds memory: it is made again when the file's turn comes.
            source: keep_open.then_some(opened.source),
            origin: Origin::new(&entry.first_path, entry.key).with_plan(rules.options.plan),
            encoding: rules.encoding(&opened.sample),
            rules,
            parser,
            fit: None,
            framing: None,
            waiting: None,
            nuls: None,
            read: entry.position,
            skipping: None,
            opening: None,
            head: entry.head.clone(),
            over: false,
            window_bytes: window_bytes_at_start(),
            dirty: true,
            gone_since: is_left.then_some(now.monotonic),
            closing: false,
            failure: None,
        });
        self.found += 1;
    }
}

fn decide(registry: &mut Registry, opened: &mut Opened<'_>, look: Look) -> io::Result<Verdict> {
    let Look { now, patience, .. } = look;
    let candidate = opened.candidate;
    // Only the newest incarnation can still be the file's content.
    if let Some(&slot) = registry.of_file(candidate.stat.file).last() {
        if resumes(registry.get(slot), opened)? {
            return Ok(Verdict::Resume(slot));
        }
        registry.retire(slot, now.wall_ms);
    }
    // While the uncompressed file is there, compression has not ended.
    if patience == Patience::Wait
        && opened.source.is_compressed()
        && candidate
            .path
            .extension()
            .is_some_and(|extension| extension == "gz" || extension == "zst")
        && candidate.path.with_extension("").exists()
    {
        return Ok(Verdict::Wait);
    }
    let encoding = candidate.rules.encoding(&opened.sample);
    // Half of the mark of UTF-16 says nothing yet.
    if encoding == Encoding::Utf8 && matches!(opened.sample[..], [0xff | 0xfe]) {
        return Ok(Verdict::Refuse(SkipReason::Empty));
    }
    let Some(text) = first_text(&mut opened.source, &opened.sample)? else {
        return Ok(Verdict::Refuse(SkipReason::Empty));
    };
    if let Some(reason) = content::refuse(&text, encoding) {
        return Ok(Verdict::Refuse(reason));
    }
    if is_rotated(opened.name)
        && let Some(verdict) = continues(registry, opened, look)?
    {
        return Ok(verdict);
    }
    if opened.source.is_compressed()
        && let Some(verdict) = unpacks(registry, opened, look)?
    {
        return Ok(verdict);
    }
    if let Some(verdict) = goes_on(registry, opened)? {
        return Ok(verdict);
    }
    let wanted = match candidate.wanted {
        CandidateReason::Asked => true,
        // What is compressed beside it was made of what a link led to before.
        CandidateReason::Left => !opened.source.is_compressed(),
        CandidateReason::IfItContinues => is_newer(registry, opened),
    };
    if !wanted {
        return Ok(Verdict::Ignore);
    }
    let at_end = starts_at_end(registry, opened, now);
    Ok(Verdict::New(if at_end {
        end_position(opened)?
    } else {
        Position::default()
    }))
}

/// Whether only what comes from now on is wanted: the file is there at the first look of its input.
fn starts_at_end(registry: &Registry, opened: &Opened<'_>, now: Now) -> bool {
    let options = &opened.candidate.rules.options;
    let mut paths = options.paths.iter();
    let since = paths.find_map(|path| registry.asked_since_ms(path));
    options.start_at == StartAt::End && since == Some(now.wall_ms)
}

/// Behind the last whole line.
fn end_position(opened: &mut Opened<'_>) -> io::Result<Position> {
    let mut read = Position::default();
    let mut whole = read;
    let mut window = vec![0; 256 << 10];
    loop {
        let lead = usize::try_from(read.lead_bytes()).expect("a lead is at most 64 bytes");
        let got = opened
            .source
            .read_at(read.offset - lead as u64, &mut window)?;
        let filled = &window[..got.bytes];
        if let Some(at) = memchr::memrchr(b'\n', filled)
            && at >= lead
        {
            whole = advance(read, &filled[..=at], at + 1 - lead);
        }
        if got.at_end || got.bytes <= lead {
            return Ok(whole);
        }
        read = advance(read, filled, got.bytes - lead);
    }
}

fn is_too_old(candidate: &Candidate, now: Now) -> bool {
    candidate.rules.options.ignore_older.is_some_and(|limit| {
        let now_ms = i64::try_from(now.wall_ms).unwrap_or(i64::MAX);
        let age_ms = now_ms.saturating_sub(candidate.stat.modified_ms);
        u128::try_from(age_ms).is_ok_and(|age_ms| age_ms > limit.as_millis())
    })
}

/// Whether the file still holds what the entry read.
fn resumes(entry: &FileRecord, opened: &mut Opened<'_>) -> io::Result<bool> {
    if !entry.head.matches(&opened.sample) {
        return Ok(false);
    }
    if opened.source.is_compressed() {
        return Ok(true);
    }
    opened.source.holds(entry.position)
}

/// Whether the file is a rotation's copy of one that was read.
fn continues(
    registry: &Registry,
    opened: &mut Opened<'_>,
    look: Look,
) -> io::Result<Option<Verdict>> {
    let stem = stem(opened.name);
    let mut origins: Vec<(Slot, &FileRecord)> = registry
        .of_stem(&stem)
        .iter()
        .map(|slot| (*slot, registry.get(*slot)))
        .filter(|(_, entry)| may_be_origin(entry, opened))
        .collect();
    // The furthest position that fits leaves the least to send; then the newest.
    origins.sort_by_key(|(slot, entry)| std::cmp::Reverse((entry.position.offset, *slot)));
    let recent = is_recent(opened, look.now);
    // The most like of those that nothing more is known of, and how many bytes it has in common.
    let mut likest: Option<(usize, Slot)> = None;
    for (slot, entry) in origins {
        if slot >= look.first_found && !(recent && may_be_being_copied(entry, opened)) {
            continue;
        }
        // While the original lives and the copy grows, neither says where the copy will end.
        let wait = look.patience == Patience::Wait && recent && entry.retired_ms.is_none();
        let common_bytes = match entry.head.likeness(&opened.sample) {
            Likeness::Unclear if wait => return Ok(Some(Verdict::Wait)),
            Likeness::Unclear | Likeness::Other => continue,
            Likeness::Same { bytes } => bytes,
        };
        let (checksum, bytes) = opened.source.prefix_checksum(entry.position.offset)?;
        let fits = bytes == entry.position.offset && checksum == entry.position.checksum;
        if wait && (fits || bytes < entry.position.offset) {
            return Ok(Some(Verdict::Wait));
        }
        if fits && bytes > 0 {
            return Ok(Some(Verdict::Continue(slot, entry.position)));
        }
        // Nothing was read of the original, or the copy was made before the last lines we read. Its
        // lines get the original's ids, which contain a checksum of all that is before them: those
        // that were sent are recognised by the sink, and others cannot be mistaken for them.
        if (fits || bytes < entry.position.offset)
            && likest.is_none_or(|(most, _)| common_bytes > most)
        {
            likest = Some((common_bytes, slot));
        }
    }
    Ok(likest.map(|(_, slot)| Verdict::Continue(slot, Position::default())))
}

/// Whether a compressed file is what somebody made of one that was read, whatever it is called and wherever it lies. Only contents that are long enough
/// to tell are held against it.
fn unpacks(
    registry: &Registry,
    opened: &mut Opened<'_>,
    look: Look,
) -> io::Result<Option<Verdict>> {
    let begins = Head::of(&opened.sample);
    let is_short = begins.bytes() < HEAD_BYTES_MAX;
    let may_grow = look.patience == Patience::Wait && is_recent(opened, look.now);
    let mut origins = Vec::new();
    for (slot, entry) in registry.records() {
        let is_other = entry.file != opened.candidate.stat.file;
        if !is_other || entry.position.offset < TELLING_BYTES {
            continue;
        }
        if !is_short && entry.head == begins {
            origins.push((slot, entry));
        } else if is_short && may_grow && entry.head.likeness(&opened.sample) != Likeness::Other {
            // It has just been begun.
            return Ok(Some(Verdict::Wait));
        }
    }
    origins.sort_by_key(|(slot, entry)| std::cmp::Reverse((entry.position.offset, *slot)));
    for (slot, entry) in origins.into_iter().take(PACKED_ORIGINS_MAX) {
        let position = entry.position;
        let (checksum, bytes) = opened.source.prefix_checksum(position.offset)?;
        let fits = bytes == position.offset && checksum == position.checksum;
        if may_grow && entry.retired_ms.is_none() && (fits || bytes < position.offset) {
            return Ok(Some(Verdict::Wait));
        }
        if fits {
            return Ok(Some(Verdict::Continue(slot, position)));
        }
        // Made before the last lines were read: as in `continues`, their ids tell.
        if bytes < position.offset {
            return Ok(Some(Verdict::Continue(slot, Position::default())));
        }
    }
    Ok(None)
}

/// Whether the file was written to so lately that whoever does may go on.
fn is_recent(opened: &Opened<'_>, now: Now) -> bool {
    let now_ms = i64::try_from(now.wall_ms).unwrap_or(i64::MAX);
    now_ms.saturating_sub(opened.candidate.stat.modified_ms) < RECENT_MS
}

/// Whether the file has taken the place of one that was read, and has all of it and more: so write editors and programs that
/// bring files from other machines, and give the new file the old one's name. One that is as long as what was read is another
/// one that says the same.
fn goes_on(registry: &Registry, opened: &mut Opened<'_>) -> io::Result<Option<Verdict>> {
    let candidate = opened.candidate;
    let path = candidate.path.to_string_lossy();
    let slots = registry.of_stem(&stem(opened.name)).iter();
    let entries = slots.map(|slot| (*slot, registry.get(*slot)));
    let newest = entries
        .filter(|(_, entry)| entry.path == path && entry.file != candidate.stat.file)
        .max_by_key(|(slot, entry)| (entry.updated_ms, *slot));
    let Some((slot, entry)) = newest else {
        return Ok(None);
    };
    let position = entry.position;
    let is_same = matches!(entry.head.likeness(&opened.sample), Likeness::Same { .. });
    let is_longer = candidate.stat.size_bytes > position.offset;
    if position.offset < TELLING_BYTES || !is_same || !is_longer {
        return Ok(None);
    }
    let (checksum, bytes) = opened.source.prefix_checksum(position.offset)?;
    let fits = bytes == position.offset && checksum == position.checksum;
    Ok(fits.then_some(Verdict::Continue(slot, position)))
}

/// Whether a file that was found at the same time is still there and has at least as many bytes as what may be its copy. Of others nothing says that
/// they are no files of their own, which happen to begin alike.
fn may_be_being_copied(entry: &FileRecord, opened: &Opened<'_>) -> bool {
    file_system::stat(entry.path.as_ref()).is_ok_and(|there| {
        there.file == entry.file && there.size_bytes >= opened.candidate.stat.size_bytes
    })
}

/// Names and folders first: small files with equal content are common.
fn may_be_origin(entry: &FileRecord, opened: &Opened<'_>) -> bool {
    let folder = opened.candidate.path.parent();
    let same_folder = std::path::Path::new(&entry.path).parent() == folder;
    entry.file != opened.candidate.stat.file
        && (same_folder || entry.position.offset >= TELLING_BYTES)
}

/// Whether a sibling of a file given by name was written after that file was first asked for: then
/// it was rotated, perhaps more than once, before it could be read.
fn is_newer(registry: &Registry, opened: &Opened<'_>) -> bool {
    // Modification times come from a clock that ticks every few milliseconds.
    const TICK_MS: i64 = 10;
    let named = opened.candidate.path.with_file_name(stem(opened.name));
    let since = registry.asked_since_ms(&named);
    since.is_some_and(|at| {
        let at = i64::try_from(at).unwrap_or(i64::MAX);
        opened.candidate.stat.modified_ms + TICK_MS >= at
    })
}
