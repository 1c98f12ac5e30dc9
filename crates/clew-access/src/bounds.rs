//! What records may be: names, lengths, and how many of each.

use crate::error::AccessError;

pub(crate) const USERS_MAX: usize = 1_000;
pub(crate) const ROLES_MAX: usize = 1_000;
pub(crate) const GRANTS_MAX: usize = 1_000;
pub(crate) const GROUPS_MAX: usize = 1_000;
pub(crate) const GROUP_PRIVILEGES_MAX: usize = 200;
const USER_NAME_BYTES_MAX: usize = 32;
pub(crate) const NAME_BYTES_MAX: usize = 255;
pub(crate) const DESCRIPTION_BYTES_MAX: usize = 1_024;

pub(crate) fn invalid(what: &'static str, rule: impl Into<String>) -> AccessError {
    let rule = rule.into();
    AccessError::Invalid { what, rule }
}

pub(crate) fn not_found(what: &'static str, name: &str) -> AccessError {
    let name = name.to_string();
    AccessError::NotFound { what, name }
}

pub(crate) fn exists(what: &'static str, name: &str) -> AccessError {
    let name = name.to_string();
    AccessError::Exists { what, name }
}

pub(crate) fn check_length(what: &'static str, text: &str, max: usize) -> Result<(), AccessError> {
    if text.len() <= max {
        return Ok(());
    }
    Err(invalid(
        what,
        format!("has {} bytes, and may have {max}", text.len()),
    ))
}

/// A user's name begins with a letter; letters, digits, `_`, `-` and `.` follow.
pub(crate) fn check_user_name(name: &str) -> Result<(), AccessError> {
    const WHAT: &str = "a user's name";
    check_length(WHAT, name, USER_NAME_BYTES_MAX)?;
    let mut bytes = name.bytes();
    let rest_fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    match bytes.next() {
        None => Err(invalid(WHAT, "should not be empty")),
        Some(first) if !first.is_ascii_alphabetic() => {
            Err(invalid(WHAT, "must begin with a letter"))
        }
        Some(_) if bytes.all(rest_fits) => Ok(()),
        Some(_) => Err(invalid(
            WHAT,
            "can only contain letters, numbers, underscores, dots and hyphens",
        )),
    }
}

/// The name of a role or a group begins with a letter or `_`; letters, digits and `_` follow.
pub(crate) fn check_name(what: &'static str, name: &str) -> Result<(), AccessError> {
    check_length(what, name, NAME_BYTES_MAX)?;
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    match name.bytes().next() {
        None => Err(invalid(what, "should not be empty")),
        _ if !name.bytes().all(word) => Err(invalid(
            what,
            "can only contain numbers, letters and underscores",
        )),
        Some(first) if first.is_ascii_digit() => {
            Err(invalid(what, "must begin with a letter or an underscore"))
        }
        Some(_) => Ok(()),
    }
}

pub(crate) fn check_room(what: &'static str, has: usize, max: usize) -> Result<(), AccessError> {
    if has < max {
        return Ok(());
    }
    Err(AccessError::TooMany { what, max })
}
