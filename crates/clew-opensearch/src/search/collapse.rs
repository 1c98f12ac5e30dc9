//! `collapse`: the field that hits are collapsed by, and what is wanted of each group.

use axum::http::StatusCode;
use clew_engine::Collapse;
use clew_query::{Query, SortKey};
use serde_json::Value;

use super::inner::InnerSpec;
use super::request::Spec;
use crate::dsl::Field;
use crate::http::error::{ApiError, Cause};

/// What a `collapse` may say.
const FIELDS: &[&str] = &["field", "inner_hits", "max_concurrent_group_searches"];

/// A `collapse`.
#[derive(Clone, Debug)]
pub(super) struct CollapseSpec {
    pub(super) field: String,
    pub(super) inner: Vec<InnerSpec>,
}

impl CollapseSpec {
    /// Reads it; `query` is the search's own, whose words are highlighted in the groups too.
    pub(super) fn read(value: &Value, query: Option<&Query>) -> Result<Self, ApiError> {
        let (mut path, mut wishes) = (None, &[][..]);
        for field in Field::all("collapse", value)? {
            match (field.name, field.value) {
                ("field", _) => path = Some(field.text()?.to_string()),
                ("inner_hits", Value::Array(items)) => wishes = items,
                ("inner_hits", one @ Value::Object(_)) => wishes = std::slice::from_ref(one),
                ("inner_hits", _) => return Err(field.other_sort().into()),
                // Groups are searched as the search threads have time.
                ("max_concurrent_group_searches", _) => {
                    field.at_least(1, "maxConcurrentGroupRequests` must be positive")?;
                }
                _ => return Err(field.unknown(FIELDS).into()),
            }
        }
        let field = path.ok_or_else(|| ApiError::illegal_argument("Required [field]"))?;
        let group = |wish: &Value| {
            let group = InnerSpec::of_group(wish, (&field, query));
            group.map_err(|error| error.in_field("collapse", "inner_hits"))
        };
        let inner = wishes.iter().map(group).collect::<Result<Vec<_>, _>>()?;
        Ok(CollapseSpec { field, inner })
    }

    /// What the engine is asked for.
    pub(super) fn request(&self, output_inner: &[InnerSpec]) -> Collapse {
        let groups = output_inner.iter().filter(|spec| spec.is_group());
        Collapse {
            field: self.field.clone(),
            inner: groups.map(InnerSpec::request).collect(),
        }
    }
}

/// Refuses what does not go together with collapsed hits.
pub(super) fn check(spec: &Spec) -> Result<(), ApiError> {
    let Some(collapse) = &spec.collapse else {
        return Ok(());
    };
    let by_field = matches!(
        &spec.sort[..],
        [SortKey::Field { path, .. }] if *path == collapse.field
    );
    let wrong = if spec.control.scroll.is_some() {
        "cannot use `collapse` in a scroll context"
    } else if spec.goes_on() && !by_field {
        "cannot use `collapse` in conjunction with `search_after`"
    } else if !spec.control.rescore.is_empty() {
        "cannot use `collapse` in conjunction with `rescore`"
    } else {
        return Ok(());
    };
    Err(ApiError::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        Cause::new("search_exception", wrong),
    ))
}
