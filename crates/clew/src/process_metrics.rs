//! The process's part of `GET /_metrics`, by the names that Prometheus' own clients give these figures. Read from the system each
//! time; what it does not tell is left out.

use std::fs;

use clew_platform::process_cpu_time;
use prometheus::proto::MetricFamily;
use prometheus::{Counter, Gauge, Registry};
use rustix::process::{Resource, getrlimit};

use crate::figure::Figure;

/// The unit in which Linux tells times to programs.
const TICKS_PER_S: f64 = 100.0;

pub(crate) fn families() -> anyhow::Result<Vec<MetricFamily>> {
    let registry = Registry::new();
    let help = "Processor time of the process, the kernel's for it included, in seconds.";
    let used = Counter::new("process_cpu_seconds_total", help)?;
    used.inc_by(process_cpu_time().as_secs_f64());
    registry.register(Box::new(used))?;
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    if let Some(seconds) = began(&read("/proc/self/stat"), &read("/proc/stat")) {
        let help = "When the process began, in seconds since the epoch.";
        let start = Gauge::new("process_start_time_seconds", help)?;
        start.set(seconds);
        registry.register(Box::new(start))?;
    }
    let status = read("/proc/self/status");
    let bytes =
        |label: &str| number(&status, label).map(|kibibytes| kibibytes.saturating_mul(1024));
    let open = fs::read_dir("/proc/self/fd").map(|files| files.count() as u64);
    #[rustfmt::skip]
    let figures = [
        ("process_resident_memory_bytes", "Memory that the process has.", bytes("VmRSS:")),
        ("process_virtual_memory_bytes", "Addresses that the process has taken.", bytes("VmSize:")),
        ("process_threads", "Threads of the process.", number(&status, "Threads:")),
        ("process_open_fds", "Files and connections that are open.", open.ok()),
        ("process_max_fds", "Files and connections that may be open at once.", getrlimit(Resource::Nofile).current),
    ];
    for (name, help, value) in figures {
        if let Some(value) = value {
            Figure::new(&registry, name, help, &[])?.tell(&[], value);
        }
    }
    Ok(registry.gather())
}

/// The number behind a label that begins a line.
fn number(text: &str, label: &str) -> Option<u64> {
    let mut lines = text.lines();
    let rest = lines.find_map(|line| line.strip_prefix(label))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// When the process began, in seconds since the epoch: the twenty-second field of its `stat`, since the machine began, of which the
/// machine's tells. The second field may hold blanks, but ends with a bracket.
fn began(own: &str, machine: &str) -> Option<f64> {
    let (_, fields) = own.rsplit_once(')')?;
    let ticks: f64 = fields.split_whitespace().nth(19)?.parse().ok()?;
    let line = machine.lines().find_map(|line| line.strip_prefix("btime "));
    let booted: f64 = line?.trim().parse().ok()?;
    Some(booted + ticks / TICKS_PER_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_system_are_read() {
        let own = "77 (a (b) c) S 1 1 1 0 -1 4 1 2 3 4 250 50 7 8 20 0 9 0 150 0";
        assert_eq!(began(own, "cpu 1 2\nbtime 1000\n"), Some(1001.5));
        assert_eq!(began(own, ""), None);
        assert_eq!(began("", "btime 1000\n"), None);
        assert_eq!(number("VmRSS:\t   12 kB\n", "VmRSS:"), Some(12));
        assert_eq!(number("VmRSS:\t   12 kB\n", "VmSize:"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_has_them_all() {
        let families = families().unwrap();
        let names: Vec<&str> = families.iter().map(MetricFamily::name).collect();
        let expected = [
            "process_cpu_seconds_total",
            "process_max_fds",
            "process_open_fds",
            "process_resident_memory_bytes",
            "process_start_time_seconds",
            "process_threads",
            "process_virtual_memory_bytes",
        ];
        assert_eq!(names, expected);
    }
}
