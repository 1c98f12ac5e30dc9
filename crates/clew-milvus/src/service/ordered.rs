//! Hits in the order of fields: what is nearest is found first, and of that is told in another order.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use clew_engine::{DocPlace, FieldValues, Pinned, WantedField};
use clew_platform::Pace;
use clew_query::{FieldStep, unless_stopped};
use serde_json::Value;

use super::Service;
use super::asked::is_set;
use super::cell::{Cell, column};
use super::order::{ORDER_BY, OrderPart, is_sortable};
use super::search::{Found, are_many};
use crate::collection::{Collection, Field};
use crate::error::{MilvusError, Result};
use crate::expr::inside;

/// Where the values of a part lie.
#[derive(Clone, Debug)]
enum Source {
    Field(Box<Field>),
    /// Inside a member that is JSON, and the way there.
    Inside(String, Vec<FieldStep>),
}

/// The order that hits are told in.
#[derive(Clone, Debug)]
pub(super) struct HitOrder {
    parts: Vec<(OrderPart, Source)>,
}

impl HitOrder {
    /// Reads the order from a search's parameters, or from those of the index's structure; none where none is said.
    ///
    /// # Errors
    /// For what has no order, and beside an iterator, whose pages come by distance.
    pub(super) fn read(
        collection: &Collection,
        params: &BTreeMap<String, String>,
        inner: &BTreeMap<String, Value>,
    ) -> Result<Option<HitOrder>> {
        let given = params.get(ORDER_BY).map(String::as_str);
        let given = given.or_else(|| inner.get(ORDER_BY)?.as_str());
        let read = OrderPart::read(given, "expected")?;
        if read.is_empty() {
            return Ok(None);
        }
        if is_set(params, "iterator") {
            return Err(MilvusError::invalid(
                "order_by is not supported when using search iterator",
            ));
        }
        let mut parts = Vec::with_capacity(read.len());
        for part in read {
            let source = source_of(collection, &part.name)?;
            parts.push((part, source));
        }
        Ok(Some(HitOrder { parts }))
    }

    /// What has to be read of each hit; its key is known already.
    fn wanted(&self) -> Vec<WantedField> {
        let wanted = self.parts.iter().filter_map(|(_, source)| match source {
            Source::Field(field) if field.is_primary => None,
            Source::Field(field) => Some(WantedField::Typed(field.path().to_string())),
            Source::Inside(member, _) => Some(WantedField::Json(member.clone())),
        });
        wanted.collect()
    }

    /// The values of hits, part by part, of what was read of them.
    fn cells(&self, ids: &[&str], read: Vec<FieldValues>) -> Result<Vec<Vec<Option<Cell>>>> {
        let missing = || MilvusError::Internal("a column was not read".into());
        let mut read = read.into_iter();
        let mut all = Vec::with_capacity(self.parts.len());
        for (_, source) in &self.parts {
            let rows = 0..ids.len();
            all.push(match source {
                Source::Field(field) => {
                    let values = column(field, ids.iter().copied(), &mut read)?;
                    rows.map(|row| Cell::of(&values, row)).collect()
                }
                Source::Inside(_, steps) => {
                    let FieldValues::Json(values) = read.next().ok_or_else(missing)? else {
                        return Err(MilvusError::Internal("a member is no JSON".into()));
                    };
                    let mut pace = Pace::of_blocks();
                    let cell = |row: usize| {
                        if pace.is_over() {
                            return None;
                        }
                        let value: Value =
                            serde_json::from_str(values[row].as_ref()?.get()).ok()?;
                        Cell::of_json(FieldStep::lead(steps, &value)?)
                    };
                    rows.map(cell).collect()
                }
            });
        }
        Ok(all)
    }

    /// Which of two hits comes first; of those without a difference the nearer stays first.
    fn compare(&self, cells: &[Vec<Option<Cell>>], (a, b): (usize, usize)) -> Ordering {
        let mut parts = self.parts.iter().zip(cells);
        let differs = parts.find_map(|((part, _), cells)| {
            let ordering = part.compare(cells[a].as_ref(), cells[b].as_ref());
            Some(ordering).filter(|ordering| *ordering != Ordering::Equal)
        });
        differs.unwrap_or(Ordering::Equal)
    }
}

fn source_of(collection: &Collection, name: &str) -> Result<Source> {
    if let Ok(field) = collection.field(name) {
        if is_sortable(field) {
            return Ok(Source::Field(Box::new(field.clone())));
        }
        return Err(MilvusError::invalid(format!(
            "order_by field '{name}' has unsortable type {}; supported types: bool, int8/16/32/64, float, double, string, varchar; for JSON fields use path syntax like field[\"key\"]",
            field.data_type.name()
        )));
    }
    match inside(name, collection) {
        Ok(Some((member, steps))) => Ok(Source::Inside(member, steps)),
        Ok(None) | Err(_) => Err(MilvusError::invalid(format!(
            "order_by field '{name}' does not exist in collection schema"
        ))),
    }
}

impl Service {
    /// Hits in an order, and of these a window. The hits of a group stay together, and stand where the first of them does.
    pub(super) async fn ordered(
        &self,
        pinned: &Pinned,
        (order, limit, offset): (&HitOrder, usize, usize),
        found: Vec<Vec<Found>>,
    ) -> Result<Vec<Vec<Found>>> {
        let places: Vec<DocPlace> = found.iter().flatten().map(|one| one.place).collect();
        let read = self
            .engine()
            .columns(pinned, &places, &order.wanted())
            .await?;
        let (order, are_many) = (order.clone(), are_many(&found));
        let ordered = move || order.ordered(found, read.fields, (limit, offset));
        self.with_hits(are_many, ordered).await
    }
}

impl HitOrder {
    /// The same of hits of which what is wanted was read, as long as somebody waits for them.
    fn ordered(
        &self,
        found: Vec<Vec<Found>>,
        read: Vec<FieldValues>,
        (limit, offset): (usize, usize),
    ) -> Result<Vec<Vec<Found>>> {
        let ids: Vec<&str> = found.iter().flatten().map(|one| one.id.as_str()).collect();
        let cells = self.cells(&ids, read)?;
        let mut numbers = 0..ids.len();
        let mut lists = Vec::with_capacity(found.len());
        for list in found {
            unless_stopped()?;
            let mut groups: Vec<(usize, Vec<Found>)> = Vec::new();
            for (number, one) in numbers.by_ref().take(list.len()).zip(list) {
                match groups.last_mut() {
                    Some((_, group)) if one.group.is_some() && group[0].group == one.group => {
                        group.push(one);
                    }
                    _ => groups.push((number, vec![one])),
                }
            }
            groups.sort_by(|a, b| self.compare(&cells, (a.0, b.0)));
            let shown = groups.into_iter().skip(offset).take(limit);
            lists.push(shown.flat_map(|(_, group)| group).collect());
        }
        Ok(lists)
    }
}
