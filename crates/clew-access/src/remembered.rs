//! Who was found to be right before: a keyed hash of user, kept hash and password, under a key that only this process has.
//! A password that is changed has another kept hash, so that what is remembered of the old one fits no more.

use std::collections::HashMap;

use blake2::Blake2sMac256;
use blake2::digest::{KeyInit, Mac};
use parking_lot::Mutex;

use crate::error::AccessError;
use crate::password::{PasswordHash, random};

/// Bytes of the key and of a hash.
const BYTES: usize = 32;

/// At most one password for each user.
pub(crate) struct Remembered {
    key: [u8; BYTES],
    known: Mutex<HashMap<String, [u8; BYTES]>>,
}

impl Remembered {
    pub(crate) fn new() -> Result<Self, AccessError> {
        Ok(Remembered {
            key: random()?,
            known: Mutex::default(),
        })
    }

    fn mac(&self, user: &str, hash: &PasswordHash, password: &str) -> Blake2sMac256 {
        let mut mac = <Blake2sMac256 as KeyInit>::new(&self.key.into());
        // With their lengths, so that no two triples run together to the same bytes.
        for part in [user.as_bytes(), hash.as_bytes(), password.as_bytes()] {
            Mac::update(&mut mac, &(part.len() as u64).to_le_bytes());
            Mac::update(&mut mac, part);
        }
        mac
    }

    /// Whether this password was found to be right; compared in constant time. About a microsecond.
    pub(crate) fn knows(&self, user: &str, hash: &PasswordHash, password: &str) -> bool {
        let known = self.known.lock().get(user).copied();
        let fits = |known: [u8; BYTES]| {
            let mac = self.mac(user, hash, password);
            mac.verify_slice(&known).is_ok()
        };
        known.is_some_and(fits)
    }

    pub(crate) fn remember(&self, user: &str, hash: &PasswordHash, password: &str) {
        let mac = self.mac(user, hash, password).finalize().into_bytes();
        self.known.lock().insert(user.to_string(), mac.into());
    }

    /// Forgets whoever is not to be kept.
    pub(crate) fn retain(&self, keep: impl Fn(&str) -> bool) {
        self.known.lock().retain(|user, _| keep(user));
    }
}
