//! Which structs of its row meet the condition that `element_filter` of a query has for them.

use std::collections::BTreeMap;

use clew_engine::{Hit, InnerHits, Within};

use crate::collection::{Collection, key_of};
use crate::error::{MilvusError, Result};
use crate::expr::{self, Templates};

/// Structs that are found for one page of rows, where its first row alone has not more.
const PAGE_STRUCTS: usize = 1 << 16;
/// What one takes until its number is known: a hit, its id and the way to it.
const STRUCT_BYTES: usize = size_of::<Hit>() + 128;

/// What iterators say of the last struct that they were told: the key of its row, and its number.
const LAST_KEY: &str = "query_iter_last_pk";
const LAST_NUMBER: &str = "query_iter_last_element_offset";

/// The structs that a query tells beside each row.
pub(super) struct Elements {
    wanted: InnerHits,
    capacity: usize,
    /// Only those behind this one: the key of its row, and its number.
    last: Option<(String, i64)>,
}

impl Elements {
    /// Those of the first field of structs that a filter has such a condition for.
    ///
    /// # Errors
    /// As of the filter.
    pub(super) fn read(
        collection: &Collection,
        filter: &str,
        templates: &Templates,
    ) -> Result<Option<Elements>> {
        if collection.structs.is_empty() || filter.trim().is_empty() {
            return Ok(None);
        }
        let parsed = expr::parse(filter)?;
        for field in &collection.structs {
            if let Some(query) = expr::element_filter(&parsed, (collection, field), templates)? {
                let capacity = field.capacity()?;
                let wanted = InnerHits {
                    within: Within::Nested(field.name.clone()),
                    query,
                    ignore_unmapped: true,
                    from: 0,
                    size: capacity,
                    sort: Vec::new(),
                    source: false,
                    explain: false,
                    inner: Vec::new(),
                };
                return Ok(Some(Elements {
                    wanted,
                    capacity,
                    last: None,
                }));
            }
        }
        Ok(None)
    }

    /// Those behind the last one that an iterator was told.
    ///
    /// # Errors
    /// When only its row or its number is said, or that is none.
    pub(super) fn behind(mut self, params: &BTreeMap<String, String>) -> Result<Elements> {
        self.last = match (params.get(LAST_KEY), params.get(LAST_NUMBER)) {
            (None, None) => None,
            (Some(key), Some(given)) => {
                let number = given.parse::<i64>().ok().filter(|number| *number >= 0);
                let number = number.ok_or_else(|| {
                    MilvusError::invalid(format!(
                        "value for query iterator last element offset is invalid: {given}"
                    ))
                })?;
                Some((key.clone(), number))
            }
            _ => {
                return Err(MilvusError::invalid(format!(
                    "incomplete query iterator cursor params: {LAST_KEY} and {LAST_NUMBER} must be provided together"
                )));
            }
        };
        Ok(self)
    }

    /// What is wanted from inside each row.
    pub(super) fn wanted(&self) -> InnerHits {
        self.wanted.clone()
    }

    /// Most rows that are read at once, one at least.
    pub(super) fn page_rows(&self) -> usize {
        (PAGE_STRUCTS / self.capacity.max(1)).max(1)
    }

    /// What the structs of so many rows take while they are read.
    pub(super) fn bytes(&self, rows: usize) -> usize {
        rows.saturating_mul(self.capacity)
            .saturating_mul(STRUCT_BYTES)
    }

    /// The numbers of a row's structs that were found, in their order.
    pub(super) fn numbers(&self, row: &Hit) -> Vec<i64> {
        let last = self.last.as_ref().filter(|(key, _)| key == key_of(&row.id));
        let first = last.map_or(0, |(_, number)| number.saturating_add(1));
        let found = row.inner.iter().flat_map(|result| &result.hits);
        let steps = found.filter_map(|hit| hit.nested.last());
        let numbers = steps.filter_map(|step| i64::try_from(step.offset).ok());
        let mut numbers: Vec<i64> = numbers.filter(|number| *number >= first).collect();
        numbers.sort_unstable();
        numbers
    }
}
