//! Blocks: what a user forbids to be done with an index, until the block is taken away, and what the node forbids with
//! all of them while its disk is nearly full.

use serde::{Deserialize, Serialize};

/// A block of an index, set by `index.blocks.*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Block {
    /// Neither writes nor changes.
    ReadOnly,
    /// No reads of documents.
    Read,
    /// No writes of documents.
    Write,
    /// Mapping, settings and aliases can neither be read nor changed.
    Metadata,
    /// Like `ReadOnly`, but the index may be deleted.
    ReadOnlyAllowDelete,
}

/// What someone is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockLevel {
    /// Read documents.
    Read,
    /// Write documents.
    Write,
    /// Read mapping, settings or aliases.
    MetadataRead,
    /// Change them.
    MetadataWrite,
    /// Delete the index.
    Delete,
}

impl Block {
    /// Every block, in the order of their numbers.
    pub const ALL: [Block; 5] = [
        Block::ReadOnly,
        Block::Read,
        Block::Write,
        Block::Metadata,
        Block::ReadOnlyAllowDelete,
    ];

    /// The end of its setting's name: `index.blocks.<name>`.
    pub fn name(self) -> &'static str {
        match self {
            Block::ReadOnly => "read_only",
            Block::Read => "read",
            Block::Write => "write",
            Block::Metadata => "metadata",
            Block::ReadOnlyAllowDelete => "read_only_allow_delete",
        }
    }

    /// The number that OpenSearch knows it by.
    pub fn number(self) -> u32 {
        match self {
            Block::ReadOnly => 5,
            Block::Read => 7,
            Block::Write => 8,
            Block::Metadata => 9,
            Block::ReadOnlyAllowDelete => 12,
        }
    }

    /// What it is, in OpenSearch's words.
    pub fn description(self) -> &'static str {
        match self {
            Block::ReadOnly => "index read-only (api)",
            Block::Read => "index read (api)",
            Block::Write => "index write (api)",
            Block::Metadata => "index metadata (api)",
            Block::ReadOnlyAllowDelete => {
                "disk usage exceeded flood-stage watermark, index has read-only-allow-delete block"
            }
        }
    }

    /// What it forbids, in OpenSearch's words.
    pub fn levels(self) -> &'static [&'static str] {
        match self {
            Block::ReadOnly | Block::ReadOnlyAllowDelete => &["write", "metadata_write"],
            Block::Read => &["read"],
            Block::Write => &["write"],
            Block::Metadata => &["metadata_read", "metadata_write"],
        }
    }

    pub(crate) fn forbids(self, level: BlockLevel) -> bool {
        match self {
            Block::ReadOnly => !matches!(level, BlockLevel::Read | BlockLevel::MetadataRead),
            Block::Read => level == BlockLevel::Read,
            Block::Write => level == BlockLevel::Write,
            Block::Metadata => !matches!(level, BlockLevel::Read | BlockLevel::Write),
            Block::ReadOnlyAllowDelete => {
                matches!(level, BlockLevel::Write | BlockLevel::MetadataWrite)
            }
        }
    }
}

/// The reason of a refusal: each block with its status, number and words.
pub(crate) fn describe(blocks: &[Block]) -> String {
    let each = blocks.iter().map(|block| {
        let status = match block {
            Block::ReadOnlyAllowDelete => "TOO_MANY_REQUESTS",
            Block::ReadOnly | Block::Read | Block::Write | Block::Metadata => "FORBIDDEN",
        };
        format!("[{status}/{}/{}];", block.number(), block.description())
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_block_forbids_its_levels() {
        use BlockLevel::{Delete, MetadataRead, MetadataWrite, Read, Write};
        for (block, forbidden) in [
            (Block::ReadOnly, &[Write, MetadataWrite, Delete][..]),
            (Block::Read, &[Read]),
            (Block::Write, &[Write]),
            (Block::Metadata, &[MetadataRead, MetadataWrite, Delete]),
            (Block::ReadOnlyAllowDelete, &[Write, MetadataWrite]),
        ] {
            for level in [Read, Write, MetadataRead, MetadataWrite, Delete] {
                let want = forbidden.contains(&level);
                assert_eq!(block.forbids(level), want, "{block:?} {level:?}");
            }
        }
    }

    #[test]
    fn a_refusal_names_every_block() {
        assert_eq!(
            describe(&[Block::ReadOnly, Block::Write]),
            "[FORBIDDEN/5/index read-only (api)];[FORBIDDEN/8/index write (api)];"
        );
    }
}
