//! Whether an object has a name twice.

use std::borrow::Cow;
use std::collections::BTreeSet;

/// Names of an object up to which they are compared one by one.
const FEW_NAMES: usize = 24;

/// The names that an object has had.
#[derive(Default)]
pub(super) struct Names<'a> {
    few: Vec<Cow<'a, str>>,
    many: BTreeSet<Cow<'a, str>>,
}

impl<'a> Names<'a> {
    /// Notes a name; whether it is a new one.
    pub(super) fn insert(&mut self, name: Cow<'a, str>) -> bool {
        if !self.many.is_empty() {
            return self.many.insert(name);
        }
        if self.few.contains(&name) {
            return false;
        }
        self.few.push(name);
        if self.few.len() > FEW_NAMES {
            self.many.extend(self.few.drain(..));
        }
        true
    }
}
