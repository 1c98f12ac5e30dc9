//! Memory that a request takes beside its body: what JSON becomes when it is read, what was found, answers until
//! they are sent. It is taken of the node's account bit by bit and given back as one when the request is over.

use std::sync::Arc;

use clew_platform::{MemoryAccount, MemoryExceeded, MemoryLimits, MemoryPurpose, Reservation};
use clew_schema::parsed_json_bytes;
use parking_lot::Mutex;

use crate::http::error::ApiError;

/// JSON up to this becomes too little to be counted.
const SHORT_BYTES: usize = 4 << 10;
/// What a text takes for each of its bytes while it is cut into words: a word takes some 130 bytes, however short it is.
const WORDS_FACTOR: usize = 24;
/// How often a document is there while a script changes it.
const SCRIPT_COPIES: usize = 3;

/// What one request has taken so far. Clones are the same.
#[derive(Clone, Debug)]
pub struct RequestMemory(Arc<Mutex<Reservation>>);

impl Default for RequestMemory {
    /// Of an account without limits, for what is of no request.
    fn default() -> Self {
        Self::new(&MemoryAccount::new(MemoryLimits::none()))
    }
}

impl RequestMemory {
    /// Nothing taken yet of this account.
    pub fn new(account: &Arc<MemoryAccount>) -> Self {
        let nothing = account.open(MemoryPurpose::Searches);
        RequestMemory(Arc::new(Mutex::new(nothing)))
    }

    /// Takes more.
    ///
    /// # Errors
    /// 429 when it does not fit beside others.
    pub fn take(&self, bytes: usize) -> Result<(), ApiError> {
        Ok(self.0.lock().grow(bytes)?)
    }

    /// Takes memory for what is there only for a while: until the reservation is dropped.
    ///
    /// # Errors
    /// As [`RequestMemory::take`].
    pub fn hold(&self, bytes: usize) -> Result<Reservation, ApiError> {
        let mut held = self.0.lock().sibling();
        held.grow(bytes)?;
        Ok(held)
    }

    /// Takes what a document becomes while a script changes it: as it is read, as the script has it, and as the script leaves
    /// it. Until the reservation is dropped.
    ///
    /// # Errors
    /// When it does not fit beside others.
    pub(crate) fn hold_for_script(&self, source: &[u8]) -> Result<Reservation, MemoryExceeded> {
        let mut held = self.0.lock().sibling();
        held.grow(json_bytes(source).saturating_mul(SCRIPT_COPIES))?;
        Ok(held)
    }

    /// Takes what JSON becomes when it is read.
    ///
    /// # Errors
    /// As [`RequestMemory::take`].
    pub(crate) fn take_json(&self, text: &[u8]) -> Result<(), ApiError> {
        self.take(json_bytes(text))
    }

    /// Takes what JSON becomes that is read and then copied: parameters of a script, which a run gets as its own.
    ///
    /// # Errors
    /// As [`RequestMemory::take`].
    pub(crate) fn take_copied_json(&self, text: &[u8]) -> Result<(), ApiError> {
        self.take(json_bytes(text).saturating_mul(2))
    }
}

/// What JSON becomes at most when it is read.
pub fn json_bytes(text: &[u8]) -> usize {
    if text.len() <= SHORT_BYTES {
        return 0;
    }
    parsed_json_bytes(text)
}

/// What a text of so many bytes becomes at most when it is cut into words.
pub(crate) fn words_bytes(text_bytes: usize) -> usize {
    if text_bytes <= SHORT_BYTES {
        return 0;
    }
    text_bytes.saturating_mul(WORDS_FACTOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_json_is_free_and_a_list_of_numbers_is_not() {
        assert_eq!(json_bytes(b"{\"query\":{\"match_all\":{}}}"), 0);
        let numbers = format!("[{}0]", "0,".repeat(10_000));
        assert!(json_bytes(numbers.as_bytes()) > 900_000);
    }

    #[test]
    fn what_is_held_for_a_while_is_given_back_before_the_request_is_over() {
        let account = MemoryAccount::new(MemoryLimits::none());
        let memory = RequestMemory::new(&account);
        memory.take(10).unwrap();
        let held = memory.hold(words_bytes(100_000)).unwrap();
        assert_eq!(account.total().used, 2_400_010);
        drop(held);
        assert_eq!(account.total().used, 10);
        assert_eq!(words_bytes(100), 0);
    }

    #[test]
    fn a_request_gives_back_all_that_it_took() {
        let account = MemoryAccount::new(MemoryLimits {
            searches: 1000,
            ..MemoryLimits::none()
        });
        let memory = RequestMemory::new(&account);
        let inside = memory.clone();
        memory.take(600).unwrap();
        inside.take(300).unwrap();
        let error = inside.take(200).unwrap_err();
        assert!(
            error
                .reason()
                .starts_with("[request] Data too large, data for [<search>]")
        );
        drop(memory);
        assert_eq!(account.total().used, 900);
        drop(inside);
        assert_eq!(account.total().used, 0);
    }
}
