//! What a vector column was asked to be made for, and how small. Vectors stay as exact as their element type says; a level
//! chooses the width of the codes that walks of the graph read instead of them. What both come to is said by the column
//! itself; they are known so that a change of them is found.

use serde_json::{Map, Value};

/// The members of a kept field under which both stand, among what is shown.
const MODE: &str = "mode";
const LEVEL: &str = "compression_level";

/// What a vector column was asked to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VectorCompression {
    /// What it is made for.
    pub mode: Option<VectorMode>,
    /// How small it is.
    pub level: Option<CompressionLevel>,
}

/// What a vector column is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorMode {
    /// Searches read memory alone.
    InMemory,
    /// Only codes need to be in memory.
    OnDisk,
}

impl VectorMode {
    /// All of them.
    pub const ALL: [VectorMode; 2] = [VectorMode::InMemory, VectorMode::OnDisk];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            VectorMode::InMemory => "in_memory",
            VectorMode::OnDisk => "on_disk",
        }
    }
}

/// How much smaller than 32-bit floats something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompressionLevel {
    /// As large.
    X1,
    /// Half.
    X2,
    /// A quarter.
    X4,
    /// An eighth.
    X8,
    /// A sixteenth.
    X16,
    /// One bit for each number.
    X32,
}

impl CompressionLevel {
    /// All of them.
    pub const ALL: [CompressionLevel; 6] = [
        CompressionLevel::X1,
        CompressionLevel::X2,
        CompressionLevel::X4,
        CompressionLevel::X8,
        CompressionLevel::X16,
        CompressionLevel::X32,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            CompressionLevel::X1 => "1x",
            CompressionLevel::X2 => "2x",
            CompressionLevel::X4 => "4x",
            CompressionLevel::X8 => "8x",
            CompressionLevel::X16 => "16x",
            CompressionLevel::X32 => "32x",
        }
    }
}

impl VectorCompression {
    /// What a kept field says of it.
    pub(super) fn of_kept(shown: &Map<String, Value>) -> Self {
        let written = |member: &str| shown.get(member).and_then(Value::as_str);
        let (mode, level) = (written(MODE), written(LEVEL));
        let modes = VectorMode::ALL.into_iter();
        let levels = CompressionLevel::ALL.into_iter();
        VectorCompression {
            mode: mode.and_then(|name| modes.clone().find(|mode| mode.name() == name)),
            level: level.and_then(|name| levels.clone().find(|level| level.name() == name)),
        }
    }

    /// Adds it to what is kept of a field, where a protocol has not done so in its own words.
    pub(super) fn keep(self, shown: &mut Map<String, Value>) {
        let mode = self.mode.map(VectorMode::name);
        let level = self.level.map(CompressionLevel::name);
        for (member, name) in [(MODE, mode), (LEVEL, level)] {
            if let (Some(name), false) = (name, shown.contains_key(member)) {
                shown.insert(member.to_string(), name.into());
            }
        }
    }
}
