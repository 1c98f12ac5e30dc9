//! How much memory this process may hope for: what the machine has, or less where a control group of the
//! process, or one around that, has a limit.

mod cgroup;

use std::fs;
use std::path::Path;

/// Memory of this machine, or what its container is allowed, if that is less; `None` where the system
/// does not say.
pub fn memory_bytes() -> Option<u64> {
    memory_by(|path| fs::read_to_string(path).ok())
}

/// The same by files that somebody else reads.
fn memory_by(read: impl Fn(&Path) -> Option<String>) -> Option<u64> {
    let machine = read(Path::new("/proc/meminfo")).and_then(|text| total_of(&text));
    let groups = read(Path::new("/proc/self/cgroup")).unwrap_or_default();
    let mounts = read(Path::new("/proc/self/mountinfo")).unwrap_or_default();
    let files = cgroup::limit_files(&groups, &mounts);
    // A group without a limit says `max`, or a number that no machine has.
    let limits = files
        .iter()
        .filter_map(|file| read(file)?.trim().parse().ok());
    machine.into_iter().chain(limits).min()
}

/// `MemTotal` of `/proc/meminfo`, which counts in units of 1,024 bytes.
fn total_of(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let number = line.trim().strip_suffix("kB")?.trim();
    number.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_found_by_its_name() {
        let text = "MemFree:  5 kB\nMemTotal:       16326428 kB\n";
        assert_eq!(total_of(text), Some(16_326_428 * 1024));
        assert_eq!(total_of("MemFree: 1 kB\n"), None);
        assert_eq!(total_of("MemTotal: x kB\n"), None);
    }

    fn check(files: &[(&str, &str)], expected: Option<u64>) {
        let read = |path: &Path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path);
            found.map(|(_, text)| (*text).to_string())
        };
        assert_eq!(memory_by(read), expected, "{files:?}");
    }

    const MACHINE: (&str, &str) = ("/proc/meminfo", "MemTotal: 1000000 kB\n");
    const UNIFIED: (&str, &str) = (
        "/proc/self/mountinfo",
        "30 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n",
    );

    #[test]
    fn the_lowest_limit_of_the_group_and_those_around_it_counts() {
        let group = ("/proc/self/cgroup", "0::/system.slice/clew.service\n");
        let own = |text| ("/sys/fs/cgroup/system.slice/clew.service/memory.max", text);
        let slice = |text| ("/sys/fs/cgroup/system.slice/memory.max", text);
        check(&[MACHINE, group, UNIFIED], Some(1_024_000_000));
        check(
            &[MACHINE, group, UNIFIED, own("536870912\n"), slice("max\n")],
            Some(536_870_912),
        );
        check(
            &[MACHINE, group, UNIFIED, own("max\n"), slice("400000000\n")],
            Some(400_000_000),
        );
        let high = (
            "/sys/fs/cgroup/system.slice/clew.service/memory.high",
            "9000",
        );
        check(
            &[MACHINE, group, UNIFIED, own("10000\n"), high],
            Some(9_000),
        );
    }

    #[test]
    fn the_old_hierarchy_has_a_mount_of_its_own_for_memory() {
        let group = ("/proc/self/cgroup", "5:cpu:/\n4:memory:/pod/one\n0::/\n");
        let mounts = (
            "/proc/self/mountinfo",
            "34 31 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
             35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
        );
        let none = (
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "9223372036854771712\n",
        );
        let own = (
            "/sys/fs/cgroup/memory/pod/one/memory.limit_in_bytes",
            "5000\n",
        );
        check(&[MACHINE, group, mounts, none], Some(1_024_000_000));
        check(&[MACHINE, group, mounts, none, own], Some(5_000));
    }

    #[test]
    fn a_system_that_says_nothing_is_no_limit() {
        check(&[], None);
        check(&[MACHINE], Some(1_024_000_000));
    }
}
