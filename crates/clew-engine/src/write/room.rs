//! What writes take of the disk before anybody has looked at it again, so that a full one is told before they are numbered.

use crate::base::blocks::Block;
use crate::base::disk::{BYTES_PER_BYTE, WRITE_OVERHEAD_BYTES};
use crate::base::error::EngineError;
use crate::index::handle::Index;
use crate::node::engine::Inner;
use crate::shard::{Shard, Writer};

/// From so many writes on the buffer is asked how large it is; of fewer that is estimated.
const EXACT_OPERATIONS_MIN: u64 = 32;

/// What a group of writes to a shard has taken of the disk that the account of the disk does not know of yet.
pub(super) struct Room {
    /// Bytes of operations when the account was last told.
    told: u64,
    operations: u64,
}

impl Room {
    pub(super) fn new(writer: &Writer) -> Self {
        Room {
            told: writer.unflushed_bytes(),
            operations: 0,
        }
    }

    /// Tells the shard what it has to write now.
    pub(super) fn note(&self, shard: &Shard, writer: &Writer) {
        match self.operations {
            0..EXACT_OPERATIONS_MIN => shard.add_unwritten(self.unseen(writer) * BYTES_PER_BYTE),
            _ => shard.note_unwritten(writer),
        }
    }

    pub(super) fn unseen(&self, writer: &Writer) -> u64 {
        let bytes = writer.unflushed_bytes().saturating_sub(self.told);
        bytes.saturating_add(self.operations * WRITE_OVERHEAD_BYTES)
    }
}

impl Inner {
    /// Refuses so many writes, of so many bytes, that the disk may have no room for.
    pub(super) fn check_room(
        &self,
        index: &Index,
        shard: &Shard,
        (writer, room): (&Writer, &mut Room),
        (writes, bytes): (u64, u64),
    ) -> Result<(), EngineError> {
        room.operations += writes;
        if self.space.admits(room.unseen(writer).saturating_add(bytes)) {
            return Ok(());
        }
        shard.note_unwritten(writer);
        self.look_at_disk();
        *room = Room::new(writer);
        if self.space.has_room(bytes) {
            return Ok(());
        }
        Err(EngineError::Blocked {
            index: index.name().to_string(),
            blocks: vec![Block::ReadOnlyAllowDelete],
        })
    }
}
