//! Searches for words: what Milvus calls a sparse vector that a function made, and is the text itself here.

use std::collections::HashMap;

use clew_engine::{
    DocPlace, FieldValues, GroupBy, GroupField, GroupKey, Pinned, SearchRequest as EngineSearch,
    WantedField,
};
use clew_query::{Match, Query};
use clew_search::TrackTotal;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Service;
use super::asked::Asked;
use super::search::{FOUND_BYTES, Found};
use crate::collection::{Collection, DataType, Field, RowAnalyzers, TEXT};
use crate::collections::WINDOW_MAX;
use crate::error::{MilvusError, Result};
use crate::proto::PlaceholderValue;

/// The texts that a search by what a function makes of texts is of.
///
/// # Errors
/// For vectors: those of the field are made of texts, and others mean nothing beside them.
pub(super) fn texts_of(function: &str, holder: PlaceholderValue) -> Result<Vec<String>> {
    if holder.r#type != DataType::VarChar.number() {
        return Err(MilvusError::invalid(format!(
            "please provide varchar/text for {function} Function based search, got {}",
            DataType::of(holder.r#type).map_or("unknown", DataType::name)
        )));
    }
    let texts = holder.values.into_iter().map(|bytes| {
        String::from_utf8(bytes.into())
            .map_err(|_| MilvusError::invalid("a text to search for is no UTF-8"))
    });
    texts.collect()
}

impl Service {
    /// What is found for each text, best first.
    pub(super) async fn by_words(
        &self,
        pinned: &Pinned,
        collection: &Collection,
        (asked, texts): (&Asked, &[String]),
    ) -> Result<Vec<Vec<Found>>> {
        let input = input_of(collection, asked)?;
        let range = asked.range()?;
        // Of groups, and within a range of scores, it is not known before how deep the window reaches.
        let is_deep = range.is_some() || asked.group.is_some();
        let (from, size) = match is_deep {
            true => (0, WINDOW_MAX),
            false => (asked.offset, asked.limit),
        };
        let field = collection.field(input)?;
        let several = RowAnalyzers::of(field)?;
        let analyzer = several.map(|several| several.chosen(field, asked.analyzer_name()));
        let mut all = Vec::with_capacity(texts.len());
        for text in texts {
            let words = Query::Match(Match {
                weighed: asked.words,
                analyzer: analyzer.clone(),
                ..Match::new(format!("{input}.{TEXT}"), text.clone())
            });
            let request = EngineSearch {
                from,
                size,
                track_total: TrackTotal::No,
                ..EngineSearch::new(
                    pinned.clone(),
                    crate::expr::scored_within(words, asked.filter.clone()),
                )
            };
            let found = self.found(request).await?;
            let told = found.hits.into_iter().map(|hit| Found {
                id: hit.id,
                place: hit.place,
                score: hit.score.unwrap_or_default(),
                group: None,
                element: None,
            });
            let mut told: Vec<Found> = told.collect();
            if let Some(range) = &range {
                // Scores are their own distances here, of which the greatest is the nearest.
                let is_near = |score: f32| range.from.is_none_or(|near| score <= near);
                told.retain(|one| one.score > range.below && is_near(one.score));
            }
            if let Some(group) = &asked.group {
                told = self.in_groups(pinned, group, told).await?;
                told = window_of_groups(told, group.size, (asked.limit, asked.offset));
            } else if is_deep {
                let window = told.into_iter().skip(asked.offset);
                told = window.take(asked.limit).collect();
            }
            self.hold(told.len() * FOUND_BYTES)?;
            all.push(told);
        }
        Ok(all)
    }

    /// What is found for the texts of rows, best first; nothing is like a row without a text.
    pub(super) async fn by_words_of(
        &self,
        pinned: &Pinned,
        collection: &Collection,
        (asked, ids): (&Asked, &[String]),
    ) -> Result<Vec<Vec<Found>>> {
        let places = self.places_of(pinned, (ids, &asked.within)).await?;
        let wanted = [WantedField::Json(input_of(collection, asked)?.to_string())];
        let read = self.engine().columns(pinned, &places, &wanted).await?;
        let Some(FieldValues::Json(rows)) = read.fields.into_iter().next() else {
            return Err(MilvusError::Internal("a column was not read".into()));
        };
        let text = |row: Option<Box<RawValue>>| {
            let json = row?;
            serde_json::from_str::<String>(json.get()).ok()
        };
        let rows: Vec<Option<String>> = rows.into_iter().map(text).collect();
        let have: Vec<bool> = rows.iter().map(Option::is_some).collect();
        let texts: Vec<String> = rows.into_iter().flatten().collect();
        let mut found = self
            .by_words(pinned, collection, (asked, &texts))
            .await?
            .into_iter();
        let mut of_row = |has: bool| has.then(|| found.next()).flatten().unwrap_or_default();
        Ok(have.into_iter().map(&mut of_row).collect())
    }

    /// Hits with what their groups have in common.
    async fn in_groups(
        &self,
        pinned: &Pinned,
        group: &GroupBy,
        mut found: Vec<Found>,
    ) -> Result<Vec<Found>> {
        let places: Vec<DocPlace> = found.iter().map(|one| one.place).collect();
        let wanted = group.fields.iter().map(|field| match field.inside {
            Some(_) => WantedField::Json(field.path.clone()),
            None => WantedField::Typed(field.path.clone()),
        });
        let wanted: Vec<WantedField> = wanted.collect();
        let read = self.engine().columns(pinned, &places, &wanted).await?;
        if read.fields.len() != wanted.len() {
            return Err(MilvusError::Internal("a column was not read".into()));
        }
        for (row, one) in found.iter_mut().enumerate() {
            let columns = group.fields.iter().zip(&read.fields);
            let keys = columns.map(|(field, column)| key_of(field, column, row));
            one.group = Some(GroupKey::of_fields(keys.collect::<Result<_>>()?));
        }
        Ok(found)
    }
}

/// The field whose words are searched.
fn input_of<'c>(collection: &'c Collection, asked: &Asked) -> Result<&'c str> {
    let function = collection.function_of(&asked.field.name);
    let input = function.and_then(|function| function.inputs.first());
    input.map(String::as_str).ok_or_else(|| {
        MilvusError::invalid(format!(
            "the field {} is filled by no function",
            asked.field.name
        ))
    })
}

/// What a row has in common with others by one field.
///
/// # Errors
/// For a value inside JSON that is not what it has to be.
fn key_of(field: &GroupField, column: &FieldValues, row: usize) -> Result<GroupKey> {
    let key = match (column, &field.inside) {
        (FieldValues::Json(values), Some(inside)) => {
            let json = values[row].as_ref();
            let member: Option<Value> = json.and_then(|json| serde_json::from_str(json.get()).ok());
            return Ok(inside.key(member.as_ref())?);
        }
        (FieldValues::Integers(values), _) => values[row].map(GroupKey::Integer),
        (FieldValues::Texts(values), _) => values[row].clone().map(GroupKey::Text),
        (
            FieldValues::Json(_)
            | FieldValues::Floats(_)
            | FieldValues::Vectors(_)
            | FieldValues::Sparse(_),
            _,
        ) => None,
    };
    Ok(key.unwrap_or_else(|| field.missing.clone()))
}

/// What rows from before a field have in common by it.
pub(super) fn default_key(field: &Field) -> GroupKey {
    match field.added_default() {
        Some(Value::String(text)) => GroupKey::Text(text.clone()),
        Some(Value::Bool(value)) => GroupKey::Integer(i64::from(*value)),
        Some(other) => other.as_i64().map_or(GroupKey::Missing, GroupKey::Integer),
        None => GroupKey::Missing,
    }
}

/// The best of each group, a group beside the other in the order of their best, and of the groups a window.
fn window_of_groups(found: Vec<Found>, size: usize, (limit, offset): (usize, usize)) -> Vec<Found> {
    let mut places: HashMap<Option<GroupKey>, usize> = HashMap::new();
    let mut groups: Vec<Vec<Found>> = Vec::new();
    for one in found {
        let at = *places.entry(one.group.clone()).or_insert(groups.len());
        if at == groups.len() {
            groups.push(Vec::new());
        }
        if groups[at].len() < size {
            groups[at].push(one);
        }
    }
    let shown = groups.into_iter().skip(offset).take(limit);
    shown.flatten().collect()
}
