//! Where an aggregation is in its request's tree: the names on the way to it. What a request says of an
//! aggregation that is of no concern to whoever computes it is kept under this path, and found by it again
//! when the result is written.

use std::fmt;

/// The names on the way to an aggregation; written `outer>inner`, which no two aggregations of a request
/// share, since names have no `>`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AggPath<'a> {
    pub(super) name: &'a str,
    above: Option<&'a AggPath<'a>>,
}

impl<'a> AggPath<'a> {
    /// A name inside of the aggregation above, or outermost.
    pub(super) fn new(name: &'a str, above: Option<&'a AggPath<'a>>) -> Self {
        AggPath { name, above }
    }

    /// The name of the aggregation itself.
    pub(crate) fn name(&self) -> &'a str {
        self.name
    }

    /// How many aggregations are around this one.
    pub(super) fn depth(&self) -> usize {
        self.above.map_or(0, |above| above.depth() + 1)
    }
}

impl fmt::Display for AggPath<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(above) = self.above {
            write!(out, "{above}>")?;
        }
        out.write_str(self.name)
    }
}
