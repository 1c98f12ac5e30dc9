//! Names of repositories and snapshots, and the errors about them.

use axum::http::StatusCode;
use clew_schema::glob::matches as glob;

use crate::http::error::{ApiError, Cause};

const NAME_BYTES_MAX: usize = 255;

/// A repository that is not there.
pub(super) fn repository_missing(name: &str) -> ApiError {
    let cause = Cause::new("repository_missing_exception", format!("[{name}] missing"));
    ApiError::new(StatusCode::NOT_FOUND, cause)
}

/// A repository that cannot do what was asked.
pub(super) fn repository_failed(name: &str, reason: &str) -> ApiError {
    let cause = Cause::new("repository_exception", format!("[{name}] {reason}"));
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, cause)
}

/// A repository that cannot be made of what was said of it.
pub(super) fn repository_not_made(name: &str, reason: &str) -> ApiError {
    let within = Cause::new("repository_exception", format!("[{name}] {reason}"));
    let reason = format!("[{name}] failed to create repository");
    let cause = Cause::new("repository_exception", reason).caused_by(within.clone());
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, cause).with_root(within)
}

/// A repository whose folder cannot be written to.
pub(super) fn not_accessible(name: &str, error: ApiError) -> ApiError {
    let Some(reason) = error.server_fault() else {
        return error;
    };
    let store = Cause::new(
        "repository_exception",
        format!("[{name}] cannot create blob store: {reason}"),
    );
    let cause = Cause::new(
        "repository_verification_exception",
        format!("[{name}] path  is not accessible on cluster-manager node"),
    );
    ApiError::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        cause.caused_by(store.clone()),
    )
    .with_root(store)
}

/// A snapshot that is not there.
pub(super) fn snapshot_missing(repository: &str, name: &str) -> ApiError {
    let cause = Cause::new(
        "snapshot_missing_exception",
        format!("[{repository}:{name}] is missing"),
    );
    ApiError::new(StatusCode::NOT_FOUND, cause)
}

/// A snapshot of this id whose manifest cannot be read: the name is in it.
pub(super) fn snapshot_unread(repository: &str, id: &str, error: ApiError) -> ApiError {
    error.map_cause(|cause| {
        let reason = format!("[{repository}:{id}] failed to get snapshots");
        Cause::new("snapshot_exception", reason).caused_by(cause)
    })
}

/// A name that a new snapshot cannot have.
pub(super) fn invalid_snapshot_name(repository: &str, name: &str, reason: &str) -> ApiError {
    ApiError::bad_request(
        "invalid_snapshot_name_exception",
        format!("[{repository}:{name}] Invalid snapshot name [{name}], {reason}"),
    )
}

/// Checks a new snapshot's name.
pub(super) fn check_snapshot(repository: &str, name: &str) -> Result<(), ApiError> {
    let reason = if name.is_empty() {
        "cannot be empty"
    } else if name.contains(char::is_whitespace) {
        "must not contain whitespace"
    } else if name.contains(',') {
        "must not contain ','"
    } else if name.contains('#') {
        "must not contain '#'"
    } else if name.starts_with('_') {
        "must not start with '_'"
    } else if name.chars().any(char::is_uppercase) {
        "must be lowercase"
    } else if name.contains(['\\', '/', '*', '?', '"', '<', '>', '|']) {
        "must not contain the following characters [ , \", *, \\, <, |, ,, >, /, ?]"
    } else if name.len() > NAME_BYTES_MAX {
        "is too long"
    } else {
        return Ok(());
    };
    Err(invalid_snapshot_name(repository, name, reason))
}

/// Checks a new repository's name.
pub(super) fn check_repository(name: &str) -> Result<(), ApiError> {
    let reason = if name.is_empty() {
        "cannot be empty"
    } else if name.contains('#') {
        "must not contain '#'"
    } else if name.contains([' ', ',', '\\', '/', '*', '?', '"', '<', '>', '|']) {
        "must not contain the following characters [ , \", *, \\, <, |, ,, >, /, ?]"
    } else if name.len() > NAME_BYTES_MAX {
        "is too long"
    } else {
        return Ok(());
    };
    Err(repository_failed(
        name,
        &format!("Invalid repository name [{name}], {reason}"),
    ))
}

/// Whether an expression is a pattern rather than a name.
pub(super) fn is_pattern(part: &str) -> bool {
    part == "_all" || part.contains('*')
}

/// Whether a part of an expression selects a name.
pub(super) fn selects(part: &str, name: &str) -> bool {
    part == "_all" || glob(part, name)
}
