//! Whether an index serves what is asked of it: it may be closed, or blocked.

use std::sync::atomic::Ordering;

use crate::base::blocks::{Block, BlockLevel};
use crate::base::error::EngineError;
use crate::index::handle::Index;

/// Whether an index serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexState {
    /// It serves reads and writes.
    Open,
    /// It only keeps what it has.
    Closed,
}

impl Index {
    /// Whether it serves reads and writes.
    pub fn is_open(&self) -> bool {
        !self.closed.load(Ordering::SeqCst)
    }

    /// Whether wildcards pass it over.
    pub fn is_hidden(&self) -> bool {
        self.settings.load().hidden
    }

    /// Refuses another index than the one of a unique id: that was deleted, and this one has its name since.
    ///
    /// # Errors
    /// [`EngineError::IndexNotFound`].
    pub fn check_is(&self, uuid: &str) -> Result<(), EngineError> {
        if self.uuid == uuid {
            return Ok(());
        }
        let index = self.name().to_string();
        Err(EngineError::IndexNotFound { index })
    }

    /// Refuses when the index is closed.
    ///
    /// # Errors
    /// [`EngineError::IndexClosed`].
    pub fn check_open(&self) -> Result<(), EngineError> {
        if self.is_open() {
            return Ok(());
        }
        Err(EngineError::IndexClosed {
            index: self.name().to_string(),
            uuid: self.uuid.clone(),
        })
    }

    /// The blocks that hold now, in the order of their numbers: those that are set, and the one that all indexes have
    /// while the disk is nearly full.
    pub fn blocks(&self) -> Vec<Block> {
        let mut blocks = self.settings.load().blocks.clone();
        let full = Block::ReadOnlyAllowDelete;
        if self.space.is_blocked() && !blocks.contains(&full) {
            blocks.push(full);
        }
        blocks
    }

    /// Refuses what a block of the index forbids.
    ///
    /// # Errors
    /// [`EngineError::Blocked`] with all blocks that forbid it.
    pub fn check_block(&self, level: BlockLevel) -> Result<(), EngineError> {
        if self.settings.load().blocks.is_empty() && !self.space.is_blocked() {
            return Ok(());
        }
        self.check_each(self.blocks(), level)
    }

    /// Refuses what a block forbids that was set for this index, whatever the disk is like.
    ///
    /// # Errors
    /// [`EngineError::Blocked`] with all blocks that forbid it.
    pub fn check_own_blocks(&self, level: BlockLevel) -> Result<(), EngineError> {
        let settings = self.settings.load();
        if settings.blocks.is_empty() {
            return Ok(());
        }
        self.check_each(settings.blocks.clone(), level)
    }

    fn check_each(&self, mut blocks: Vec<Block>, level: BlockLevel) -> Result<(), EngineError> {
        blocks.retain(|block| block.forbids(level));
        if blocks.is_empty() {
            return Ok(());
        }
        let index = self.name().to_string();
        Err(EngineError::Blocked { index, blocks })
    }
}
