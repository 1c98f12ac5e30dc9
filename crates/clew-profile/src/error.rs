//! Why there is no profile.

use std::io;

/// So many looks at the stacks a second at most.
pub(crate) const RATE_MAX: u32 = 1000;

/// What can go wrong with a capture, or with a file of one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// A rate that no timer can have.
    #[error("cannot sample {0} times a second: from 1 to {max} are possible", max = RATE_MAX)]
    Rate(u32),
    /// The processor or the system is one that stacks cannot be read on.
    #[error("profiles need Linux on x86-64 or AArch64")]
    Unsupported,
    /// The system refused what a capture needs.
    #[error("cannot {what}: {error}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        error: io::Error,
    },
    /// Exact times off the processors were asked for where the kernel does not tell of context switches.
    #[error(
        "the kernel does not let this process see its context switches ({0}); /proc/sys/kernel/perf_event_paranoid of 1 or \
         less, or the capability CAP_PERFMON, would allow it"
    )]
    NotPermitted(io::Error),
    /// The program was not built with an allocator that samples, or that has not begun.
    #[error("no allocations of this program are sampled")]
    NoSampling,
    /// What a build that counts has counted was asked of one that does not.
    #[error("this build counts nothing to train another by: `make pgo-server` makes one that does")]
    NotTraining,
    /// A file that holds no profile.
    #[error("not a profile: {0}")]
    Malformed(String),
    /// Profiles that measure different things.
    #[error("a profile of {0} cannot be compared with one of {1}")]
    Different(String, String),
    /// A value that a profile has not.
    #[error("a profile has no {name}: there are {}", .there_are.join(", "))]
    NoValue {
        /// What was asked for.
        name: String,
        /// What there is.
        there_are: Vec<String>,
    },
    /// Writing failed.
    #[error("cannot write the profile: {0}")]
    Write(#[from] io::Error),
}

impl ProfileError {
    pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| ProfileError::System { what, error }
    }
}
