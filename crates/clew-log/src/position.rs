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

/// The name of a stream of entries inside the log.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StreamId(u32);

impl StreamId {
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
