//! The name of an index, which may change while others read it.

use std::sync::OnceLock;

use clew_search::NamedIndex;

/// Most names that an index has between two starts of the node: all of them are kept, as somebody may be reading them.
pub(crate) const NAMES_MAX: usize = 1_000;

/// A name, and the one that came after it.
#[derive(Debug)]
pub(crate) struct IndexName {
    text: String,
    next: OnceLock<Box<IndexName>>,
}

impl IndexName {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        IndexName {
            text: text.into(),
            next: OnceLock::new(),
        }
    }

    fn all(&self) -> impl Iterator<Item = &IndexName> {
        std::iter::successors(Some(self), |name| name.next.get().map(|next| &**next))
    }

    /// The name now; costs a step for each that there was before.
    pub(crate) fn get(&self) -> &str {
        self.all().last().map_or("", |last| &last.text)
    }

    /// How many there have been.
    pub(crate) fn count(&self) -> usize {
        self.all().count()
    }

    /// Changes the name.
    pub(crate) fn change(&self, text: &str) {
        if self.get() == text {
            return;
        }
        let mut next = Box::new(IndexName::new(text));
        for name in self.all() {
            match name.next.set(next) {
                Ok(()) => return,
                Err(again) => next = again,
            }
        }
    }
}

impl NamedIndex for IndexName {
    fn name(&self) -> &str {
        self.get()
    }
}

impl std::fmt::Display for IndexName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_was_read_stays_what_it_was() {
        let name = IndexName::new("a");
        let first = name.get();
        name.change("b");
        let second = name.get();
        name.change("b");
        name.change("a");
        assert_eq!(
            (first, second, name.get(), name.count()),
            ("a", "b", "a", 3)
        );
        assert_eq!(name.to_string(), "a");
    }
}
