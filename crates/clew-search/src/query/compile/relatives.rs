//! Queries on documents through those that they belong to, under a mapping with a `join` field.

use clew_query::{Bool, JoinScore, Query, QueryError, Related, RelatedQuery, Term};
use clew_schema::{JoinRelations, Mapping};
use tantivy::query::EnableScoring;

use super::{Compiler, Node};
use crate::query::leaf::ScoredDocs;
use crate::query::relatives::{JoinRelation, score_of};

impl Compiler<'_> {
    pub(super) fn related(
        &mut self,
        related: &RelatedQuery,
        factor: f32,
    ) -> Result<Node, QueryError> {
        let snapshot = self.context.snapshot;
        let name = related.name();
        let Some((join, relations)) = snapshot.mapping.join() else {
            return unmapped(related, || match &related.way {
                Related::ParentId(_) => format!("[{name}] no join field found"),
                _ => format!("[{name}] no join field has been configured"),
            });
        };
        let Some(sides) = Sides::of(related, relations) else {
            let kind = &related.kind;
            let path = &join.path;
            return unmapped(related, || match &related.way {
                Related::ParentId(_) => format!("[{name}] no relation found for child [{kind}]"),
                Related::Child { .. } => {
                    format!("[{name}] join field [{path}] doesn't hold [{kind}] as a child")
                }
                Related::Parent { .. } => {
                    format!("[{name}] join field [{path}] doesn't hold [{kind}] as a parent")
                }
            });
        };
        // Objects have no relatives, and documents in a segment of before have none either.
        let Some(relation) = JoinRelation::of(&snapshot.mapping, sides.parent) else {
            return Ok(Node::nothing());
        };
        if self.scope.is_some() {
            return Ok(Node::nothing());
        }
        let kind = Query::term(join.path.as_str(), related.kind.as_str());
        match &related.way {
            Related::ParentId(id) => {
                let id = Query::Term(Term {
                    field: relation.ids.path.clone(),
                    value: id.as_str().into(),
                    case_insensitive: false,
                    boost: related.boost,
                });
                self.node(&both(id, kind), factor)
            }
            Related::Child { query, score, .. } | Related::Parent { query, score } => {
                let node = self.node(&only((**query).clone(), kind), 1.0)?;
                if node.is_nothing() {
                    return Ok(node);
                }
                self.by_kin(related, (relation, &sides), (&node, *score), factor)
            }
        }
    }

    fn by_kin(
        &self,
        related: &RelatedQuery,
        (relation, sides): (JoinRelation<'_>, &Sides<'_>),
        (node, score): (&Node, JoinScore),
        factor: f32,
    ) -> Result<Node, QueryError> {
        let snapshot = self.context.snapshot;
        let has_scores = score != JoinScore::None;
        // Leaves bring their own statistics; the searcher is only there for its schema.
        let scoring = if has_scores {
            EnableScoring::enabled_from_searcher(snapshot.stub())
        } else {
            EnableScoring::disabled_from_searcher(snapshot.stub())
        };
        let weight = node.query.weight(scoring)?;
        let (found, _memory) = relation.gather(snapshot, &*weight, has_scores)?;
        let counts = match &related.way {
            Related::Child { min, max, .. } => (*min, *max),
            _ => (1, u32::MAX),
        };
        let hits = relation.scatter(snapshot, &sides.shown, &found, |joined| {
            score_of(score, joined, counts)
        })?;
        let at_least: usize = hits.iter().map(Vec::len).sum();
        let ids = snapshot.readers.iter().map(|reader| reader.segment_id());
        let docs = ScoredDocs::found(ids.zip(hits).collect())?;
        let boost = factor * related.boost;
        Ok(Node {
            at_least: at_least as u64,
            exact: true,
            constant: (!has_scores).then_some(boost),
            ..Node::scored(Box::new(docs), boost)
        })
    }
}

/// Whether documents can have relatives of the kind at all.
pub(crate) fn has_relatives(related: &RelatedQuery, mapping: &Mapping) -> bool {
    let relations = mapping.join().map(|(_, relations)| relations);
    let sides = relations.and_then(|relations| Sides::of(related, relations));
    sides.is_some_and(|sides| JoinRelation::of(mapping, sides.parent).is_some())
}

/// Who is asked about, and who is found.
struct Sides<'a> {
    /// The kind of parents that the relation is named by.
    parent: &'a str,
    /// The kinds of documents that come out.
    shown: Vec<&'a str>,
}

impl<'a> Sides<'a> {
    fn of(related: &'a RelatedQuery, relations: &'a JoinRelations) -> Option<Self> {
        let kind = related.kind.as_str();
        match &related.way {
            Related::Parent { .. } => {
                let children = relations.children_of(kind)?;
                Some(Sides {
                    parent: kind,
                    shown: children.iter().map(String::as_str).collect(),
                })
            }
            Related::Child { .. } | Related::ParentId(_) => {
                let parent = relations.parent_of(kind)?;
                Some(Sides {
                    parent,
                    shown: vec![parent],
                })
            }
        }
    }
}

fn unmapped(related: &RelatedQuery, reason: impl FnOnce() -> String) -> Result<Node, QueryError> {
    if related.ignore_unmapped {
        return Ok(Node::nothing());
    }
    Err(QueryError::unmapped(reason()))
}

/// The documents of one kind among those that match. Functions are not asked about others, which
/// may lack the fields that they read.
fn only(query: Query, kind: Query) -> Query {
    match query {
        Query::FunctionScore(mut function) => {
            let inner = std::mem::replace(&mut *function.query, Query::MatchNone);
            *function.query = both(inner, kind);
            Query::FunctionScore(function)
        }
        query => both(query, kind),
    }
}

fn both(scored: Query, filter: Query) -> Query {
    Query::Bool(Bool {
        must: vec![scored],
        filter: vec![filter],
        ..Bool::default()
    })
}
