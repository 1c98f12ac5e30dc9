//! The system's journal, as `journalctl` tells of it: a child that follows it, an entry of JSON on each line.
//!
//! Unlike what is sent, the journal can be read again: the cursor of the last entry that is delivered is in the registry, and the
//! next child begins behind it. Entries are events of the same id however often they are read.
//!
//! A child that follows tells of this boot only, so that one that does not goes first: it tells of what earlier boots have left.

mod entry;

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::frames::{LineFrames, Separation};
use super::{DocumentHead, Handed, PARCEL_BYTES, Parcel, ParcelKind, Sender};
use entry::Entry;

/// The first pause before a child that has ended is started again; it doubles from there.
const PAUSE_FIRST: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// Lines of one child's complaints that are told.
const COMPLAINTS_MAX: usize = 20;
/// The longest complaint.
const COMPLAINT_BYTES_MAX: usize = 1 << 10;

/// A journal that is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalFeed {
    /// The name by which the registry knows how far it was read.
    pub id: String,
    /// The program: `journalctl`, or where it is.
    pub program: PathBuf,
    /// Which entries it tells of.
    pub arguments: Vec<String>,
    /// What it is asked for as long as no entry is known: since when.
    pub first: Vec<String>,
    /// Whether it then begins behind the last entry.
    pub from_now: bool,
    /// Whether it waits for more.
    pub follow: bool,
}

/// A journal that is being read.
struct Journal {
    feed: JournalFeed,
    sender: Sender,
    /// Of the last entry that was handed over.
    cursor: Option<String>,
    /// Whether what was there is read, and what comes is waited for.
    follows: bool,
}

/// Why a child is read no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// The inputs have to end, or there is nobody to hand over to.
    Asked,
    /// By itself, after entries or without, and having done what it should.
    ByItself { had_entries: bool, is_well: bool },
}

/// Starts the child and the thread that reads it. Where the child cannot be started, an input that follows tells so and tries
/// again, as the other inputs have no part in it; a run that ends by itself would end as if the journal had been read.
pub(super) fn start(
    feed: &JournalFeed,
    cursor: Option<String>,
    sender: Sender,
) -> io::Result<JoinHandle<()>> {
    let mut journal = Journal {
        feed: feed.clone(),
        sender,
        follows: feed.from_now && cursor.is_none(),
        cursor,
    };
    let child = match journal.spawn() {
        Err(error) if !feed.follow => return Err(error),
        child => child,
    };
    std::thread::Builder::new()
        .name("collect-journal".to_owned())
        .spawn(move || journal.run(child))
}

impl JournalFeed {
    fn command(&self, cursor: Option<&str>, follows: bool) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["--output=json", "--all", "--quiet"]);
        match (follows, cursor) {
            (true, None) if self.from_now => command.args(["--follow", "--lines=0"]),
            (true, _) => command.args(["--follow", "--no-tail"]),
            (false, None) if self.from_now => command.arg("--lines=0"),
            (false, _) => &mut command,
        };
        match cursor {
            Some(cursor) => command.arg(format!("--after-cursor={cursor}")),
            None => command.args(&self.first),
        };
        command.args(&self.arguments);
        command
    }
}

impl Journal {
    fn spawn(&self) -> io::Result<Child> {
        self.feed
            .command(self.cursor.as_deref(), self.follows && self.feed.follow)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
    }

    /// Reads one child after another until the inputs have to end.
    fn run(&mut self, first: io::Result<Child>) {
        let mut child = first;
        let mut pause = PAUSE_FIRST;
        loop {
            match child {
                Ok(running) => match self.read(running) {
                    Ended::Asked => return,
                    Ended::ByItself { .. } if !self.feed.follow => return,
                    Ended::ByItself { is_well: true, .. } if !self.follows => {
                        self.follows = true;
                        child = self.spawn();
                        continue;
                    }
                    Ended::ByItself { had_entries, .. } if had_entries => pause = PAUSE_FIRST,
                    Ended::ByItself { .. } => {}
                },
                Err(error) => {
                    let (input, program) = (&self.feed.id, self.feed.program.display());
                    tracing::error!(input, %program, %error, "the journal's program cannot be started: this input reads nothing until it can, the others go on");
                }
            }
            if self.is_asked_to_end_within(pause) {
                return;
            }
            pause = (pause * 2).min(PAUSE_MAX);
            child = self.spawn();
        }
    }

    /// Reads a child to its end, which it has then come to.
    fn read(&mut self, mut child: Child) -> Ended {
        let pipes = child.stdout.take().zip(child.stderr.take());
        let had_entries = match pipes {
            Some((entries, complaints)) => self.read_pipes(entries, complaints),
            None => Some(false),
        };
        if had_entries.is_none() {
            // One that has ended meanwhile cannot be killed, which is no matter.
            let _ = child.kill();
        }
        let status = child.wait();
        let Some(had_entries) = had_entries else {
            return Ended::Asked;
        };
        let is_well = status.as_ref().is_ok_and(std::process::ExitStatus::success);
        if self.follows || !is_well {
            let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
            tracing::warn!(status, "the journal's program has ended");
        }
        Ended::ByItself {
            had_entries,
            is_well,
        }
    }

    /// Reads what a child writes until it has closed its side; returns whether there were entries, or nothing if reading has to
    /// end before.
    fn read_pipes(&mut self, mut entries: ChildStdout, complaints: ChildStderr) -> Option<bool> {
        let mut frames = LineFrames::new(Separation::Newlines, self.sender.line_bytes_max);
        let mut complaints = Complaints::new(complaints);
        let mut buffer = vec![0; PARCEL_BYTES];
        let mut had_entries = false;
        loop {
            match self.wait(&entries, complaints.pipe.as_ref()) {
                Woken { stop: true, .. } => return None,
                Woken {
                    complaints: true, ..
                } => complaints.tell(&mut buffer),
                Woken { entries: true, .. } => {
                    // A pipe that is broken has ended.
                    let count = entries.read(&mut buffer).unwrap_or(0);
                    frames.push(&buffer[..count]);
                    if count == 0 {
                        frames.finish();
                    }
                    if let Some(parcel) = self.parcel(&mut frames) {
                        had_entries = true;
                        if self.hand_over(parcel) == Handed::Nowhere {
                            return None;
                        }
                    }
                    if count == 0 {
                        complaints.tell_rest(&mut buffer);
                        return Some(had_entries);
                    }
                }
                Woken { .. } => {}
            }
        }
    }

    fn hand_over(&mut self, parcel: Parcel) -> Handed {
        if let Some(cursor) = &parcel.cursor {
            self.cursor = Some(cursor.clone());
        }
        match self.sender.parcels.send(parcel) {
            Ok(()) => self.sender.wake(),
            Err(_) => Handed::Nowhere,
        }
    }

    /// The entries that have come whole.
    fn parcel(&self, frames: &mut LineFrames) -> Option<Parcel> {
        let (lines, ends) = frames.take()?;
        let now_ms = self.sender.clock.since_epoch().as_millis();
        let now_ms = i64::try_from(now_ms).unwrap_or(i64::MAX);
        let mut parcel = Parcel {
            feed: self.sender.feed,
            sender: "".into(),
            text: Vec::new(),
            ends: Vec::new(),
            kind: ParcelKind::Lines,
            receipt: None,
            cursor: None,
        };
        let (mut start, mut heads) = (0, Vec::new());
        for (end, is_cut) in ends {
            let entry = Entry::read(&lines[start..end], is_cut, now_ms);
            start = end;
            parcel.text.extend_from_slice(entry.document.as_bytes());
            parcel.ends.push((parcel.text.len(), is_cut));
            heads.push(DocumentHead {
                metadata: None,
                id: entry.id.map(String::into_boxed_str),
                time_ms: entry.time_ms,
                is_broken: entry.is_broken,
            });
            parcel.cursor = entry.cursor.or(parcel.cursor);
        }
        parcel.kind = ParcelKind::Documents(heads);
        Some(parcel)
    }

    fn wait(&self, entries: &ChildStdout, complaints: Option<&ChildStderr>) -> Woken {
        let stop = self.sender.stop.as_fd();
        let mut fds = vec![
            PollFd::from_borrowed_fd(stop, PollFlags::IN),
            PollFd::from_borrowed_fd(entries.as_fd(), PollFlags::IN),
        ];
        fds.extend(complaints.map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        if let Err(error) = poll(&mut fds, None)
            && error != rustix::io::Errno::INTR
        {
            tracing::warn!(%error, "cannot wait for the journal");
            return Woken {
                stop: true,
                ..Woken::default()
            };
        }
        let is_ready = |index: usize| fds.get(index).is_some_and(|fd| !fd.revents().is_empty());
        Woken {
            stop: is_ready(0),
            entries: is_ready(1),
            complaints: is_ready(2),
        }
    }

    fn is_asked_to_end_within(&self, pause: Duration) -> bool {
        let end = self.sender.clock.monotonic() + pause;
        loop {
            let left = end.saturating_sub(self.sender.clock.monotonic());
            let mut fds = [PollFd::new(&*self.sender.stop, PollFlags::IN)];
            match poll(&mut fds, Timespec::try_from(left).ok().as_ref()) {
                Ok(0) => return false,
                Ok(_) => return true,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return true,
            }
        }
    }
}

/// What there is to do.
#[derive(Clone, Copy, Debug, Default)]
struct Woken {
    stop: bool,
    entries: bool,
    complaints: bool,
}

/// What a child writes to its standard error.
struct Complaints {
    /// Until its end.
    pipe: Option<ChildStderr>,
    frames: LineFrames,
    told: usize,
}

impl Complaints {
    fn new(pipe: ChildStderr) -> Self {
        Complaints {
            pipe: Some(pipe),
            frames: LineFrames::new(Separation::Newlines, COMPLAINT_BYTES_MAX),
            told: 0,
        }
    }

    /// Tells of what has come.
    fn tell(&mut self, buffer: &mut [u8]) {
        let Some(pipe) = &mut self.pipe else {
            return;
        };
        let count = pipe.read(buffer).unwrap_or(0);
        self.frames.push(&buffer[..count]);
        if count == 0 {
            self.frames.finish();
            self.pipe = None;
        }
        let Some((lines, ends)) = self.frames.take() else {
            return;
        };
        let mut start = 0;
        for (end, _) in ends {
            if self.told < COMPLAINTS_MAX {
                let said = String::from_utf8_lossy(&lines[start..end]);
                tracing::warn!(%said, "the journal's program complains");
            }
            self.told += 1;
            start = end;
        }
    }

    /// Tells of the rest of a child that has ended.
    fn tell_rest(&mut self, buffer: &mut [u8]) {
        while self.pipe.is_some() && self.told <= COMPLAINTS_MAX {
            self.tell(buffer);
        }
    }
}

#[cfg(test)]
mod tests;
