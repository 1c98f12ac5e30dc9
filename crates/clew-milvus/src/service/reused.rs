//! The name of a field that was dropped, for another one: what rows had by it is taken out of them first, as is what they had
//! beyond the fields before they may have that again. The index keeps what the name is there, so that the other field has to be of
//! the same kind.

use bytes::Bytes;
use clew_engine::{Action, EngineError, Purpose, UpdateSpec};
use clew_query::{Bool, Operand, PredicateQuery, Query, Test};
use clew_schema::Mapping;

use super::delete::DELETED_AT_ONCE;
use super::read::Page;
use super::{Call, Service};
use crate::collection::{DYNAMIC, Field, TEXT, field_parts, long_rows};
use crate::collections::Opened;
use crate::error::Result;

impl Service {
    /// Takes out of rows what they have by the name of a field that is to be added, where one of the name was dropped; says
    /// which of the field's paths the index has already. Nothing where no such field was dropped, or none of its kind.
    pub(super) async fn reuse_name(
        &self,
        call: &Call,
        (database, name): (&str, &str),
        field: &Field,
    ) -> Result<Option<Vec<String>>> {
        let opened = self.open(call, (database, name), Purpose::Read)?;
        if !opened.named.collection.dropped.contains(&field.name) {
            return Ok(None);
        }
        let mapping = opened.handle.mapping();
        if !fits(&mapping, field)? {
            return Ok(None);
        }
        let parts = field_parts(field)?.into_iter().map(|part| part.path);
        let known: Vec<String> = parts.filter(|path| mapping.field(path).is_some()).collect();
        let rows = rows_with(&field.name, !known.is_empty());
        self.take_out(call, (&opened, &field.name), &rows).await?;
        Ok(Some(known))
    }

    /// Takes out of rows what they have beyond the fields, where they had it once and may not have it now.
    pub(super) async fn forget_dynamic(&self, call: &Call, place: (&str, &str)) -> Result<()> {
        let opened = self.open(call, place, Purpose::Read)?;
        let collection = &opened.named.collection;
        if collection.dynamic || !collection.dropped.contains(DYNAMIC) {
            return Ok(());
        }
        // The documents are looked at: what is empty, or too long, no index knows of.
        let rows = Query::Predicate(Box::new(PredicateQuery {
            within: None,
            test: Test::Exists(Operand::Field {
                name: DYNAMIC.to_string(),
                steps: Vec::new(),
            }),
            boost: 1.0,
        }));
        self.take_out(call, (&opened, DYNAMIC), &rows).await
    }

    /// Makes a member of rows null.
    async fn take_out(
        &self,
        call: &Call,
        (opened, member): (&Opened, &str),
        rows: &Query,
    ) -> Result<()> {
        self.see_all_writes(opened).await?;
        let pinned = self.engine().pin(std::slice::from_ref(&opened.handle))?;
        let mut page = Page::first(rows, DELETED_AT_ONCE);
        loop {
            let hits = self.next_hits(&pinned, &mut page).await?;
            if hits.is_empty() {
                return Ok(());
            }
            let ids = hits.into_iter().map(|hit| hit.id).collect();
            self.make_null(call, (opened, member), ids).await?;
        }
    }

    /// Makes a member of documents null; durable when it returns.
    async fn make_null(
        &self,
        call: &Call,
        (opened, member): (&Opened, &str),
        ids: Vec<String>,
    ) -> Result<()> {
        // Names are letters, digits and underscores, or the dynamic field's: nothing to escape.
        let doc = Bytes::from(format!("{{\"{member}\":null}}"));
        let action = Action::Update(UpdateSpec {
            doc: Some(doc),
            ..UpdateSpec::default()
        });
        let rows = ids.into_iter().map(|id| (id, None)).collect();
        let outcome = self.change_rows(call, opened, action, rows).await?;
        for result in outcome.results {
            match result {
                // One that was deleted meanwhile has nothing.
                Ok(_) | Err(EngineError::DocumentMissing { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// The rows that may have a member: those that the index knows of, and those with texts that it does not have; all of them
/// where the member lies in the documents alone.
fn rows_with(name: &str, is_indexed: bool) -> Query {
    if !is_indexed {
        return Query::match_all();
    }
    let known = Query::Exists {
        field: name.to_string(),
        boost: 1.0,
    };
    Query::Bool(Bool {
        should: vec![known, long_rows()],
        ..Bool::default()
    })
}

/// Whether an index holds by a field's name what the field is, or nothing.
fn fits(mapping: &Mapping, field: &Field) -> Result<bool> {
    let inside = format!("{}.", field.name);
    let words = format!("{inside}{TEXT}");
    let mut fields = mapping.fields().iter();
    let is_object = fields.any(|known| known.path.starts_with(&inside) && known.path != words);
    if is_object || field.data_type.is_vector() {
        return Ok(false);
    }
    let parts = field_parts(field)?;
    if parts.is_empty() {
        return Ok(mapping.field(&field.name).is_none());
    }
    let mut parts = parts.iter();
    Ok(parts.all(|part| {
        let known = mapping.field(&part.path);
        known.is_none_or(|known| known.kind == part.kind && known.settings.choice.is_none())
    }))
}
