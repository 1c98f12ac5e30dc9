//! Shares of the processors' time that the process takes, and that all processes of the machine do: over the time since
//! somebody last asked, so that a dashboard sees what goes on now and not the mean since the start.

use parking_lot::Mutex;

use super::machine::{TICKS_PER_S, part, processors};

/// Percent of the time of all processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CpuShares {
    /// Of this process.
    pub(crate) process: u64,
    /// Of all processes.
    pub(crate) machine: u64,
}

/// Processor time until a moment, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CpuTicks {
    /// In which processors worked for this process.
    pub(crate) process: u64,
    /// In which they worked.
    pub(crate) busy: u64,
    /// That there were.
    pub(crate) all: u64,
}

impl CpuTicks {
    /// Of the first line of `/proc/stat`; nothing is said of the process there.
    pub(crate) fn of_machine(stat: &str) -> Self {
        let line = stat.lines().next().unwrap_or_default();
        // What guests took stands last, and is part of what stands before.
        let ticks = line.split_whitespace().skip(1).take(8);
        let ticks: Vec<u64> = ticks.map(|count| count.parse().unwrap_or(0)).collect();
        let all: u64 = ticks.iter().sum();
        let idle: u64 = ticks.iter().skip(3).take(2).sum();
        CpuTicks {
            process: 0,
            busy: all.saturating_sub(idle),
            all,
        }
    }

    fn shares_since(self, before: CpuTicks) -> CpuShares {
        let all = self.all.saturating_sub(before.all);
        let share = |now: u64, then: u64| part(now.saturating_sub(then), all, 100).min(100);
        CpuShares {
            process: share(self.process, before.process),
            machine: share(self.busy, before.busy),
        }
    }
}

/// What was told last, and when.
#[derive(Debug, Default)]
pub(crate) struct CpuWatch(Mutex<Option<(CpuTicks, CpuShares)>>);

impl CpuWatch {
    /// The shares since they were last told. Within a second they are told again as they were: ticks are too coarse for
    /// less. `first` is told where nothing was before.
    pub(crate) fn shares(&self, now: CpuTicks, first: CpuShares) -> CpuShares {
        let second = TICKS_PER_S * processors() as u64;
        let mut told = self.0.lock();
        let shares = match *told {
            None => first,
            Some((before, shares)) if now.all.saturating_sub(before.all) < second => return shares,
            Some((before, _)) => now.shares_since(before),
        };
        *told = Some((now, shares));
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_of_the_machine_are_read() {
        let stat = "cpu  10 1 5 60 20 2 1 1 9 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        let ticks = CpuTicks::of_machine(stat);
        assert_eq!((ticks.all, ticks.busy, ticks.process), (100, 20, 0));
        assert_eq!(CpuTicks::of_machine(""), CpuTicks::default());
    }

    #[test]
    fn shares_are_of_the_time_since_they_were_told() {
        let second = TICKS_PER_S * processors() as u64;
        let at = |all: u64, busy: u64, process: u64| CpuTicks { process, busy, all };
        let shares = |process: u64, machine: u64| CpuShares { process, machine };
        let watch = CpuWatch::default();
        let first = shares(3, 4);
        assert_eq!(watch.shares(at(1000, 500, 50), first), first);
        // Too soon.
        assert_eq!(watch.shares(at(1000 + second - 1, 501, 51), first), first);
        let later = at(1000 + 10 * second, 500 + 5 * second, 50 + second);
        assert_eq!(watch.shares(later, first), shares(10, 50));
        // Counters that went back are no reason to fail.
        let back = at(later.all + second, 0, 0);
        assert_eq!(watch.shares(back, first), shares(0, 0));
    }
}
