//! This process as the system shows it: its threads and what they have used, its memory map, and its memory, read so that an
//! address which is not there is an error and nothing worse.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::Duration;

use crate::ProfileError;

/// The number of a thread.
pub(crate) type Tid = i32;

/// The calling thread's.
pub(crate) fn own_tid() -> Tid {
    // SAFETY: asks for a number and touches nothing.
    #[allow(unsafe_code, reason = "a system call")]
    unsafe {
        libc::gettid()
    }
}

/// Nanoseconds of the system's monotonic clock, as its events are stamped.
pub(crate) fn monotonic_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the structure is valid, and the clock is always there.
    #[allow(unsafe_code, reason = "a system call")]
    unsafe {
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time)
    };
    let [seconds, nanos] = [time.tv_sec, time.tv_nsec].map(i64::cast_unsigned);
    seconds.wrapping_mul(1_000_000_000).wrapping_add(nanos)
}

/// All threads of this process. One that begins or ends meanwhile may be in it or not.
pub(crate) fn threads() -> Result<Vec<Tid>, ProfileError> {
    let folder = fs::read_dir("/proc/self/task");
    let folder = folder.map_err(ProfileError::system("list the threads"))?;
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    Ok(folder.flatten().filter_map(number).collect())
}

/// The name of a thread; empty once it has ended.
pub(crate) fn thread_name(thread: Tid) -> String {
    let name = fs::read_to_string(format!("/proc/self/task/{thread}/comm"));
    name.unwrap_or_default().trim_end().to_string()
}

/// A file of a thread's folder.
pub(crate) fn open(thread: Tid, file: &str) -> io::Result<File> {
    File::open(format!("/proc/self/task/{thread}/{file}"))
}

/// A thread of this process, and how long it has been on a processor since it began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadUse {
    /// Its number.
    pub id: i32,
    /// Its name.
    pub name: String,
    /// None where the system does not keep the scheduler's counts.
    pub ran: Option<Duration>,
}

/// Every thread of this process; none where the system does not tell. Some microseconds for each.
pub fn thread_uses() -> Vec<ThreadUse> {
    let of = |id: Tid| {
        let name = thread_name(id);
        let scheduled = open(id, "schedstat").ok();
        let scheduled = scheduled.as_ref().and_then(Scheduled::read);
        // A thread may end between the listing and the reading.
        (!name.is_empty()).then(|| ThreadUse {
            id,
            name,
            ran: scheduled.map(|times| Duration::from_nanos(times.ran)),
        })
    };
    let all = threads().unwrap_or_default();
    all.into_iter().filter_map(of).collect()
}

/// What the scheduler says of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scheduled {
    /// Nanoseconds on a processor.
    pub(crate) ran: u64,
    /// Nanoseconds ready to run, in the queue of a processor.
    pub(crate) queued: u64,
    /// Times that it was given a processor: while this stays the same, the thread has not moved.
    pub(crate) turns: u64,
}

impl Scheduled {
    /// Reads a file `schedstat`, about a microsecond; none once the thread has ended.
    pub(crate) fn read(file: &File) -> Option<Self> {
        let mut buffer = [0; 96];
        let length = file.read_at(&mut buffer, 0).ok()?;
        let text = std::str::from_utf8(buffer.get(..length)?).ok()?;
        let mut numbers = text.split_ascii_whitespace().map(|word| word.parse().ok());
        Some(Scheduled {
            ran: numbers.next()??,
            queued: numbers.next()??,
            turns: numbers.next()??,
        })
    }
}

/// Where a thread that is not on a processor stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Halted {
    pub(crate) stack: u64,
    pub(crate) code: u64,
}

impl Halted {
    /// Reads a file `syscall`; none while the thread runs or waits for a processor.
    pub(crate) fn read(file: &File) -> Option<Self> {
        let mut buffer = [0; 256];
        let length = file.read_at(&mut buffer, 0).ok()?;
        let text = std::str::from_utf8(buffer.get(..length)?).ok()?;
        let mut words = text.split_ascii_whitespace().rev();
        let mut number = || u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
        let (code, stack) = (number()?, number()?);
        (stack > 0).then_some(Halted { stack, code })
    }
}

/// The memory of this process, as a file.
#[derive(Debug)]
pub(crate) struct Memory(File);

impl Memory {
    pub(crate) fn open() -> Result<Self, ProfileError> {
        let file = File::open("/proc/self/mem");
        Ok(Memory(
            file.map_err(ProfileError::system("open /proc/self/mem"))?,
        ))
    }

    /// Reads words from an address on, as many as there are; how many those were.
    pub(crate) fn read(&self, address: u64, words: &mut [u64], bytes: &mut Vec<u8>) -> usize {
        bytes.resize(words.len() * 8, 0);
        let mut done = self.0.read_at(bytes, address).unwrap_or_default();
        if done == 0 {
            // The page at hand is there although not all of what was asked for is.
            let left = usize::try_from(4096 - address % 4096).unwrap_or_default();
            let near = left.min(bytes.len());
            let near = bytes.get_mut(..near).unwrap_or_default();
            done = self.0.read_at(near, address).unwrap_or_default();
        }
        let each = bytes.get(..done).unwrap_or_default().as_chunks().0.iter();
        let pairs = words.iter_mut().zip(each);
        pairs
            .map(|(word, bytes)| *word = u64::from_ne_bytes(*bytes))
            .count()
    }
}

/// A piece of the memory map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) is_code: bool,
    /// Where in the file it begins.
    pub(crate) offset: u64,
    /// The file, or a name in brackets; empty for neither.
    pub(crate) path: PathBuf,
}

/// The memory map at one moment, by address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Maps(pub(crate) Vec<Mapping>);

impl Maps {
    pub(crate) fn read() -> Result<Self, ProfileError> {
        let text = fs::read_to_string("/proc/self/maps");
        let text = text.map_err(ProfileError::system("read the memory map"))?;
        Ok(Maps(text.lines().filter_map(Mapping::parse).collect()))
    }

    /// The piece that holds an address.
    pub(crate) fn find(&self, address: u64) -> Option<&Mapping> {
        let after = self.0.partition_point(|mapping| mapping.to <= address);
        self.0.get(after).filter(|found| found.from <= address)
    }

    pub(crate) fn is_code(&self, address: u64) -> bool {
        self.find(address).is_some_and(|found| found.is_code)
    }
}

impl Mapping {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.splitn(6, ' ');
        let (range, rights, offset) = (words.next()?, words.next()?, words.next()?);
        let (from, to) = range.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        Some(Mapping {
            from: number(from)?,
            to: number(to)?,
            is_code: rights.contains('x'),
            offset: number(offset)?,
            path: words.nth(2).unwrap_or_default().trim_start().into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_thread_is_among_the_threads_and_has_run() {
        let thread = own_tid();
        assert!(threads().unwrap().contains(&thread));
        let file = open(thread, "schedstat").unwrap();
        let before = Scheduled::read(&file).unwrap();
        std::thread::yield_now();
        let after = Scheduled::read(&file).unwrap();
        assert!(after.ran >= before.ran && after.turns >= before.turns);
    }

    #[test]
    fn memory_is_read_as_far_as_it_is_there() {
        let memory = Memory::open().unwrap();
        let kept = [1_u64, 2, 3];
        let (mut words, mut bytes) = ([0; 3], Vec::new());
        let address = kept.as_ptr().expose_provenance() as u64;
        assert_eq!(memory.read(address, &mut words, &mut bytes), 3);
        assert_eq!(words, kept);
        assert_eq!(memory.read(8, &mut words, &mut bytes), 0);
    }

    #[test]
    fn lines_of_the_map_are_read() {
        let line = "7f1200000000-7f1200021000 r-xp 00001000 08:01 1234    /usr/lib/x y.so";
        let mapping = Mapping::parse(line).unwrap();
        assert_eq!(
            (mapping.from, mapping.to),
            (0x7f12_0000_0000, 0x7f12_0002_1000)
        );
        assert!(mapping.is_code && mapping.offset == 0x1000);
        assert_eq!(mapping.path, PathBuf::from("/usr/lib/x y.so"));
        let maps = Maps::read().unwrap();
        let code = (own_tid as fn() -> Tid) as usize as u64;
        assert!(maps.is_code(code));
        assert!(!maps.is_code(0));
    }
}
