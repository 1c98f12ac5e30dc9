//! Processor time of the server, where it runs on this machine: what a request costs, whatever else the machine does.

use std::time::Duration;

use anyhow::Context;

/// Ticks a second of the times in `/proc`, the same on every Linux that Clew runs on (`USER_HZ`).
const TICKS_PER_SECOND: f64 = 100.0;

/// Processor time of a process so far, in steps of a hundredth of a second.
pub(super) fn cpu_time(pid: u32) -> anyhow::Result<Duration> {
    let told = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    let told = told.with_context(|| format!("there is no process {pid} to look at"))?;
    ticks(&told)
        .map(|ticks| Duration::from_secs_f64(ticks as f64 / TICKS_PER_SECOND))
        .with_context(|| format!("what the system tells of process {pid} is not understood"))
}

/// The fields `utime` and `stime`, the 14th and 15th; the name before them may hold anything.
fn ticks(stat: &str) -> Option<u64> {
    let (_, behind_name) = stat.rsplit_once(')')?;
    let mut fields = behind_name.split_ascii_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some(next()? + next()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_stand_behind_the_name() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 1 0 100 0 0";
        assert_eq!(ticks(stat), Some(300));
        assert_eq!(ticks("7 (clew) S 1"), None);
        assert!(cpu_time(std::process::id()).is_ok());
        let none = cpu_time(u32::MAX).unwrap_err().to_string();
        assert!(none.contains("no process 4294967295"));
    }
}
