//! Which of a column's values count.

/// Which numbers count.
pub(crate) struct Mask {
    pub(super) include: Option<Vec<u64>>,
    pub(super) exclude: Vec<u64>,
}

impl Mask {
    pub(crate) fn admits(&self, raw: u64) -> bool {
        self.include
            .as_ref()
            .is_none_or(|include| include.binary_search(&raw).is_ok())
            && self.exclude.binary_search(&raw).is_err()
    }
}
