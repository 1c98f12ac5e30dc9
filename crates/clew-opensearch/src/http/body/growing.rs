//! A body that is being put together in memory that was reserved for it first.

use bytes::Bytes;
use clew_platform::{MemoryPurpose, Reservation};

use super::{BodyLimits, hold, too_long};
use crate::http::error::ApiError;

/// Room of a body whose length nobody has said.
const FIRST_BYTES: usize = 4 << 10;

pub(in crate::http) struct GrowingBody {
    bytes: Vec<u8>,
    /// Covers the capacity of `bytes`, or what is to become it.
    memory: Reservation,
    bytes_max: usize,
}

impl GrowingBody {
    /// An empty one, of a request that has so many bytes already.
    pub(in crate::http) fn beside(bytes: usize, limits: &BodyLimits) -> Self {
        GrowingBody {
            bytes: Vec::new(),
            memory: limits.memory.open(MemoryPurpose::Bodies),
            bytes_max: limits.bytes_max_beside(bytes),
        }
    }

    pub(in crate::http) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Bytes that fit without more memory.
    pub(in crate::http) fn capacity(&self) -> usize {
        self.memory.bytes()
    }

    /// Reserves memory for so many bytes in all. It is taken from the system only as they come.
    ///
    /// # Errors
    /// 413 when that is too long, 429 when there is no room now.
    pub(in crate::http) fn reserve(&mut self, length: usize) -> Result<(), ApiError> {
        if length > self.bytes_max {
            return Err(too_long(self.bytes_max));
        }
        Ok(self.memory.grow_to(length)?)
    }

    /// Adds bytes.
    ///
    /// # Errors
    /// As [`GrowingBody::reserve`].
    pub(in crate::http) fn push(&mut self, more: &[u8]) -> Result<(), ApiError> {
        let length = self.bytes.len() + more.len();
        if self.bytes.is_empty() {
            self.reserve(length)?;
            let capacity = self.memory.bytes().max(FIRST_BYTES.min(self.bytes_max));
            self.memory.grow_to(capacity)?;
            self.bytes.reserve_exact(capacity);
        } else if length > self.bytes.capacity() {
            self.move_to(length)?;
        }
        self.bytes.extend_from_slice(more);
        Ok(())
    }

    /// Moves to more memory; for the time of the copy both are taken.
    fn move_to(&mut self, length: usize) -> Result<(), ApiError> {
        if length > self.bytes_max {
            return Err(too_long(self.bytes_max));
        }
        let capacity = length.max(self.bytes.capacity() * 2).min(self.bytes_max);
        self.memory.grow(capacity)?;
        self.bytes.reserve_exact(capacity - self.bytes.len());
        self.memory.shrink_to(capacity);
        Ok(())
    }

    /// Reserves memory for what is there beside the body only for a while: until the reservation is dropped.
    ///
    /// # Errors
    /// 429 when there is no room now.
    pub(in crate::http) fn hold(&self, bytes: usize) -> Result<Reservation, ApiError> {
        let mut held = self.memory.sibling();
        held.grow(bytes)?;
        Ok(held)
    }

    pub(in crate::http) fn into_memory(self) -> Reservation {
        self.memory
    }

    pub(in crate::http) fn into_bytes(self) -> Bytes {
        hold(self.bytes, self.memory)
    }
}
