//! The way through a query to its clauses that need vectors. It goes where the compiler goes, so that nothing is
//! searched for that no part of the query asks about.

use std::sync::Arc;

use clew_platform::book;
use clew_query::{
    FunctionScore, KnnQuery, Query, QueryError, QueryString, Script, SparseVector, VectorScore,
    unless_stopped,
};
use clew_schema::FieldKind;
use clew_vector::SparseEntry;

use super::{ClauseAnswer, ClauseHits, VectorAnswers, VectorStage};
use crate::query::compile::{
    CLAUSES_MAX, DEPTH_MAX, TOKENS_MAX, fields_with_values, has_relatives, is_none, measure_clause,
    measured_field, plan_nested, search_fields,
};
use crate::query::matching_within;
use crate::query::resolver::{SegmentHits, hits_bytes};
use crate::segments::SegmentBits;

/// Whether a measure may be less than nothing: scores may not, parts of them may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Negative {
    Refused,
    Allowed,
}

/// A walk through one query.
pub(super) struct Walk<'a> {
    stage: VectorStage<'a>,
    answers: &'a mut VectorAnswers,
    depth: usize,
    leaves: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(stage: VectorStage<'a>, answers: &'a mut VectorAnswers) -> Self {
        Walk {
            stage,
            answers,
            depth: 0,
            leaves: 0,
        }
    }

    /// Answers the clauses of a query over whole documents, or over the nested objects of a path.
    pub(super) fn query(&mut self, query: &Query, scope: Option<&str>) -> Result<(), QueryError> {
        unless_stopped()?;
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(QueryError::TooDeep { max: DEPTH_MAX });
        }
        let done = self.inside(query, scope);
        self.depth -= 1;
        done
    }

    fn inside(&mut self, query: &Query, scope: Option<&str>) -> Result<(), QueryError> {
        let mapping = &self.stage.snapshot.mapping;
        match query {
            Query::Knn(knn) => self.nearest(knn, scope),
            Query::VectorScore(scored) => self.scored(scored, scope, Negative::Refused),
            Query::SparseVector(sparse) => self.products(sparse, scope),
            Query::Exists { field, .. } => self.present(field),
            Query::QueryString(string) => self.query_string(string, scope),
            Query::FunctionScore(function) => self.function_score(function, scope),
            // What follows is not looked into by the compiler either.
            Query::Bool(clauses) if clauses.must.iter().chain(&clauses.filter).any(is_none) => {
                Ok(())
            }
            Query::Nested(nested) if mapping.is_nested(&nested.path) => {
                self.query(&nested.query, Some(&nested.path))
            }
            Query::Nested(_) => Ok(()),
            Query::Related(related) if scope.is_some() || !has_relatives(related, mapping) => {
                Ok(())
            }
            other => {
                let inner = other.children();
                if inner.is_empty() {
                    return self.leaf();
                }
                let mut inner = inner.into_iter();
                inner.try_for_each(|query| self.query(query, scope))
            }
        }
    }

    /// Filters of neighbours are compiled apart from what is around them: here all count together.
    fn leaf(&mut self) -> Result<(), QueryError> {
        self.leaves += 1;
        if self.leaves > CLAUSES_MAX {
            return Err(QueryError::TooManyClauses { max: CLAUSES_MAX });
        }
        Ok(())
    }

    fn nearest(&mut self, knn: &KnnQuery, scope: Option<&str>) -> Result<(), QueryError> {
        self.leaf()?;
        let snapshot = self.stage.snapshot;
        // The compiler says what is wrong with other fields.
        let field = snapshot.mapping.field(&knn.field);
        let is_vector = field.is_some_and(|field| matches!(field.kind, FieldKind::Vector(_)));
        if !is_vector || self.answers.nearest(knn, scope).is_some() {
            return Ok(());
        }
        let filter = match &knn.filter {
            Some(filter) => {
                self.query(filter, scope)?;
                Some(self.documents(filter, scope)?)
            }
            None => None,
        };
        let filter = filter.as_deref();
        let found = match scope {
            None => self.stage.knn.resolve(knn, filter)?,
            Some(path) => self.stage.nearest_objects(knn, path, filter)?,
        };
        self.answers.nearest.push(ClauseAnswer {
            clause: knn.clone(),
            scope: scope.map(str::to_string),
            hits: self.booked(found)?,
        });
        Ok(())
    }

    fn products(&mut self, sparse: &SparseVector, scope: Option<&str>) -> Result<(), QueryError> {
        self.leaf()?;
        let field = self.stage.snapshot.mapping.field(&sparse.field);
        // Other fields have postings, which the compiler reads.
        let Some(field) = field.filter(|field| field.kind == FieldKind::SparseVector) else {
            return Ok(());
        };
        if self.answers.products(sparse, scope).is_some() {
            return Ok(());
        }
        let wanted = entries_of(sparse)?;
        let found = self.stage.knn.products(field.id, &wanted)?;
        self.answers.products.push(ClauseAnswer {
            clause: sparse.clone(),
            scope: scope.map(str::to_string),
            hits: self.booked(found)?,
        });
        Ok(())
    }

    fn scored(
        &mut self,
        scored: &VectorScore,
        scope: Option<&str>,
        negative: Negative,
    ) -> Result<(), QueryError> {
        let snapshot = self.stage.snapshot;
        let field = measured_field(scored, &snapshot.mapping)?;
        self.query(&scored.query, scope)?;
        if self.answers.scored(scored, scope).is_some() {
            return Ok(());
        }
        let docs = self.documents(&scored.query, scope)?;
        let rows = docs.iter().map(|docs| docs.count() as usize);
        let mut found: Vec<_> = rows.map(SegmentHits::with_capacity).collect();
        book(hits_bytes(&found))?;
        let mut each = |segment: usize, doc, vector: &[f32]| {
            let measured = scored.measure.between(&scored.vector, vector);
            found[segment].push((doc, scored.formula.apply(measured)));
        };
        self.stage.knn.each_vector(field, &docs, &mut each)?;
        let mut all = found.iter().flatten();
        if negative == Negative::Refused
            && let Some((_, negative)) = all.find(|(_, score)| *score < 0.0)
        {
            return Err(QueryError::illegal(format!(
                "script_score script returned an invalid score [{negative:?}]. Must be a \
                 non-negative score!"
            )));
        }
        self.answers.scored.push(ClauseAnswer {
            clause: scored.clone(),
            scope: scope.map(str::to_string),
            hits: Arc::new(self.stage.by_segment(found)),
        });
        Ok(())
    }

    /// What a clause has found, which is kept until the search is over.
    fn booked(&self, found: Vec<SegmentHits>) -> Result<ClauseHits, QueryError> {
        book(hits_bytes(&found))?;
        Ok(Arc::new(self.stage.by_segment(found)))
    }

    /// The documents with a vector, where a clause asks which have a value.
    fn present(&mut self, path: &str) -> Result<(), QueryError> {
        self.leaf()?;
        for field in fields_with_values(path, &self.stage.snapshot.mapping)? {
            if field.kind.is_vector() && !self.answers.present.contains_key(&field.id) {
                let docs = self.stage.knn.vector_docs(field.id)?;
                let docs = self.stage.by_segment(docs);
                self.answers.present.insert(field.id, docs);
            }
        }
        Ok(())
    }

    /// Such a text may ask which documents have a value, and for nothing else here.
    fn query_string(
        &mut self,
        string: &QueryString,
        scope: Option<&str>,
    ) -> Result<(), QueryError> {
        let mapping = &self.stage.snapshot.mapping;
        let mut fields = mapping.fields().iter();
        if !fields.any(|field| field.kind.is_vector()) {
            return Ok(());
        }
        let fields = search_fields(&string.fields, mapping);
        let tree = crate::query::query_string_tree(string, &fields, mapping)?;
        self.query(&tree, scope)
    }

    fn function_score(
        &mut self,
        function: &FunctionScore,
        scope: Option<&str>,
    ) -> Result<(), QueryError> {
        self.query(&function.query, scope)?;
        let filters = function.functions.iter();
        let filters: Vec<&Query> = filters.filter_map(|one| one.filter.as_ref()).collect();
        let is_search = |query: &Query| {
            matches!(
                query,
                Query::Knn(_) | Query::VectorScore(_) | Query::SparseVector(_)
            )
        };
        let has_search = filters.iter().any(|filter| filter.all().any(is_search));
        // Functions are not asked where there is nothing that they could score.
        if has_search {
            let plan = plan_nested(&function.query, &self.stage.context(self.answers), scope)?;
            if plan.is_nothing() {
                return Ok(());
            }
        }
        let scripts = function
            .functions
            .iter()
            .filter_map(|one| one.kind.script());
        for measure in scripts.flat_map(Script::measures) {
            let clause = measure_clause(&function.query, measure);
            self.scored(&clause, scope, Negative::Allowed)?;
        }
        let mut filters = filters.into_iter();
        filters.try_for_each(|filter| self.query(filter, scope))
    }

    /// The rows that a query matches, whose own clauses are answered.
    fn documents(
        &self,
        query: &Query,
        scope: Option<&str>,
    ) -> Result<Vec<SegmentBits>, QueryError> {
        matching_within(&self.stage.context(self.answers), query, scope)
    }
}

/// What is wanted of a sparse vector, by dimension.
fn entries_of(sparse: &SparseVector) -> Result<Vec<SparseEntry>, QueryError> {
    if sparse.tokens.len() > TOKENS_MAX {
        return Err(QueryError::TooManyClauses { max: TOKENS_MAX });
    }
    let entry = |(token, weight): &(String, f32)| match token.parse() {
        Ok(dimension) => Ok(SparseEntry {
            dimension,
            weight: *weight,
        }),
        Err(_) => Err(QueryError::illegal(format!(
            "[neural_sparse] query on field [{}] of sparse vectors takes tokens that are whole numbers from 0 to {}, not [{token}]",
            sparse.field,
            u32::MAX
        ))),
    };
    let mut entries = sparse
        .tokens
        .iter()
        .map(entry)
        .collect::<Result<Vec<_>, _>>()?;
    entries.sort_unstable_by_key(|entry| entry.dimension);
    Ok(entries)
}
