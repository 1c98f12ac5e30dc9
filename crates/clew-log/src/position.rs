//! Positions and names inside the log, each its own type so that they cannot be mixed up.

use std::fmt;

macro_rules! position {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

        impl $name {
            /// Before the first entry.
            pub const ZERO: Self = Self(0);
            /// The first entry.
            pub const FIRST: Self = Self(1);

            /// Above every entry.
            pub const MAX: Self = Self(u64::MAX);

            /// The position with this number.
            pub const fn new(number: u64) -> Self {
                Self(number)
            }
            /// The number of this position.
            pub const fn get(self) -> u64 {
                self.0
            }
            /// The position after this one.
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0 + 1)
            }
            /// The position `count` entries further on.
            #[must_use]
            pub const fn plus(self, count: u64) -> Self {
                Self(self.0 + count)
            }
            /// The position before this one; `ZERO` has none and gives itself.
            #[must_use]
            pub const fn previous(self) -> Self {
                Self(self.0.saturating_sub(1))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    };
}

position! {
    /// Global log sequence number: an entry's place among all entries of the log, dense from 1.
    Glsn
}

position! {
    /// Local log sequence number: an entry's place inside its stream, dense from 1.
    Llsn
}

/// The number of a stream of entries inside the log.
///
/// Numbers below [`NAMED_FIRST`](Self::NAMED_FIRST) belong to the program that embeds the log: it
/// chooses them, and such a stream exists from its first entry on. The others are given to
/// streams made by name, and never a second time.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StreamId(u32);

impl StreamId {
    /// The lowest number of a stream made by name.
    pub const NAMED_FIRST: Self = Self(1 << 31);

    /// Whether the stream was made by name.
    pub const fn is_named(self) -> bool {
        self.0 >= Self::NAMED_FIRST.0
    }
    /// The stream with this number.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }
    /// The number of this stream.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
