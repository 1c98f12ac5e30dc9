//! Queries on derived fields, under a shard's segments.

use clew_query::{Bool, DerivedScope, Query, QueryError, Term};
use clew_schema::{DerivedField, DerivedKind, FieldKind};

use super::{Compiler, Node};
use crate::query::derived::{DerivedPath, matching_values};
use crate::query::leaf::ScoredDocs;
use crate::query::literal::text_of;
use crate::query::matching::matching_within;
use crate::segments::SegmentBits;

impl Compiler<'_> {
    /// A query in which names stand for derived fields.
    pub(super) fn within_derived(
        &mut self,
        scope: &DerivedScope,
        factor: f32,
    ) -> Result<Node, QueryError> {
        self.derived.push(scope.fields.clone());
        let node = self.node(&scope.query, factor);
        self.derived.pop();
        node
    }

    /// The derived field that a path names; fields that documents are indexed with go before.
    fn derived_field(&self, path: &str) -> Option<&DerivedField> {
        let mapping = &self.context.snapshot.mapping;
        if mapping.field(path).is_some() {
            return None;
        }
        let mut around = self.derived.iter().rev();
        let around = around.find_map(|fields| DerivedField::named(fields, path));
        around.or_else(|| DerivedField::named(mapping.derived(), path))
    }

    fn knows_derived(&self) -> bool {
        !self.derived.is_empty() || !self.context.snapshot.mapping.derived().is_empty()
    }

    /// Whether a part of a query may be on a derived field.
    pub(super) fn touches_derived(&self, query: &Query) -> bool {
        self.knows_derived()
            && query.all().any(|one| match one {
                Query::QueryString(_) | Query::MultiMatch(_) | Query::Derived(_) => true,
                leaf => path_of(leaf).is_some_and(|path| self.derived_field(path).is_some()),
            })
    }

    /// Notes what must hold beside the clauses of a `bool` that are on derived fields, whose scripts need not look at
    /// other documents; how much was noted before. What was noted is searched once more for each such clause.
    pub(super) fn stand_beside(&mut self, clauses: &Bool) -> usize {
        let before = self.beside.len();
        let all = [
            &clauses.must,
            &clauses.filter,
            &clauses.should,
            &clauses.must_not,
        ];
        let mut all = all.into_iter().flatten();
        if !self.knows_derived() || !all.any(|query| self.touches_derived(query)) {
            return before;
        }
        let is_plain = |query: &&Query| {
            let searches = |one: &Query| matches!(one, Query::Knn(_) | Query::VectorScore(_));
            !self.touches_derived(query) && !query.all().any(searches)
        };
        let required = clauses.must.iter().chain(&clauses.filter);
        let mut plain: Vec<Query> = required.filter(is_plain).cloned().collect();
        let excluded = clauses.must_not.iter().filter(is_plain).cloned();
        let excluded: Vec<Query> = excluded.collect();
        if !excluded.is_empty() {
            plain.push(Query::Bool(Bool {
                must_not: excluded,
                ..Bool::default()
            }));
        }
        self.beside.extend(plain);
        before
    }

    /// A query on a derived field; `None` where it is on none.
    pub(super) fn on_derived(
        &self,
        query: &Query,
        factor: f32,
    ) -> Result<Option<Node>, QueryError> {
        let Some(path) = path_of(query).filter(|_| self.knows_derived()) else {
            return Ok(None);
        };
        let Some(field) = self.derived_field(path) else {
            return Ok(None);
        };
        if let Query::Exists { .. } = query {
            let mapping = &self.context.snapshot.mapping;
            // What a request brings is not looked up among the fields that there may be.
            return match mapping.derived().iter().any(|field| field.path == path) {
                true => Err(QueryError::create(format!(
                    "Field [{path}] of type [derived] does not support exist queries"
                ))),
                false => Ok(Some(Node::nothing())),
            };
        }
        if let Some(reason) = refusal(query, path) {
            return Err(QueryError::create(reason));
        }
        // Nested objects have none.
        if self.scope.is_some() {
            return Ok(Some(Node::nothing()));
        }
        let derived = DerivedPath::new(field, path)?;
        self.check_derived(&derived)?;
        let prefilter = self.prefilter(&derived, query)?;
        // As in a conjunction of filters.
        let score = match prefilter {
            Some(_) => 0.0,
            None => boost_of(query) * factor,
        };
        let among = self.candidates(prefilter)?;
        let context = (self.context.snapshot, self.context.now_ms);
        let found = matching_values(&derived, query, context, &among)?;
        let docs = ScoredDocs::found(found)?;
        Ok(Some(Node {
            constant: Some(score),
            ..Node::scored(Box::new(docs), score)
        }))
    }

    fn check_derived(&self, derived: &DerivedPath) -> Result<(), QueryError> {
        if derived.is_object() {
            return Err(QueryError::illegal(
                "Cannot create IndexableField to execute queries on object derived field",
            ));
        }
        let snapshot = self.context.snapshot;
        match snapshot.mapping.is_source_enabled() {
            true => Ok(()),
            false => Err(QueryError::illegal(format!(
                "DerivedFieldQuery error: unable to fetch fields from _source field: _source is \
                 disabled in the mappings for index [{}]",
                snapshot.index_name().unwrap_or_default()
            ))),
        }
    }

    /// What the text beside a field must match before its script is run.
    fn prefilter(&self, derived: &DerivedPath, query: &Query) -> Result<Option<Query>, QueryError> {
        let path = derived.field().prefilter_field.as_deref();
        let Some(path) = path.filter(|path| !path.is_empty()) else {
            return Ok(None);
        };
        let Some(mapped) = self.context.snapshot.mapping.field(path) else {
            return Err(QueryError::illegal(format!(
                "prefilter_field[{path}] is not defined in the index mappings"
            )));
        };
        let FieldKind::Text { .. } = &mapped.kind else {
            return Err(QueryError::illegal(format!(
                "prefilter_field[{path}] should be of type text. Type found [{}].",
                mapped.kind.type_name()
            )));
        };
        let has_words = derived.kind().is_none_or(|kind| kind == DerivedKind::Text);
        Ok(on_text(query, path, has_words))
    }

    /// The documents that scripts must look at, in each segment.
    fn candidates(&self, prefilter: Option<Query>) -> Result<Vec<SegmentBits>, QueryError> {
        let mut filter = self.beside.clone();
        filter.extend(prefilter);
        if filter.is_empty() {
            let readers = self.context.snapshot.readers.iter();
            return Ok(readers.map(SegmentBits::alive).collect());
        }
        let within = Query::Bool(Bool {
            filter,
            ..Bool::default()
        });
        matching_within(&self.context, &within, None)
    }
}

/// The path of the field that a query is on, as far as it may be a derived one.
fn path_of(query: &Query) -> Option<&str> {
    match query {
        Query::Geo(geo) => Some(&geo.field),
        Query::Intervals(intervals) => Some(&intervals.field),
        Query::DistanceFeature(feature) => Some(&feature.field),
        leaf => leaf.on_field().map(|query| query.field()),
    }
}

/// Why a query cannot be asked of a derived field.
fn refusal(query: &Query, path: &str) -> Option<String> {
    match query {
        Query::Intervals(_) => Some(format!(
            "Can only use interval queries on text fields - not on [{path}] which is of type \
             [derived]"
        )),
        Query::DistanceFeature(_) => Some(format!(
            "Field [{path}] of type [derived] does not support distance_feature queries"
        )),
        Query::TermsSet(_) => Some(format!(
            "Field [{path}] of type [derived] does not support terms_set queries"
        )),
        _ => None,
    }
}

fn boost_of(query: &Query) -> f32 {
    match query {
        Query::Geo(geo) => geo.boost,
        leaf => leaf.on_field().map_or(1.0, |query| query.boost()),
    }
}

/// What a query on derived values asks of the text that they come from; `has_words` says that they are words as well.
/// Ranges and places ask nothing of it.
fn on_text(query: &Query, path: &str, has_words: bool) -> Option<Query> {
    let mut moved = match query {
        // An exact value is one word of the text.
        Query::Match(clause) if !has_words => Query::Term(Term {
            field: String::new(),
            value: text_of(&clause.text).into(),
            case_insensitive: false,
            boost: clause.boost,
        }),
        other => other.clone(),
    };
    let field = match &mut moved {
        Query::Match(clause) | Query::MatchBoolPrefix(clause) => &mut clause.field,
        Query::MatchPhrase(phrase) | Query::MatchPhrasePrefix(phrase) => &mut phrase.field,
        Query::Term(term) => &mut term.field,
        Query::Terms { field, .. } | Query::Fuzzy { field, .. } => field,
        Query::Prefix(pattern) | Query::Wildcard(pattern) | Query::Regexp(pattern) => {
            &mut pattern.field
        }
        _ => return None,
    };
    *field = path.to_string();
    Some(moved)
}
