//! Who asks, and what that person may do: users with passwords, roles with grants, groups of privileges, kept as one
//! checked file of the data folder.
//!
//! What a privilege is called, and what it opens, is a protocol's affair: here it is a word that a role holds for an object
//! of some kind. Two roles are built in: [`ADMIN`] may do everything, as the user [`ROOT`] may, and [`PUBLIC`] is everybody's.
//!
//! ```
//! use std::path::Path;
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use clew_access::{AccessControl, Credentials, Initial, PUBLIC, Right};
//! use clew_platform::{FixedClock, SimDisk};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (disk, clock) = (Arc::new(SimDisk::new()), Arc::new(FixedClock::at(Duration::ZERO)));
//! let initial = Initial { root_password: "a long secret".to_string(), public: Vec::new() };
//! let access = AccessControl::open(disk, clock, Path::new("/access.json"), &initial)?;
//! access.create_user("alice", "her secret", "")?;
//! let docs = Right::new("Collection", ("default", "docs"), "Search");
//! access.change(|records| {
//!     records.create_role("reader", "")?;
//!     records.grant("reader", docs.clone(), "root")?;
//!     records.add_to_role("alice", "reader")
//! })?;
//! let alice = access.authenticate(&Credentials::new("alice", "her secret"))?;
//! assert_eq!(alice.rights().collect::<Vec<_>>(), [&docs]);
//! assert!(!alice.may_everything() && alice.has_role(PUBLIC));
//! assert!(access.authenticate(&Credentials::new("alice", "a guess")).is_err());
//! # Ok(())
//! # }
//! ```
//!
//! Passwords are hashed with Argon2id, few at a time ([`AccessControl::authenticate`] blocks); who was found to be right is
//! remembered by a keyed hash in memory, so that only the first call of a client costs so much.
//!
//! Deliberately absent: HTTP, gRPC, async, and the meaning of any privilege.

// Rooms, lowest first: each imports only from those before it, which a test reads here. The empty lines keep the order.
mod error;

mod password;

mod remembered;

mod attempts;

mod hashing;

mod credentials;

mod bounds;

mod record;

mod file;

mod principal;

mod control;

pub use control::{AccessControl, Initial};
pub use credentials::Credentials;
pub use error::{AccessError, Refused};
pub use password::check_password;
pub use principal::Principal;
pub use record::{ADMIN, DropRole, Granted, PUBLIC, ROOT, Records, Right, Role, User};
