//! Aggregations of queries: the rows that match in groups by fields, and of each group what is counted, added up or
//! compared. Every row is looked at once; nothing is kept but the groups.

mod groups;

use clew_engine::{DocPlace, WantedField};
use clew_platform::MemoryPurpose;
use clew_query::Query;
use jiff::tz::TimeZone;

use super::Service;
use super::order::OrderPart;
use super::read::Page;
use crate::collection::{Collection, DataType, Field};
use crate::collections::Opened;
use crate::error::{MilvusError, Result};
use crate::proto::FieldData;
use groups::Groups;
pub(super) use groups::Known;

/// The parameter that names the fields of groups.
pub(super) const GROUP_BY: &str = "group_by_fields";
/// Rows that are read at once.
const PAGE_ROWS: usize = 8_192;

/// What is done with the values of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Count,
    Sum,
    Avg,
    Min,
    Max,
}

const OPERATORS: [(&str, Operator); 5] = [
    ("count", Operator::Count),
    ("sum", Operator::Sum),
    ("avg", Operator::Avg),
    ("min", Operator::Min),
    ("max", Operator::Max),
];

/// One aggregation, as `sum(price)`.
#[derive(Clone, Debug, PartialEq)]
struct Aggregate {
    /// As it was asked for, and is told.
    name: String,
    operator: Operator,
    /// Which of the fields; none where rows are counted.
    field: Option<usize>,
}

/// A column of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// Which of the keys.
    Key(usize),
    /// Which of the aggregations.
    Aggregate(usize),
}

/// What groups are made by, and what is asked of them.
#[derive(Clone, Debug)]
pub(super) struct Grouping {
    /// The fields that are read of every row, each once.
    fields: Vec<Field>,
    /// Which of them groups are made by.
    keys: Vec<usize>,
    aggregates: Vec<Aggregate>,
    shown: Vec<Shown>,
    /// The order of groups: which of the keys, and how.
    order: Vec<(usize, OrderPart)>,
}

impl Grouping {
    /// Reads what a query asks for; none where it asks for rows.
    ///
    /// # Errors
    /// For fields that there are none of, or whose type does not allow it, and for anything else beside aggregations.
    pub(super) fn read(
        collection: &Collection,
        names: &[String],
        (group_by, order): (Option<&String>, &[OrderPart]),
    ) -> Result<Option<Grouping>> {
        let keys = group_by
            .map_or("", String::as_str)
            .split(',')
            .map(str::trim);
        let keys: Vec<&str> = keys.filter(|name| !name.is_empty()).collect();
        if keys.is_empty() && !names.iter().any(|name| parse(name).is_some()) {
            return Ok(None);
        }
        let mut grouping = Grouping {
            fields: Vec::new(),
            keys: Vec::new(),
            aggregates: Vec::new(),
            shown: Vec::new(),
            order: Vec::new(),
        };
        for name in keys {
            let field = key_field(collection, name)?;
            let at = grouping.add_field(field);
            grouping.keys.push(at);
        }
        for name in names {
            let shown = grouping.read_shown(collection, name)?;
            grouping.shown.push(shown);
        }
        for part in order {
            let at = grouping.read_order(part)?;
            grouping.order.push((at, part.clone()));
        }
        Ok(Some(grouping))
    }

    fn add_field(&mut self, field: &Field) -> usize {
        let mut known = self.fields.iter();
        known
            .position(|known| known.name == field.name)
            .unwrap_or_else(|| {
                self.fields.push(field.clone());
                self.fields.len() - 1
            })
    }

    fn read_shown(&mut self, collection: &Collection, name: &str) -> Result<Shown> {
        if let Some(key) = self
            .keys
            .iter()
            .position(|at| self.fields[*at].name == name)
        {
            return Ok(Shown::Key(key));
        }
        let Some((operator, inside)) = parse(name) else {
            return Err(MilvusError::invalid(format!(
                "output field '{name}' is not allowed: beside aggregations only the fields of groups can be told"
            )));
        };
        let field = match inside {
            "*" if operator == Operator::Count => None,
            "*" => {
                return Err(MilvusError::invalid(format!(
                    "{}(*) is not supported, only count(*) is allowed",
                    operator.name()
                )));
            }
            inside => {
                let field = collection.field(inside).map_err(|_| {
                    MilvusError::invalid(format!(
                        "target field {inside} for aggregation:{} does not exist",
                        operator.name()
                    ))
                })?;
                operator.check(field)?;
                Some(self.add_field(field))
            }
        };
        self.aggregates.push(Aggregate {
            name: name.to_string(),
            operator,
            field,
        });
        Ok(Shown::Aggregate(self.aggregates.len() - 1))
    }

    fn read_order(&self, part: &OrderPart) -> Result<usize> {
        if parse(&part.name).is_some() {
            return Err(MilvusError::invalid(format!(
                "ORDER BY on aggregate expression '{}' is not yet supported",
                part.name
            )));
        }
        let names: Vec<&str> = self
            .keys
            .iter()
            .map(|at| self.fields[*at].name.as_str())
            .collect();
        let mut at = names.iter();
        at.position(|name| name.eq_ignore_ascii_case(&part.name)).ok_or_else(|| {
            MilvusError::invalid(format!(
                "ORDER BY field '{}' is not valid: when using GROUP BY or aggregates, ORDER BY can only reference GROUP BY columns. Valid targets are: [{}]",
                part.name,
                names.join(" ")
            ))
        })
    }

    /// Whether something is asked of groups, and not only which there are.
    pub(super) fn has_aggregates(&self) -> bool {
        !self.aggregates.is_empty()
    }

    /// Whether all rows are one group.
    pub(super) fn is_global(&self) -> bool {
        self.keys.is_empty()
    }

    /// Whether rows are counted, and not values.
    pub(super) fn counts_rows(&self) -> bool {
        self.aggregates.iter().any(|one| one.field.is_none())
    }

    /// As what the number of rows is told, where nothing else is asked for.
    pub(super) fn only_count(&self) -> Option<&str> {
        let [count] = self.aggregates.as_slice() else {
            return None;
        };
        let is_only = self.is_global() && count.field.is_none();
        is_only.then_some(count.name.as_str())
    }

    /// The fields whose texts have to be in the index.
    fn texts(&self) -> impl Iterator<Item = &Field> {
        self.fields
            .iter()
            .filter(|field| field.data_type == DataType::VarChar)
    }

    /// What has to be read of each row; its key is known already.
    fn wanted(&self) -> Vec<WantedField> {
        let fields = self.fields.iter().filter(|field| !field.is_primary);
        let wanted = fields.map(|field| match field.data_type {
            DataType::Json | DataType::Array | DataType::Geometry => {
                WantedField::Json(field.name.clone())
            }
            _ => WantedField::Typed(field.path().to_string()),
        });
        wanted.collect()
    }
}

impl Operator {
    /// The operator of a name.
    pub(super) fn named(name: &str) -> Option<Operator> {
        let mut rows = OPERATORS.iter();
        let row = rows.find(|row| row.0.eq_ignore_ascii_case(name));
        row.map(|row| row.1)
    }

    fn name(self) -> &'static str {
        let mut rows = OPERATORS.iter();
        rows.find(|row| row.1 == self).map_or("", |row| row.0)
    }

    /// Refuses a field whose values it is not for.
    pub(super) fn check(self, field: &Field) -> Result<()> {
        let data_type = field.data_type;
        let is_number = data_type.is_number();
        let fits = match self {
            Operator::Count => true,
            Operator::Sum | Operator::Avg => is_number,
            Operator::Min | Operator::Max => {
                is_number || matches!(data_type, DataType::VarChar | DataType::Timestamptz)
            }
        };
        if fits {
            return Ok(());
        }
        let name = self.name();
        Err(MilvusError::invalid(format!(
            "aggregation operator {name} does not support data type {}",
            data_type.name()
        )))
    }
}

/// The operator of an aggregation and what stands in its brackets, where a name is one.
fn parse(name: &str) -> Option<(Operator, &str)> {
    let (operator, rest) = name.split_once('(')?;
    let inside = rest.strip_suffix(')')?.trim();
    let operator = Operator::named(operator.trim_end())?;
    let is_word = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '*');
    inside.chars().all(is_word).then_some((operator, inside))
}

/// Refuses aggregations among what a search is to tell of its hits.
pub(super) fn check_fields_alone(names: &[String]) -> Result<()> {
    match names.iter().any(|name| parse(name.trim()).is_some()) {
        true => Err(MilvusError::invalid(
            "aggregates are not supported in search request",
        )),
        false => Ok(()),
    }
}

/// A field that groups are made by.
fn key_field<'c>(collection: &'c Collection, name: &str) -> Result<&'c Field> {
    let missing = |_| MilvusError::invalid(format!("field {name} not exist"));
    let field = collection.field(name).map_err(missing)?;
    let data_type = field.data_type;
    let has_keys =
        data_type.is_integer() || matches!(data_type, DataType::VarChar | DataType::Timestamptz);
    match has_keys && !field.is_part() {
        true => Ok(field),
        false => Err(MilvusError::invalid(format!(
            "group by field {name} has unsupported data type {}",
            data_type.name()
        ))),
    }
}

impl Service {
    /// The groups of the rows that match, and what was asked of each, of those that a window shows.
    pub(super) async fn aggregated(
        &self,
        opened: &Opened,
        (query, grouping): (&Query, &Grouping),
        window: (Option<usize>, usize),
        zone: &TimeZone,
    ) -> Result<Vec<FieldData>> {
        for field in grouping.texts() {
            self.check_all_terms(opened, &field.name).await?;
        }
        let pinned = self.engine().pin(std::slice::from_ref(&opened.handle))?;
        let wanted = grouping.wanted();
        let mut page = Page::first(query, PAGE_ROWS);
        let memory = self.limits().memory.open(MemoryPurpose::Searches);
        let mut groups = Groups::new(grouping, memory);
        loop {
            let hits = self.next_hits(&pinned, &mut page).await?;
            if hits.is_empty() {
                break;
            }
            let places: Vec<DocPlace> = hits.iter().map(|hit| hit.place).collect();
            let read = self.engine().columns(&pinned, &places, &wanted).await?;
            groups.add(&hits, read.fields)?;
        }
        groups.columns(window, zone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aggregations_are_told_from_names() {
        for (name, want) in [
            ("count(*)", Some((Operator::Count, "*"))),
            ("SUM ( price )", Some((Operator::Sum, "price"))),
            ("aVg(a_1)", Some((Operator::Avg, "a_1"))),
            ("count()", Some((Operator::Count, ""))),
            ("median(price)", None),
            ("max(price", None),
            ("min(j[\"a\"])", None),
            ("price", None),
        ] {
            assert_eq!(parse(name), want, "{name}");
        }
    }
}
