//! Passwords as they are kept: hashed with Argon2id (RFC 9106) under a salt of their own.

use std::sync::{Arc, OnceLock};

use argon2::password_hash::{PasswordHasher, PasswordVerifier, SaltString};
use argon2::{Algorithm, Argon2, Params, Version};
use serde::{Deserialize, Serialize};

use crate::error::AccessError;

/// 12 MiB, three passes, one lane: one of the settings that OWASP's password storage cheat sheet holds to be equal, and the
/// one that two of fit beside everything else on a small machine.
const MEMORY_KIB: u32 = 12 << 10;
const PASSES: u32 = 3;
/// Most memory that a hash that is read may ask for: a file's bytes decide no more.
const MEMORY_KIB_MAX: u32 = 64 << 10;
const PASSES_MAX: u32 = 10;
const SALT_BYTES: usize = 16;

/// Lengths of passwords.
pub(crate) const PASSWORD_BYTES_MIN: usize = 6;
pub(crate) const PASSWORD_BYTES_MAX: usize = 256;

/// A hash with its salt and its parameters, as a PHC string.
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub(crate) struct PasswordHash(Kept);

#[derive(Clone)]
enum Kept {
    Text(String),
    /// It is hashed when somebody asks for it: most nodes let everybody in, or have other users by then.
    Later(Arc<Unhashed>),
}

struct Unhashed {
    password: String,
    salt: [u8; SALT_BYTES],
    text: OnceLock<String>,
}

impl From<String> for PasswordHash {
    fn from(text: String) -> Self {
        PasswordHash(Kept::Text(text))
    }
}

impl From<PasswordHash> for String {
    fn from(hash: PasswordHash) -> Self {
        hash.text().to_string()
    }
}

impl PartialEq for PasswordHash {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Kept::Later(own), Kept::Later(other)) if Arc::ptr_eq(own, other) => true,
            _ => self.text() == other.text(),
        }
    }
}

impl Eq for PasswordHash {}

impl std::fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PasswordHash(..)")
    }
}

fn argon2() -> Argon2<'static> {
    let params = Params::new(MEMORY_KIB, PASSES, 1, None);
    let params = params.expect("the constants are within Argon2's bounds");
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

/// Refuses passwords that are too short or too long.
///
/// # Errors
/// How long it is, and may be.
pub fn check_password(password: &str) -> Result<(), AccessError> {
    if (PASSWORD_BYTES_MIN..=PASSWORD_BYTES_MAX).contains(&password.len()) {
        return Ok(());
    }
    Err(AccessError::Invalid {
        what: "a password",
        rule: format!(
            "must have {PASSWORD_BYTES_MIN} to {PASSWORD_BYTES_MAX} bytes, and has {}",
            password.len()
        ),
    })
}

/// Bytes that nobody can foresee.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], AccessError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| AccessError::NoRandomness(error.to_string()))?;
    Ok(bytes)
}

impl PasswordHash {
    /// Hashes a password: some 20 ms of one core, and 12 MiB meanwhile.
    pub(crate) fn build(password: &str) -> Result<Self, AccessError> {
        check_password(password)?;
        Self::hash(password, &random::<SALT_BYTES>()?).map(PasswordHash::from)
    }

    /// The same of a password that the configuration has, which costs that when it is first asked for.
    pub(crate) fn later(password: &str) -> Result<Self, AccessError> {
        check_password(password)?;
        Ok(PasswordHash(Kept::Later(Arc::new(Unhashed {
            password: password.to_string(),
            salt: random()?,
            text: OnceLock::new(),
        }))))
    }

    fn text(&self) -> &str {
        match &self.0 {
            Kept::Text(text) => text,
            Kept::Later(own) => own.text.get_or_init(|| {
                // A text that is no hash lets nobody in.
                Self::hash(&own.password, &own.salt).unwrap_or_default()
            }),
        }
    }

    fn hash(password: &str, salt: &[u8]) -> Result<String, AccessError> {
        let broken = |error: argon2::password_hash::Error| AccessError::Invalid {
            what: "a password",
            rule: format!("cannot be hashed: {error}"),
        };
        let salt = SaltString::encode_b64(salt).map_err(broken)?;
        let hash = argon2().hash_password(password.as_bytes(), &salt);
        Ok(hash.map_err(broken)?.to_string())
    }

    /// Costs what looking at a password costs, for users that are not there: how long an answer takes must not tell who is.
    pub(crate) fn spend(password: &str) {
        // Only the time counts.
        let _ = Self::hash(password, &[0; SALT_BYTES]);
    }

    /// Whether this is the password; takes as long as making the hash, whatever the answer.
    pub(crate) fn is_of(&self, password: &str) -> bool {
        let read = argon2::PasswordHash::new(self.text());
        read.is_ok_and(|hash| argon2().verify_password(password.as_bytes(), &hash).is_ok())
    }

    /// Whether a hash that was read can be one of ours.
    pub(crate) fn check(&self) -> Result<(), String> {
        let hash = argon2::PasswordHash::new(self.text()).map_err(|error| error.to_string())?;
        let params = Params::try_from(&hash).map_err(|error| error.to_string())?;
        if hash.algorithm != argon2::ARGON2ID_IDENT || hash.salt.is_none() || hash.hash.is_none() {
            return Err("it is no hash of Argon2id with its salt".to_string());
        }
        if params.m_cost() > MEMORY_KIB_MAX || params.t_cost() > PASSES_MAX || params.p_cost() != 1
        {
            return Err("its parameters are out of bounds".to_string());
        }
        Ok(())
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.text().as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_of_the_configuration_is_hashed_once_it_is_asked_for() {
        assert!(PasswordHash::later("short").is_err());
        let hash = PasswordHash::later("Milvus").unwrap();
        let copy = hash.clone();
        let Kept::Later(own) = &hash.0 else {
            panic!("it is hashed at once");
        };
        assert!(hash == copy && own.text.get().is_none());
        assert!(copy.is_of("Milvus") && !copy.is_of("milvus"));
        assert!(own.text.get().is_some());
        let kept: PasswordHash = String::from(hash.clone()).into();
        assert!(kept == hash && kept.is_of("Milvus"));
        assert!(kept != PasswordHash::build("Milvus").unwrap());
    }
}
