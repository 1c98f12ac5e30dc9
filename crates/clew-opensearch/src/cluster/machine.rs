//! What the process takes and the machine has, as `_nodes` and `_cat` show it. Read from the system each time;
//! what cannot be read there is zero.

use std::fs;
use std::path::Path;

use clew_platform::whole_ms;
use serde_json::{Value, json};

use super::cpu::{CpuShares, CpuTicks, CpuWatch};
use crate::state::api::Api;

/// Bytes of a file system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DiskSpace {
    pub(crate) total: u64,
    /// What nobody has used.
    pub(crate) free: u64,
    /// What a process without privileges may still use.
    pub(crate) available: u64,
}

impl DiskSpace {
    /// The file system that a path lies on.
    pub(crate) fn of(path: &Path) -> Self {
        let Ok(stat) = rustix::fs::statvfs(path) else {
            return DiskSpace::default();
        };
        DiskSpace {
            total: stat.f_blocks * stat.f_frsize,
            free: stat.f_bfree * stat.f_frsize,
            available: stat.f_bavail * stat.f_frsize,
        }
    }

    pub(crate) fn used(self) -> u64 {
        self.total.saturating_sub(self.available)
    }

    /// How many of a hundred bytes may still be used.
    pub(crate) fn free_percent(self) -> f64 {
        100.0 - f64::from(u32::try_from(self.used_basis_points()).unwrap_or(0)) / 100.0
    }

    /// Hundredths of a percent that are used.
    pub(crate) fn used_basis_points(self) -> u64 {
        part(self.used(), self.total, 10_000)
    }
}

/// Memory, load and files, now.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Machine {
    pub(crate) memory_total: u64,
    pub(crate) memory_available: u64,
    pub(crate) swap_total: u64,
    pub(crate) swap_free: u64,
    /// Bytes of memory that the process has.
    pub(crate) resident: u64,
    pub(crate) virtual_memory: u64,
    /// Load averages over 1, 5 and 15 minutes, as the system writes them.
    pub(crate) load: [String; 3],
    pub(crate) open_files: u64,
    pub(crate) open_files_max: u64,
    /// Processor time that the process has taken, in milliseconds.
    pub(crate) cpu_ms: u64,
    /// The same beside that of all processors since the machine was started.
    ticks: CpuTicks,
    pub(crate) threads: u64,
}

/// The unit in which Linux tells processor time to programs.
pub(super) const TICKS_PER_S: u64 = 100;

impl Machine {
    pub(crate) fn now() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let (memory, status) = (read("/proc/meminfo"), read("/proc/self/status"));
        let load = read("/proc/loadavg");
        let mut load = load.split(' ').map(str::to_string);
        let limits = read("/proc/self/limits");
        let cpu_ms = cpu_ms(&read("/proc/self/stat"));
        Machine {
            memory_total: kibibytes(&memory, "MemTotal:"),
            memory_available: kibibytes(&memory, "MemAvailable:"),
            swap_total: kibibytes(&memory, "SwapTotal:"),
            swap_free: kibibytes(&memory, "SwapFree:"),
            resident: kibibytes(&status, "VmRSS:"),
            virtual_memory: kibibytes(&status, "VmSize:"),
            load: std::array::from_fn(|_| load.next().unwrap_or_default()),
            open_files: fs::read_dir("/proc/self/fd").map_or(0, |files| files.count() as u64),
            open_files_max: number_after(&limits, "Max open files"),
            cpu_ms,
            ticks: CpuTicks {
                process: cpu_ms * TICKS_PER_S / 1000,
                ..CpuTicks::of_machine(&read("/proc/stat"))
            },
            threads: number_after(&status, "Threads:"),
        }
    }

    pub(crate) fn memory_used(&self) -> u64 {
        self.memory_total.saturating_sub(self.memory_available)
    }

    pub(crate) fn memory_used_percent(&self) -> u64 {
        part(self.memory_used(), self.memory_total, 100)
    }

    /// The process's share of the machine's memory: there is no heap of fixed size.
    pub(crate) fn resident_percent(&self) -> u64 {
        part(self.resident, self.memory_total, 100)
    }

    /// Shares of the processors' time since somebody last asked; at first those since the process, or the machine, was
    /// started.
    pub(crate) fn cpu_shares(&self, api: &Api) -> CpuShares {
        let run_ms = whole_ms(api.started.elapsed()).saturating_mul(processors() as u64);
        let first = CpuShares {
            process: part(self.cpu_ms, run_ms, 100),
            machine: part(self.ticks.busy, self.ticks.all, 100),
        };
        api.parts.get::<CpuWatch>().shares(self.ticks, first)
    }

    pub(crate) fn os_stats(&self, api: &Api) -> Value {
        let load = |at: usize| self.load[at].parse::<f64>().unwrap_or_default();
        json!({
            "timestamp": api.engine.now_ms(),
            "cpu": {
                "percent": self.cpu_shares(api).machine,
                "load_average": {"1m": load(0), "5m": load(1), "15m": load(2)},
            },
            "mem": {
                "total_in_bytes": self.memory_total,
                "free_in_bytes": self.memory_available,
                "used_in_bytes": self.memory_used(),
                "free_percent": 100 - self.memory_used_percent().min(100),
                "used_percent": self.memory_used_percent(),
            },
            "swap": {
                "total_in_bytes": self.swap_total,
                "free_in_bytes": self.swap_free,
                "used_in_bytes": self.swap_total.saturating_sub(self.swap_free),
            },
        })
    }

    pub(crate) fn process_stats(&self, api: &Api) -> Value {
        json!({
            "timestamp": api.engine.now_ms(),
            "open_file_descriptors": self.open_files,
            "max_file_descriptors": self.open_files_max,
            "cpu": {"percent": self.cpu_shares(api).process, "total_in_millis": self.cpu_ms},
            "mem": {"total_virtual_in_bytes": self.virtual_memory, "resident_in_bytes": self.resident},
        })
    }
}

pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// `count` as a part of `whole`, in `units`; 0 of nothing.
pub(super) fn part(count: u64, whole: u64, units: u64) -> u64 {
    let scaled = u128::from(count) * u128::from(units);
    let part = scaled.checked_div(u128::from(whole)).unwrap_or(0);
    u64::try_from(part).unwrap_or(u64::MAX)
}

/// The first number behind a label that begins a line.
fn number_after(text: &str, label: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(label));
    let number = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    number.unwrap_or(0)
}

fn kibibytes(text: &str, label: &str) -> u64 {
    number_after(text, label) * 1024
}

/// Processor time as `stat` of a process or a thread tells it, in milliseconds: the fourteenth and
/// fifteenth field; the second may hold blanks, but ends with a bracket.
pub(crate) fn cpu_ms(stat: &str) -> u64 {
    let Some((_, fields)) = stat.rsplit_once(')') else {
        return 0;
    };
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|field| field.parse::<u64>().ok()).sum();
    ticks * 1000 / TICKS_PER_S
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_system_are_read() {
        let memory = "MemTotal:       16384 kB\nMemAvailable:    4096 kB\n";
        assert_eq!(kibibytes(memory, "MemAvailable:"), 4 << 20);
        let limits = "Max open files            1024                 524288               files\n";
        assert_eq!(number_after(limits, "Max open files"), 1024);
        assert_eq!(number_after(limits, "Max cpu time"), 0);
        let stat = "77 (a (b) c) S 1 1 1 0 -1 4 1 2 3 4 250 50 7 8 20 0 9 0 100";
        assert_eq!(cpu_ms(stat), 3_000);
        assert_eq!(cpu_ms(""), 0);
    }

    #[test]
    fn shares_of_nothing_are_nothing() {
        assert_eq!(part(1, 0, 100), 0);
        assert_eq!(part(1, 8, 100), 12);
        let space = DiskSpace {
            total: 1000,
            free: 300,
            available: 249,
        };
        assert_eq!((space.used(), space.used_basis_points()), (751, 7_510));
    }

    #[test]
    fn this_machine_has_memory_and_a_disk() {
        let machine = Machine::now();
        assert!(machine.resident > 0 && machine.memory_total > machine.resident);
        assert!(machine.open_files > 0 && machine.threads > 0);
        assert!(DiskSpace::of(Path::new(".")).total > 0);
    }
}
