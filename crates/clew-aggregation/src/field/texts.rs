//! Texts that scripts make, in the order in which they come: they lie in no dictionary, whose numbers they could have.

use std::collections::HashMap;
use std::sync::Arc;

use clew_platform::{MemoryPurpose, Reservation};
use clew_query::AggError;

use crate::field::made::MadePlan;

/// Texts of one segment, in bytes.
const TEXT_BYTES_MAX: usize = 64 << 20;
/// What a text takes beside its letters: its place in a list and in a map, and its length.
const TEXT_BYTES: usize = 64;

/// Texts, each with a number of its own.
pub(super) struct Texts {
    numbers: HashMap<Arc<str>, u64>,
    texts: Vec<Arc<str>>,
    bytes: usize,
    memory: Option<Reservation>,
}

impl Texts {
    pub(super) fn new(made: &MadePlan) -> Self {
        let memory = made.memory.as_ref();
        Texts {
            numbers: HashMap::new(),
            texts: Vec::new(),
            bytes: 0,
            memory: memory.map(|memory| memory.open(MemoryPurpose::Searches)),
        }
    }

    /// The number of a text, which is a new one where it was not seen before.
    pub(super) fn number(&mut self, text: &str) -> u64 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        // It is too much already, which is told where it is booked.
        if self.bytes > TEXT_BYTES_MAX {
            return 0;
        }
        let (number, text) = (self.texts.len() as u64, Arc::<str>::from(text));
        self.bytes += text.len() + TEXT_BYTES;
        self.texts.push(text.clone());
        self.numbers.insert(text, number);
        number
    }

    /// The text of a number.
    pub(super) fn text(&self, number: u64) -> &str {
        let at = usize::try_from(number).ok();
        at.and_then(|at| self.texts.get(at))
            .map_or("", |text| &**text)
    }

    /// Books what came since the last time; a block of documents brings little at once.
    pub(super) fn book(&mut self) -> Result<(), AggError> {
        if self.bytes > TEXT_BYTES_MAX {
            return Err(AggError::TooLarge {
                wanted_bytes: self.bytes,
                max_bytes: TEXT_BYTES_MAX,
            });
        }
        match &mut self.memory {
            Some(memory) => memory.grow_to(self.bytes).map_err(AggError::Memory),
            None => Ok(()),
        }
    }
}
