//! Which of a column's values count.

use clew_platform::{Pace, stopped};
use clew_search::Regexp;

use crate::field::column::{Decoder, KEYS_AT_ONCE, ValueColumn};
use crate::field::{TermSet, TermSets};
use crate::value::key::Key;
use crate::value::partition::part_of;

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

impl ValueColumn {
    /// Which numbers a filter lets through, of which some may be missing once nobody wants them; `None` when all of them.
    pub(crate) fn mask(&self, sets: &TermSets) -> tantivy::Result<Option<Mask>> {
        if sets.include.is_none() && sets.exclude.is_none() {
            return Ok(None);
        }
        if let Some(made) = &self.made {
            // What there will be is not known yet, so that each value is looked at when it is there.
            *made.only.borrow_mut() = Some(sets.clone());
            return Ok(None);
        }
        let list = |set: &Option<TermSet>| -> tantivy::Result<Option<Vec<u64>>> {
            let mut list = match set {
                None => return Ok(None),
                Some(TermSet::Keys(keys)) => {
                    let (mut list, mut pace) = (Vec::with_capacity(keys.len()), Pace::default());
                    for key in keys.iter().take_while(|_| !pace.is_over()) {
                        list.extend(self.encode(key)?);
                        let foreign = self.foreign.as_ref().filter(|(_, own)| own == key);
                        list.extend(foreign.map(|(raw, _)| *raw));
                    }
                    list
                }
                Some(TermSet::Pattern(pattern)) => self.matching(pattern)?,
                Some(TermSet::Partition { part, count }) => self.of_part(*part, *count)?,
            };
            list.sort_unstable();
            Ok(Some(list))
        };
        Ok(Some(Mask {
            include: list(&sets.include)?,
            exclude: list(&sets.exclude)?.unwrap_or_default(),
        }))
    }

    fn matching(&self, pattern: &Regexp) -> tantivy::Result<Vec<u64>> {
        let mut list = Vec::new();
        if let Decoder::Text(Some(text)) = &self.decoder {
            let mut stream = text.dictionary().stream()?;
            let mut pace = Pace::of_blocks();
            while !pace.is_over() && stream.advance() {
                if std::str::from_utf8(stream.key()).is_ok_and(|term| pattern.matches(term)) {
                    list.push(stream.term_ord());
                }
            }
        }
        if let Decoder::Ids(ids) = &self.decoder {
            list = ids.matching(pattern)?;
        }
        if let Some((raw, Key::Str(term))) = &self.foreign
            && pattern.matches(term)
        {
            list.push(*raw);
        }
        Ok(list)
    }

    /// The numbers whose values belong to a part; equal values do so in every segment.
    fn of_part(&self, part: u32, count: u32) -> tantivy::Result<Vec<u64>> {
        let mut list = Vec::new();
        for some in self.all().chunks(KEYS_AT_ONCE) {
            if stopped() {
                break;
            }
            let keys = self.keys(some)?;
            let own = some.iter().zip(&keys);
            let own = own.filter(|(_, key)| part_of(key, count) == part);
            list.extend(own.map(|(raw, _)| *raw));
        }
        Ok(list)
    }
}
