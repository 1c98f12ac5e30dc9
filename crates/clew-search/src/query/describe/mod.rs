//! Queries in few words, much as Lucene would write them.

mod interval;
mod span;

use std::fmt::{self, Write};

use clew_query::{
    Bool, FunctionKind, FunctionScore, IntervalScoring, LikeItem, MoreLikeThis, MultiMatch,
    MultiMatchKind, Query, Range, Related, TermsOf,
};
use clew_schema::geo::GeoArea;
use serde_json::Value;

use self::interval::write_rule;
use self::span::write_span;

/// A query in few words, much as Lucene would write it.
pub fn describe(query: &Query) -> String {
    describe_up_to(query, usize::MAX)
}

/// What all whole documents have, and no nested object.
pub(crate) const WHOLE_DOCUMENT: &str = "FieldExistsQuery [field=_primary_term]";

/// The same with the clause that OpenSearch adds where nested objects might be found, which leaves whole documents.
pub(crate) fn describe_among_documents(query: &Query) -> String {
    let mut whole = Beginning {
        text: "+".to_string(),
        bytes_max: usize::MAX,
    };
    let _ = write_part(&mut whole, query);
    whole.text + " #" + WHOLE_DOCUMENT
}

/// The beginning of it, so many bytes at most.
pub(crate) fn describe_up_to(query: &Query, bytes_max: usize) -> String {
    let mut beginning = Beginning {
        text: String::new(),
        bytes_max,
    };
    // It ends with an error where there is no more room.
    let _ = write_query(&mut beginning, query);
    beginning.text
}

/// A text that grows to a length.
struct Beginning {
    text: String,
    bytes_max: usize,
}

impl Write for Beginning {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let room = self.bytes_max.saturating_sub(self.text.len());
        if more.len() <= room {
            self.text.push_str(more);
            return Ok(());
        }
        self.text.push_str(&more[..more.floor_char_boundary(room)]);
        Err(fmt::Error)
    }
}

/// The same without what its own score is multiplied by.
pub(crate) fn describe_unboosted(query: &Query) -> String {
    let mut whole = Beginning {
        text: String::new(),
        bytes_max: usize::MAX,
    };
    let _ = write_unboosted(&mut whole, query);
    whole.text
}

fn write_query(out: &mut Beginning, query: &Query) -> fmt::Result {
    match boost_of(query) {
        None => write_unboosted(out, query),
        Some(boost) => {
            out.write_str("(")?;
            write_unboosted(out, query)?;
            write!(out, ")^{boost:?}")
        }
    }
}

/// What a query's score is multiplied by, where that is told and changes it.
fn boost_of(query: &Query) -> Option<f32> {
    let boost = match query {
        Query::Bool(clauses) => clauses.boost,
        Query::ConstantScore { boost, .. } => *boost,
        Query::Match(clause) => clause.boost,
        Query::MatchPhrase(phrase) => phrase.boost,
        Query::Term(term) => term.boost,
        _ => 1.0,
    };
    (boost.to_bits() != 1.0_f32.to_bits()).then_some(boost)
}

/// A query inside another one: clauses stand in parentheses of their own.
fn write_part(out: &mut Beginning, part: &Query) -> fmt::Result {
    let is_bare = match part {
        Query::Bool(clauses) => boost_of(part).is_none() && least_of(clauses).is_none(),
        _ => false,
    };
    if !is_bare {
        return write_query(out, part);
    }
    out.write_str("(")?;
    write_unboosted(out, part)?;
    out.write_str(")")
}

/// How many of the optional clauses must match, where that is asked.
fn least_of(clauses: &Bool) -> Option<usize> {
    let minimum = clauses.minimum_should_match.as_ref()?;
    Some(minimum.resolve(clauses.should.len())).filter(|least| *least > 0)
}

fn write_unboosted(out: &mut Beginning, query: &Query) -> fmt::Result {
    match query {
        Query::MatchAll { .. } => out.write_str("*:*"),
        Query::MatchNone => out.write_str("MatchNoDocsQuery(\"\")"),
        Query::Match(clause) => write_pair(out, &clause.field, &clause.text),
        Query::MatchPhrase(phrase) => {
            write!(out, "{}:\"", phrase.field)?;
            write_value(out, &phrase.text)?;
            out.write_str("\"")?;
            match phrase.slop {
                0 => Ok(()),
                slop => write!(out, "~{slop}"),
            }
        }
        Query::Term(term) => write_pair(out, &term.field, &term.value),
        Query::Terms { field, values, .. } => {
            write!(out, "{field}:(")?;
            write_all(out, " ", values, write_value)?;
            out.write_str(")")
        }
        Query::Exists { field, .. } => {
            write!(out, "ConstantScore(FieldExistsQuery [field={field}])")
        }
        Query::Ids { values, .. } => {
            out.write_str("_id:(")?;
            write_all(out, " ", values, |out, id| out.write_str(id))?;
            out.write_str(")")
        }
        Query::Range(range) => write_range(out, range),
        Query::Prefix(pattern) => write!(out, "{}:{}*", pattern.field, pattern.value),
        Query::Wildcard(pattern) => write!(out, "{}:{}", pattern.field, pattern.value),
        Query::Regexp(pattern) => write!(out, "{}:/{}/", pattern.field, pattern.value),
        Query::Fuzzy { field, value, .. } => write!(out, "{field}:{value}~"),
        Query::QueryString(query) => out.write_str(&query.query),
        Query::Named { query, .. } => write_query(out, query),
        Query::Lenient(query) => write_query(out, query),
        Query::Derived(scope) => write_query(out, &scope.query),
        Query::ConstantScore { filter, .. } => {
            out.write_str("ConstantScore(")?;
            write_query(out, filter)?;
            out.write_str(")")
        }
        Query::DisMax {
            queries,
            tie_breaker,
            ..
        } => {
            out.write_str("(")?;
            write_all(out, " | ", queries, write_part)?;
            out.write_str(")")?;
            match *tie_breaker > 0.0 {
                true => write!(out, "~{tie_breaker:?}"),
                false => Ok(()),
            }
        }
        Query::Bool(clauses) => match least_of(clauses) {
            None => write_clauses(out, clauses),
            Some(least) => {
                out.write_str("(")?;
                write_clauses(out, clauses)?;
                write!(out, ")~{least}")
            }
        },
        other => write_other(out, other),
    }
}

/// Queries that Lucene has no words for in its language.
fn write_other(out: &mut Beginning, query: &Query) -> fmt::Result {
    match query {
        Query::MatchPhrasePrefix(phrase) => {
            write!(out, "{}:\"", phrase.field)?;
            write_value(out, &phrase.text)?;
            out.write_str("*\"")
        }
        Query::MatchBoolPrefix(clause) => {
            write_pair(out, &clause.field, &clause.text)?;
            out.write_str("*")
        }
        Query::MultiMatch(multi) => write_multi(out, multi),
        Query::TermsOf(TermsOf {
            field,
            document,
            path,
            ..
        }) => write!(out, "{field}:({path} of _id:{})", document.id),
        Query::Boosting(boosting) => {
            out.write_str("FunctionScoreQuery(")?;
            write_query(out, &boosting.positive)?;
            out.write_str(", scored by boost(queryboost(score(")?;
            write_query(out, &boosting.negative)?;
            write!(out, "))^{:?}))", boosting.negative_boost)
        }
        Query::Intervals(intervals) => match intervals.scoring {
            IntervalScoring::Words => write_span(out, &intervals.field, &intervals.rule),
            IntervalScoring::Proximity => {
                write!(out, "{}:", intervals.field)?;
                write_rule(out, &intervals.rule)
            }
        },
        Query::Geo(geo) => {
            write!(out, "{}:", geo.field)?;
            write_area(out, &geo.area)
        }
        Query::FunctionScore(scored) => write_function_score(out, scored),
        Query::VectorScore(scored) => {
            out.write_str("script_score (")?;
            write_query(out, &scored.query)?;
            write!(out, ", script: distance of {})", scored.field)
        }
        Query::MoreLikeThis(like) => write_like(out, like),
        Query::Nested(nested) => write_around(out, "ToParentBlockJoinQuery (", &nested.query),
        Query::Related(related) => match &related.way {
            Related::Child { query, .. } | Related::Parent { query, .. } => {
                write!(out, "JoinQuery({}: ", related.kind)?;
                write_around(out, "", query)
            }
            Related::ParentId(id) => write!(out, "{}:{id}", related.kind),
        },
        Query::Predicate(predicate) => match &predicate.within {
            Some(within) => write_around(out, "PredicateQuery(", within),
            None => out.write_str("PredicateQuery(*:*)"),
        },
        leaf => write_other_leaf(out, leaf),
    }
}

fn write_other_leaf(out: &mut Beginning, query: &Query) -> fmt::Result {
    match query {
        Query::DistanceFeature(feature) => {
            write!(out, "DistanceFeatureQuery(field={},origin=", feature.field)?;
            write_value(out, &feature.origin)?;
            out.write_str(",pivot=")?;
            write_value(out, &feature.pivot)?;
            out.write_str(")")
        }
        Query::RankFeature(feature) => write!(out, "FeatureQuery(field={})", feature.field),
        Query::SparseVector(sparse) => {
            write!(out, "{}:(", sparse.field)?;
            write_all(out, " ", &sparse.tokens, |out, (token, weight)| {
                write!(out, "{token}^{weight:?}")
            })?;
            out.write_str(")")
        }
        Query::TermsSet(set) => {
            out.write_str("CoveringQuery(queries=[")?;
            write_all(out, ", ", &set.terms, |out, term| {
                write_pair(out, &set.field, term)
            })?;
            out.write_str("])")
        }
        Query::Knn(knn) => {
            write!(out, "KNNQuery:{}[", knn.field)?;
            if let Some(first) = knn.vector.first() {
                write!(out, "{first:?},...")?;
            }
            out.write_str("]")?;
            match knn.k {
                Some(k) => write!(out, "[{k}]"),
                None => Ok(()),
            }
        }
        Query::Percolate(percolate) => write!(out, "PercolateQuery(field={})", percolate.field),
        _ => out.write_str("query"),
    }
}

/// A query with a beginning before it and a parenthesis behind it.
fn write_around(out: &mut Beginning, before: &str, query: &Query) -> fmt::Result {
    out.write_str(before)?;
    write_query(out, query)?;
    out.write_str(")")
}

fn write_multi(out: &mut Beginning, multi: &MultiMatch) -> fmt::Result {
    let (before, after) = match multi.kind {
        MultiMatchKind::Phrase => ("\"", "\""),
        MultiMatchKind::PhrasePrefix => ("\"", "*\""),
        MultiMatchKind::BoolPrefix => ("", "*"),
        MultiMatchKind::BestFields | MultiMatchKind::MostFields | MultiMatchKind::CrossFields => {
            ("", "")
        }
    };
    // All fields that there are, where none is said.
    if multi.fields.is_empty() {
        return write_value(out, &multi.clause.text);
    }
    out.write_str("(")?;
    write_all(out, " | ", &multi.fields, |out, one| {
        write!(out, "{}:{before}", one.field)?;
        write_value(out, &multi.clause.text)?;
        out.write_str(after)?;
        match one.boost.to_bits() == 1.0_f32.to_bits() {
            true => Ok(()),
            false => write!(out, "^{:?}", one.boost),
        }
    })?;
    out.write_str(")")
}

fn write_like(out: &mut Beginning, like: &MoreLikeThis) -> fmt::Result {
    out.write_str(&like.fields.join(","))?;
    out.write_str(" like:[")?;
    write_all(out, ", ", &like.like, |out, one| match one {
        LikeItem::Text(text) => out.write_str(text),
        LikeItem::Named(_) | LikeItem::Document(_) => out.write_str("document"),
    })?;
    out.write_str("]")
}

fn write_function_score(out: &mut Beginning, scored: &FunctionScore) -> fmt::Result {
    out.write_str("function score (")?;
    write_query(out, &scored.query)?;
    out.write_str(", functions: [")?;
    write_all(out, ", ", &scored.functions, |out, function| {
        out.write_str("{")?;
        if let Some(filter) = &function.filter {
            write_around(out, "filter(", filter)?;
            out.write_str(", ")?;
        }
        out.write_str("function [")?;
        match &function.kind {
            FunctionKind::Constant => out.write_str("constant")?,
            FunctionKind::FieldValue { field, .. } => write!(out, "value of {field}")?,
            FunctionKind::Random { .. } => out.write_str("random")?,
            FunctionKind::Decay(decay) => write!(out, "decay of {}", decay.field)?,
            FunctionKind::Script(_) | FunctionKind::Test(_) => out.write_str("script")?,
        }
        if let Some(weight) = function.weight {
            write!(out, ", weight {weight:?}")?;
        }
        out.write_str("]}")
    })?;
    out.write_str("])")
}

/// Points and boxes as Lucene writes them, longer shapes by their kind.
fn write_area(out: &mut Beginning, area: &GeoArea) -> fmt::Result {
    match area {
        GeoArea::Circle { center, metres } => {
            write!(
                out,
                "{:?},{:?} +/- {metres:?} meters",
                center.lat, center.lon
            )
        }
        GeoArea::Rectangle {
            top,
            left,
            bottom,
            right,
        } => write!(out, "[{bottom:?} TO {top:?}],[{left:?} TO {right:?}]"),
        GeoArea::Point(point) => write!(out, "{:?},{:?}", point.lat, point.lon),
        GeoArea::Polygon { .. } => out.write_str("Polygon"),
        GeoArea::Line(_) => out.write_str("Line"),
        GeoArea::Union(areas) => {
            out.write_str("(")?;
            write_all(out, " ", areas, write_area)?;
            out.write_str(")")
        }
    }
}

/// The clauses in Lucene's order, each with the sign of its part.
fn write_clauses(out: &mut Beginning, clauses: &Bool) -> fmt::Result {
    let signed = [
        ("+", &clauses.must),
        ("-", &clauses.must_not),
        ("", &clauses.should),
        ("#", &clauses.filter),
    ];
    let parts = signed.into_iter();
    let parts = parts.flat_map(|(sign, part)| part.iter().map(move |one| (sign, one)));
    let parts: Vec<_> = parts.collect();
    write_all(out, " ", &parts, |out, (sign, part)| {
        out.write_str(sign)?;
        write_part(out, part)
    })
}

fn write_all<T>(
    out: &mut Beginning,
    between: &str,
    all: &[T],
    mut write: impl FnMut(&mut Beginning, &T) -> fmt::Result,
) -> fmt::Result {
    for (at, one) in all.iter().enumerate() {
        if at > 0 {
            out.write_str(between)?;
        }
        write(out, one)?;
    }
    Ok(())
}

fn write_pair(out: &mut Beginning, field: &str, value: &Value) -> fmt::Result {
    write!(out, "{field}:")?;
    write_value(out, value)
}

fn write_range(out: &mut Beginning, range: &Range) -> fmt::Result {
    write!(out, "{}:", range.field)?;
    let end = |out: &mut Beginning, (before, value, after): (&str, &Value, &str)| {
        out.write_str(before)?;
        write_value(out, value)?;
        out.write_str(after)
    };
    match (&range.gte, &range.gt) {
        (Some(low), _) => end(out, ("[", low, ""))?,
        (None, Some(low)) => end(out, ("{", low, ""))?,
        (None, None) => out.write_str("[*")?,
    }
    out.write_str(" TO ")?;
    match (&range.lte, &range.lt) {
        (Some(high), _) => end(out, ("", high, "]")),
        (None, Some(high)) => end(out, ("", high, "}")),
        (None, None) => out.write_str("*]"),
    }
}

fn write_value(out: &mut Beginning, value: &Value) -> fmt::Result {
    match value {
        Value::String(text) => out.write_str(text),
        // As a field of truths has them among its words.
        Value::Bool(truth) => out.write_str(if *truth { "T" } else { "F" }),
        other => write!(out, "{other}"),
    }
}

#[cfg(test)]
mod tests;
