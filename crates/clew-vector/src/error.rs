//! Everything that can go wrong with a column, named by what happened.

/// Why a vector, a column or a search was refused.
#[derive(Debug, thiserror::Error)]
pub enum VectorError {
    /// The vector has another dimension than the column.
    #[error("vector has dimension {actual}, the column has {expected}")]
    DimensionMismatch {
        /// Dimension of the column.
        expected: usize,
        /// Dimension of the vector given.
        actual: usize,
    },
    /// The vector holds a NaN or an infinity.
    #[error("vector component {position} is not a finite number")]
    NotFinite {
        /// Index of the first such component.
        position: usize,
    },
    /// A number that the column's type of element cannot hold.
    #[error("vector component {position} is {value}, which type {element} cannot hold")]
    OutOfRange {
        /// Index of the first such component.
        position: usize,
        /// The component.
        value: f32,
        /// Name of the type.
        element: &'static str,
    },
    /// A space of bits for vectors of numbers, or the other way round.
    #[error("space {space} does not compare vectors of type {element}")]
    SpaceOfElement {
        /// OpenSearch name of the space.
        space: &'static str,
        /// Name of the type.
        element: &'static str,
    },
    /// Inverted lists of vectors that have no mean.
    #[error("vectors of type {element} cannot be put into inverted lists")]
    ListsOfElement {
        /// Name of the type.
        element: &'static str,
    },
    /// Bits come in whole bytes.
    #[error("dimension of a binary vector is {dimension}, must be a multiple of 8")]
    PartialByte {
        /// The dimension given.
        dimension: usize,
    },
    /// Slots come as wholes.
    #[error("dimension of a vector of slots is {dimension}, must be a multiple of {bits}")]
    PartialSlot {
        /// The dimension given.
        dimension: usize,
        /// Bits of a slot.
        bits: usize,
    },
    /// No share of the nearest.
    #[error("target recall is {target}, must be above 0 and no more than 1")]
    TargetRecall {
        /// The target given.
        target: f32,
    },
    /// A vector without a direction in a space that compares directions, where none is wanted.
    #[error("zero vector has no direction, which space {space} needs")]
    ZeroVector {
        /// OpenSearch name of the space.
        space: &'static str,
    },
    /// Distances of so long a vector would not fit into single precision.
    #[error("vector of length {norm:e} is too long for single precision")]
    TooLong {
        /// Euclidean length of the vector.
        norm: f64,
    },
    /// Documents must be pushed in strictly ascending order.
    #[error("document {doc} was pushed after document {previous}")]
    DocOrder {
        /// The last document pushed.
        previous: u32,
        /// The document refused.
        doc: u32,
    },
    /// An option lies outside its bounds.
    #[error("{name} is {value}, must be from {min} to {max}")]
    Option {
        /// Name of the option.
        name: &'static str,
        /// Value given.
        value: usize,
        /// Smallest value allowed.
        min: usize,
        /// Largest value allowed.
        max: usize,
    },
    /// An option that is no whole number lies outside its bounds.
    #[error("{name} is {value}, must be from {min:?} to {max:?}")]
    Number {
        /// Name of the option.
        name: &'static str,
        /// Value given.
        value: f32,
        /// Smallest value allowed.
        min: f32,
        /// Largest value allowed.
        max: f32,
    },
    /// A sparse vector's weight is negative, too great or not a number.
    #[error("weight {weight} of dimension {dimension} must be from 0 to {max:e}")]
    Weight {
        /// The dimension.
        dimension: u32,
        /// Value given.
        weight: f32,
        /// Largest value allowed.
        max: f32,
    },
    /// The dimensions of a sparse vector must be strictly ascending.
    #[error("dimension {dimension} comes after dimension {previous}")]
    DimensionOrder {
        /// The dimension before.
        previous: u32,
        /// The dimension refused.
        dimension: u32,
    },
    /// The column of sparse vectors is full.
    #[error("a column of sparse vectors holds at most {max} weights")]
    TooManyWeights {
        /// The limit.
        max: usize,
    },
    /// Too few vectors to train a quantizer on.
    #[error("{rows} vectors are too few to train product quantization, which needs {needed}")]
    TooFewToTrain {
        /// Vectors given.
        rows: usize,
        /// Fewest that do.
        needed: usize,
    },
    /// The column is full.
    #[error("a column holds at most {max} vectors")]
    TooManyVectors {
        /// The limit.
        max: usize,
    },
    /// The image contradicts itself or fails a checksum.
    #[error("column image is corrupt at byte {offset_bytes}: {what}")]
    Corrupt {
        /// What was found wrong.
        what: &'static str,
        /// Where in the image.
        offset_bytes: u64,
    },
    /// The image was written by a program newer than this one.
    #[error("column image has version {version}, this program reads up to {supported}")]
    UnsupportedVersion {
        /// Version found.
        version: u32,
        /// Newest version known.
        supported: u32,
    },
    /// The image starts at an address where its numbers cannot be read in place.
    #[error("column image must start at an address that is a multiple of {multiple_bytes} bytes")]
    Misaligned {
        /// The alignment needed.
        multiple_bytes: usize,
    },
    /// Pages were taken from a column that they were not started on.
    #[error("pages go on in the column that they were started on")]
    OtherColumn,
    /// A build needs more memory than it may take.
    #[error("a build needs {needed} bytes of memory, {allowed} are allowed")]
    Memory {
        /// Bytes that it would take.
        needed: usize,
        /// Bytes that are left to builds.
        allowed: usize,
    },
    /// The build was cancelled.
    #[error("the build was cancelled")]
    Cancelled,
    /// The output refused the image.
    #[error("cannot write the column image")]
    Write(#[from] std::io::Error),
}

/// What the caller should do about a [`VectorError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The input is wrong; the same call fails again.
    Invalid,
    /// Stored bytes are damaged, or from another version.
    Corrupt,
    /// The world outside failed; trying again may help.
    Unavailable,
    /// The calling program broke a rule of this crate.
    Internal,
}

impl VectorError {
    /// What the caller should do.
    pub fn kind(&self) -> ErrorKind {
        match self {
            VectorError::DimensionMismatch { .. }
            | VectorError::NotFinite { .. }
            | VectorError::OutOfRange { .. }
            | VectorError::SpaceOfElement { .. }
            | VectorError::PartialByte { .. }
            | VectorError::PartialSlot { .. }
            | VectorError::TargetRecall { .. }
            | VectorError::ZeroVector { .. }
            | VectorError::TooLong { .. }
            | VectorError::Option { .. }
            | VectorError::Number { .. }
            | VectorError::Weight { .. }
            | VectorError::TooFewToTrain { .. }
            | VectorError::ListsOfElement { .. }
            | VectorError::DimensionOrder { .. } => ErrorKind::Invalid,
            VectorError::Corrupt { .. } | VectorError::UnsupportedVersion { .. } => {
                ErrorKind::Corrupt
            }
            VectorError::TooManyVectors { .. }
            | VectorError::TooManyWeights { .. }
            | VectorError::Memory { .. }
            | VectorError::Cancelled
            | VectorError::Write(_) => ErrorKind::Unavailable,
            VectorError::DocOrder { .. }
            | VectorError::OtherColumn
            | VectorError::Misaligned { .. } => ErrorKind::Internal,
        }
    }
}

/// Refuses an option outside of its bounds.
pub(crate) fn within(
    name: &'static str,
    value: usize,
    (min, max): (usize, usize),
) -> Result<(), VectorError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(VectorError::Option {
        name,
        value,
        min,
        max,
    })
}
