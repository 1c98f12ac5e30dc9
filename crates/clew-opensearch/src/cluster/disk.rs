//! The disk that a folder lies on: where it is mounted (`/proc/self/mountinfo`), and what has gone to and from it, as Linux
//! counts it (`/proc/diskstats`) since the machine was started. Folders on what is no single device, as those of
//! containers are, have no such counts.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{major, minor};
use serde_json::{Value, json};

/// Where a file system is mounted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Mount {
    /// Its place and what is mounted there: `/data (/dev/sda1)`.
    pub(crate) shown: String,
    /// What kind of file system it is: `ext4`.
    pub(crate) kind: String,
}

impl Mount {
    /// The file system that a folder lies on; empty where that cannot be found out.
    pub(crate) fn of(folder: &Path) -> Self {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let folder = fs::canonicalize(folder);
        let found = folder.map(|folder| Mount::above(&mounts, &folder));
        found.ok().flatten().unwrap_or_default()
    }

    /// Of those above a folder the deepest, and of several at one place the last, which hides the others.
    fn above(mounts: &str, folder: &Path) -> Option<Self> {
        let read = |line: &str| -> Option<(usize, Self)> {
            let (before, behind) = line.split_once(" - ")?;
            let place = before.split(' ').nth(4)?;
            let mut behind = behind.split(' ');
            let (kind, source) = (behind.next()?, behind.next()?);
            let mount = Mount {
                shown: format!("{place} ({source})"),
                kind: kind.to_string(),
            };
            folder.starts_with(place).then_some((place.len(), mount))
        };
        let found = mounts.lines().filter_map(read);
        found
            .max_by_key(|(length, _)| *length)
            .map(|(_, mount)| mount)
    }
}

/// Sectors of a kilobyte: they count as 512 bytes, whatever the disk has.
const SECTORS_PER_KB: u64 = 2;

/// The counts of a device, times in milliseconds.
#[derive(Debug, PartialEq, Eq)]
struct Traffic<'t> {
    device: &'t str,
    reads: u64,
    read_sectors: u64,
    read_ms: u64,
    writes: u64,
    written_sectors: u64,
    write_ms: u64,
    /// In which it had something to do.
    busy_ms: u64,
    /// That requests waited, all together.
    queue_ms: u64,
}

/// `io_stats` of `_nodes/stats`, for a folder.
pub(crate) fn io_stats(folder: &Path) -> Value {
    let counted = fs::read_to_string("/proc/diskstats").unwrap_or_default();
    let device = fs::metadata(folder).map(|found| found.dev());
    let traffic = device.map(|device| of_device(&counted, (major(device), minor(device))));
    let Ok(Some(traffic)) = traffic else {
        return json!({});
    };
    let total = traffic.shown();
    let mut device = total.clone();
    device["device_name"] = Value::from(traffic.device);
    json!({"devices": [device], "total": total})
}

/// The line of a device, by its numbers.
fn of_device(counted: &str, (major, minor): (u32, u32)) -> Option<Traffic<'_>> {
    let wanted = [u64::from(major), u64::from(minor)];
    counted.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        if [number(0)?, number(1)?] != wanted {
            return None;
        }
        Some(Traffic {
            device: fields.get(2).copied()?,
            reads: number(3)?,
            read_sectors: number(5)?,
            read_ms: number(6)?,
            writes: number(7)?,
            written_sectors: number(9)?,
            write_ms: number(10)?,
            busy_ms: number(12)?,
            queue_ms: number(13)?,
        })
    })
}

impl Traffic<'_> {
    fn shown(&self) -> Value {
        json!({
            "operations": self.reads + self.writes,
            "read_operations": self.reads,
            "write_operations": self.writes,
            "read_kilobytes": self.read_sectors / SECTORS_PER_KB,
            "write_kilobytes": self.written_sectors / SECTORS_PER_KB,
            "read_time": self.read_ms,
            "write_time": self.write_ms,
            "queue_size": self.queue_ms,
            "io_time_in_millis": self.busy_ms,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTED: &str = "   7       0 loop0 5 1 22 6 1 4 32 10 0 10 77 0 0 0 0 11 4\n \
                           259       2 nvme0n1p1 50 1 220 6 17 4 3275 103 0 101 773\n";

    #[test]
    fn the_line_of_a_device_is_found_by_its_numbers() {
        let found = of_device(COUNTED, (259, 2)).unwrap();
        assert_eq!(found.device, "nvme0n1p1");
        let shown = found.shown();
        for (name, value) in [
            ("operations", 67),
            ("read_operations", 50),
            ("read_kilobytes", 110),
            ("write_kilobytes", 1637),
            ("write_time", 103),
            ("io_time_in_millis", 101),
            ("queue_size", 773),
        ] {
            assert_eq!(shown[name], value, "{name}");
        }
        assert_eq!(of_device(COUNTED, (259, 0)), None);
        assert_eq!(of_device("7 0 loop0 5 1", (7, 0)), None);
    }

    #[test]
    fn the_deepest_mount_above_a_folder_is_its_own() {
        let mounts = "27 1 254:0 / / rw,relatime - ext4 /dev/root rw\n\
                      30 27 8:1 / /data rw shared:1 - xfs /dev/old rw\n\
                      31 27 8:2 / /data rw shared:2 - xfs /dev/sda1 rw\n\
                      32 27 8:3 / /dat rw - btrfs /dev/sdb rw\n";
        for (folder, shown, kind) in [
            ("/data/clew", "/data (/dev/sda1)", "xfs"),
            ("/database", "/ (/dev/root)", "ext4"),
            ("/", "/ (/dev/root)", "ext4"),
        ] {
            let mount = Mount::above(mounts, Path::new(folder)).unwrap();
            assert_eq!((&*mount.shown, &*mount.kind), (shown, kind), "{folder}");
        }
        assert_eq!(Mount::above("", Path::new("/data")), None);
        assert_eq!(Mount::of(Path::new("/no/such/folder")), Mount::default());
    }

    #[test]
    fn a_folder_that_is_not_there_has_no_figures() {
        assert_eq!(io_stats(Path::new("/no/such/folder")), json!({}));
    }
}
