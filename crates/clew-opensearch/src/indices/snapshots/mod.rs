//! `_snapshot`: repositories, taking snapshots, showing and restoring them.
//!
//! A repository is a definition in the catalog that names a folder; what is in the folder is the
//! engine's (`clew_engine::SnapshotRepository`), what a manifest says is [`content`].

mod clone;
mod content;
mod create;
mod delete;
mod names;
mod repository;
mod restore;
mod restore_request;
mod running;
mod show;
mod status;
mod uses;

pub(crate) use clone::clone;
pub(crate) use content::iso;
pub(crate) use create::create;
pub use create::{is_taken, prepare_of};
pub(crate) use delete::delete;
pub use repository::REPOSITORIES_FOLDER;
pub(crate) use repository::{
    cleanup as repository_cleanup, delete as repository_delete, get as repository_get,
    list as list_repositories, put as repository_put, verify as repository_verify,
};
pub(crate) use restore::restore;
pub(crate) use show::{get, list as list_snapshots};
pub(crate) use status::status;

/// Repositories in the catalog.
pub(crate) const REPOSITORY: &str = "repository";
