//! Queries made of queries.

use clew_query::{Bool, Boosting, MinimumShouldMatch, Query, QueryError};
use tantivy::query::{BooleanQuery, DisjunctionMaxQuery, Occur, Query as TantivyQuery};

use super::{Compiler, Node, rescored};
use crate::query::leaf::Demoted;
use crate::query::steady::Steady;
use crate::ranked::{Filter, Ranked, Shape};

impl Compiler<'_> {
    pub(super) fn bool(&mut self, clauses: &Bool, factor: f32) -> Result<Node, QueryError> {
        // What cannot match is not looked into any further: a wrong value beside it is no error.
        if clauses.must.iter().chain(&clauses.filter).any(is_none) {
            return Ok(Node::nothing());
        }
        let factor = factor * clauses.boost;
        let [must, should, filter, must_not] = self.parts(clauses, factor)?;
        if must.is_empty() && should.is_empty() && filter.is_empty() && must_not.is_empty() {
            return Ok(self.everything(factor));
        }
        let only_excludes = must.is_empty() && should.is_empty() && filter.is_empty();
        let minimum = match &clauses.minimum_should_match {
            // What only excludes is about everything else, whatever number is given.
            Some(_) if only_excludes => 0,
            Some(minimum) => minimum.resolve(should.len()),
            None => 0,
        };
        // Where nothing else must match, one of the optional clauses must.
        let least = usize::from(must.is_empty() && filter.is_empty() && !should.is_empty());
        let minimum = minimum.max(least);
        if minimum > should.len() {
            return Ok(Node::nothing());
        }
        if must.is_empty() && filter.is_empty() && must_not.is_empty() {
            return Ok(any(should, minimum.max(1)));
        }
        let ranked = self.ranked_within(clauses, (&must, &should), minimum);
        Ok(Node {
            ranked,
            ..self.joined(Joined {
                must,
                should,
                filter,
                must_not,
                minimum,
            })
        })
    }

    /// What must match, what may, what filters and what excludes.
    fn parts(&mut self, clauses: &Bool, factor: f32) -> Result<[Vec<Node>; 4], QueryError> {
        let beside = self.stand_beside(clauses);
        let parts = [
            (&clauses.must, factor),
            (&clauses.should, factor),
            (&clauses.filter, 1.0),
            (&clauses.must_not, 1.0),
        ];
        let parts = parts.map(|(queries, factor)| self.nodes(queries, factor));
        self.beside.truncate(beside);
        let [must, should, filter, must_not] = parts;
        Ok([must?, should?, filter?, must_not?])
    }

    fn joined(&self, clauses: Joined) -> Node {
        let Joined {
            must,
            should,
            filter,
            must_not,
            minimum,
        } = clauses;
        if must.iter().chain(&filter).any(Node::is_nothing) {
            return Node::nothing();
        }
        let scoreless = must.is_empty() && should.is_empty();
        let one_constant = match (&must[..], should.is_empty()) {
            ([only], true) => only.constant,
            _ => scoreless.then_some(0.0),
        };
        // A lone positive clause keeps its count when nothing is excluded.
        let count = match (&must[..], &filter[..]) {
            ([only], []) | ([], [only]) if must_not.is_empty() && minimum == 0 => {
                (only.at_least, only.exact)
            }
            _ => (0, false),
        };
        let mut parts: Vec<(Occur, Box<dyn TantivyQuery>)> = Vec::new();
        let needs_all = must.is_empty() && filter.is_empty() && minimum == 0;
        if needs_all {
            parts.push((Occur::Must, self.everything(0.0).query));
        }
        parts.extend(must.into_iter().map(|node| (Occur::Must, node.query)));
        parts.extend(
            filter
                .into_iter()
                .map(|node| (Occur::Must, rescored(node, 0.0).query)),
        );
        parts.extend(
            should
                .into_iter()
                .filter(|node| minimum > 1 || !node.is_nothing())
                .map(|node| (Occur::Should, node.query)),
        );
        parts.extend(
            must_not
                .into_iter()
                .filter(|node| !node.is_nothing())
                .map(|node| (Occur::MustNot, excluded(node))),
        );
        if minimum > 0 && !parts.iter().any(|(occur, _)| *occur == Occur::Should) {
            return Node::nothing();
        }
        Node {
            query: Box::new(BooleanQuery::with_minimum_required_clauses(parts, minimum)),
            at_least: count.0,
            exact: count.1,
            constant: one_constant,
            ranked: None,
            set: None,
        }
    }

    pub(super) fn boosting(
        &mut self,
        boosting: &Boosting,
        factor: f32,
    ) -> Result<Node, QueryError> {
        let positive = self.node(&boosting.positive, factor * boosting.boost)?;
        let negative = self.node(&boosting.negative, 1.0)?;
        if positive.is_nothing() || negative.is_nothing() {
            return Ok(positive);
        }
        Ok(Node {
            query: Box::new(Demoted {
                positive: positive.query,
                negative: negative.query,
                factor: boosting.negative_boost,
            }),
            constant: None,
            ranked: None,
            set: None,
            ..positive
        })
    }
}

/// Whether a query says by itself that nothing matches.
pub(crate) fn is_none(query: &Query) -> bool {
    match query {
        Query::MatchNone => true,
        Query::Terms { values, .. } => values.is_empty(),
        Query::Ids { values, .. } => values.is_empty(),
        Query::ConstantScore { filter, .. } => is_none(filter),
        Query::Bool(clauses) => clauses.must.iter().chain(&clauses.filter).any(is_none),
        _ => false,
    }
}

impl Compiler<'_> {
    /// The positive clauses as ranking reads them, among the documents that filters leave.
    fn ranked_within(
        &self,
        clauses: &Bool,
        (must, should): (&[Node], &[Node]),
        minimum: usize,
    ) -> Option<Ranked> {
        if self.scope.is_some() || !self.ranks {
            return None;
        }
        // What filters leave is kept by what they say, and scripts are not said there.
        let mut filters = clauses.filter.iter().chain(&clauses.must_not);
        if filters.any(|query| self.touches_derived(query)) {
            return None;
        }
        let shape = match (must, should, minimum) {
            ([only], [], 0) => only.ranked.clone(),
            (several, [], 0) => all_ranked(several),
            ([], several, 1) => any_ranked(several),
            _ => None,
        }?;
        let filters =
            |queries: &[Query]| queries.iter().map(Filter::of).collect::<Option<Vec<_>>>();
        let mut ranked = shape;
        ranked.within.extend(filters(&clauses.filter)?);
        ranked.without.extend(filters(&clauses.must_not)?);
        Some(ranked)
    }
}

/// Any of some words, when the nodes are nothing else.
fn any_ranked(nodes: &[Node]) -> Option<Ranked> {
    if let [only] = nodes {
        return only.ranked.clone();
    }
    let mut all = Vec::new();
    for node in nodes.iter().filter(|node| !node.is_nothing()) {
        all.extend(node.ranked.as_ref()?.any_words()?.iter().cloned());
    }
    (!all.is_empty()).then(|| Ranked::new(Shape::Any(all)))
}

/// All of some words, when the nodes are nothing else.
fn all_ranked(nodes: &[Node]) -> Option<Ranked> {
    let mut all = Vec::new();
    for node in nodes {
        match node.ranked.as_ref()?.any_words()? {
            [word] => all.push(word.clone()),
            _ => return None,
        }
    }
    (all.len() > 1).then(|| Ranked::new(Shape::All(all)))
}

/// What excludes: it may be asked for documents that it has gone past, which not all know by the short cut.
fn excluded(node: Node) -> Box<dyn TantivyQuery> {
    Box::new(Steady(node.query))
}

struct Joined {
    must: Vec<Node>,
    should: Vec<Node>,
    filter: Vec<Node>,
    must_not: Vec<Node>,
    minimum: usize,
}

/// At least `minimum` of the nodes; their scores are added.
pub(super) fn any(nodes: Vec<Node>, minimum: usize) -> Node {
    if minimum > nodes.len() {
        return Node::nothing();
    }
    let nodes: Vec<Node> = nodes
        .into_iter()
        .filter(|node| !node.is_nothing())
        .collect();
    if minimum > nodes.len() {
        return Node::nothing();
    }
    let at_least = if minimum <= 1 {
        nodes.iter().map(|node| node.at_least).max().unwrap_or(0)
    } else {
        0
    };
    let exact = nodes.len() == 1 && nodes[0].exact;
    let constant = if nodes.len() == 1 {
        nodes[0].constant
    } else {
        None
    };
    let set = match &nodes[..] {
        [only] => only.set.clone(),
        _ => None,
    };
    let ranked = if minimum <= 1 {
        any_ranked(&nodes)
    } else {
        None
    };
    // With a required count of one tantivy turns a lone clause into a conjunction, which it does
    // not prune; without clauses that must match, zero means one anyway.
    let required = if minimum <= 1 { 0 } else { minimum };
    let parts = nodes
        .into_iter()
        .map(|node| (Occur::Should, node.query))
        .collect();
    Node {
        query: Box::new(BooleanQuery::with_minimum_required_clauses(parts, required)),
        at_least,
        exact,
        constant,
        ranked,
        set,
    }
}

/// All of the nodes; their scores are added.
pub(super) fn all(nodes: Vec<Node>) -> Node {
    if nodes.iter().any(Node::is_nothing) {
        return Node::nothing();
    }
    if nodes.len() < 2 {
        return any(nodes, 1);
    }
    let ranked = all_ranked(&nodes);
    let parts = nodes
        .into_iter()
        .map(|node| (Occur::Must, node.query))
        .collect();
    Node {
        query: Box::new(BooleanQuery::with_minimum_required_clauses(parts, 0)),
        at_least: 0,
        exact: false,
        constant: None,
        ranked,
        set: None,
    }
}

/// Refuses a share of the other scores that is none.
pub(super) fn check_tie_breaker(tie_breaker: f32) -> Result<(), QueryError> {
    if (0.0..=1.0).contains(&tie_breaker) {
        return Ok(());
    }
    let reason = "tieBreakerMultiplier must be in [0, 1]";
    Err(QueryError::create(reason))
}

/// Any of the nodes; the best score counts.
pub(super) fn dis_max(nodes: Vec<Node>, tie_breaker: f32) -> Node {
    let mut nodes: Vec<Node> = nodes
        .into_iter()
        .filter(|node| !node.is_nothing())
        .collect();
    match nodes.len() {
        0 => return Node::nothing(),
        1 => return nodes.remove(0),
        _ => {}
    }
    Node {
        at_least: nodes.iter().map(|node| node.at_least).max().unwrap_or(0),
        exact: false,
        constant: None,
        ranked: None,
        set: None,
        query: Box::new(DisjunctionMaxQuery::with_tie_breaker(
            nodes.into_iter().map(|node| node.query).collect(),
            tie_breaker,
        )),
    }
}

/// How many of `clauses` must match under an operator's default or an explicit minimum.
pub(super) fn required(minimum: Option<&MinimumShouldMatch>, clauses: usize) -> usize {
    minimum.map_or(1, |minimum| minimum.resolve(clauses).max(1))
}
