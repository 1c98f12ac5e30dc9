//! What goes wrong with users and roles, and why somebody is not let in.

use std::path::PathBuf;
use std::time::Duration;

/// Why users, roles or groups cannot be read, changed or kept.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// The file is not what was written; nobody is let in by it.
    #[error("{} is damaged: {reason}; put a copy back, or remove it to begin with the first user alone", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The disk refuses.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The disk's words.
        source: std::io::Error,
    },
    /// The disk has refused a change when the file had it already, and refuses to take it back: the change is not in force,
    /// but may be after a restart.
    #[error("cannot write {}; it has a change that is not in force, and cannot be put back", path.display())]
    Undecided {
        /// The file.
        path: PathBuf,
        /// What the disk said of taking it back.
        source: std::io::Error,
    },
    /// A name, password or description that breaks the rules.
    #[error("{what} {rule}")]
    Invalid {
        /// What it is: "a user's name".
        what: &'static str,
        /// What it must be.
        rule: String,
    },
    /// The name is taken.
    #[error("there is a {what} {name} already")]
    Exists {
        /// `user`, `role` or `privilege group`.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// There is none of the name.
    #[error("there is no {what} {name}")]
    NotFound {
        /// `user`, `role` or `privilege group`.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// It cannot be removed.
    #[error("the {what} {name} is built in")]
    BuiltIn {
        /// `user` or `role`.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A role that still has grants is dropped by force alone.
    #[error("the role {role} still has privileges")]
    RoleHasGrants {
        /// The role.
        role: String,
    },
    /// A group that is granted cannot be dropped.
    #[error("the privilege group {group} is granted to the role {role}")]
    GroupGranted {
        /// The group.
        group: String,
        /// A role that has it.
        role: String,
    },
    /// There are as many as there may be.
    #[error("there are {max} {what} already, and no more are allowed")]
    TooMany {
        /// `users`, `roles`, `grants of a role`, `privilege groups`, `privileges of a group`, or `bytes of records`.
        what: &'static str,
        /// How many there may be.
        max: usize,
    },
    /// The old password is wrong, or whoever asks cannot be let in now.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The system gives no random numbers.
    #[error("the system gives no random numbers: {0}")]
    NoRandomness(String),
}

/// Why somebody is not let in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// No user was named.
    #[error("no user and password were given")]
    Missing,
    /// What was given cannot be read.
    #[error("the credentials cannot be read")]
    Malformed,
    /// There is no such user, or the password is another one; who asks is not told which.
    #[error("the user or the password is wrong")]
    Wrong,
    /// Too many wrong passwords have come for this user.
    #[error("too many wrong passwords; try again in {}s", after.as_secs().max(1))]
    TooManyAttempts {
        /// When the next one is looked at.
        after: Duration,
    },
    /// As many passwords are being looked at, or wait for that, as may.
    #[error("too many passwords are being checked at once")]
    Busy,
}
