//! How much memory this process may hope for.

use std::fs;

/// Memory of this machine, or what its container is allowed, if that is less; `None` where the system
/// does not say.
pub fn memory_bytes() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok();
    let limits = [
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    ];
    let container = limits
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok());
    let container = container.filter_map(|text| text.trim().parse().ok());
    machine
        .and_then(|text| total_of(&text))
        .into_iter()
        .chain(container)
        .min()
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
}
