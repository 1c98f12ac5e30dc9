//! Queries as a mapping has them: texts cut into the words that its analyzers make of them, and the language of search boxes
//! read. For whoever wants to see what a query means; searches compile it in ways of their own, and say what is wrong with it.

use std::convert::Infallible;

use clew_analysis::{is_analyzer, tokens};
use clew_query::{Bool, Match, MatchPhrase, MultiMatch, MultiMatchKind, Operator, Query};
use clew_schema::{FieldKind, Mapping, text_of};

use super::compile::{query_analyzer, search_fields};
use super::describe::{describe, describe_among_documents};
use super::objects::may_find_objects;
use super::query_string;

/// A query in few words, much as Lucene would write it, as it is under a mapping.
pub fn describe_in(query: &Query, mapping: &Mapping) -> String {
    let mut full = query.clone();
    // Outer queries come first: what one becomes is looked at next. What cannot be read stays as it was written.
    let spelled: Result<(), Infallible> = full.for_each_mut(&mut |one| {
        if let Some(spelled) = spelled_out(one, mapping) {
            *one = spelled;
        }
        Ok(())
    });
    spelled.unwrap_or_else(|never| match never {});
    match may_find_objects(query, mapping) {
        true => describe_among_documents(&full),
        false => describe(&full),
    }
}

/// What a query stands for under a mapping; `None` where it is that already.
fn spelled_out(query: &Query, mapping: &Mapping) -> Option<Query> {
    match query {
        Query::Match(clause) => words(clause, mapping),
        Query::MultiMatch(multi) => in_each_field(multi, mapping),
        Query::QueryString(string) => {
            let fields = search_fields(&string.fields, mapping);
            query_string::tree(string, &fields, mapping).ok()
        }
        _ => None,
    }
}

/// The words of a text in a field of texts. Those that may be written otherwise are left as they stand.
fn words(clause: &Match, mapping: &Mapping) -> Option<Query> {
    let field = mapping.field(&clause.field)?;
    let is_text = matches!(field.kind, FieldKind::Text { .. });
    let analyzer = query_analyzer(field, clause.analyzer.as_deref());
    if !is_text || clause.fuzziness.is_some() || !is_analyzer(analyzer) {
        return None;
    }
    let found = tokens(analyzer, &text_of(&clause.text)).into_iter();
    let word = |text: String| Query::term(clause.field.clone(), text);
    let mut words: Vec<Query> = found.map(|token| word(token.text)).collect();
    if words.len() < 2 {
        let mut only = words.pop().unwrap_or(Query::MatchNone);
        if let Query::Term(term) = &mut only {
            term.boost = clause.boost;
        }
        return Some(only);
    }
    let mut joined = Bool {
        boost: clause.boost,
        ..Bool::default()
    };
    match clause.operator {
        Operator::And => joined.must = words,
        Operator::Or => {
            joined.should = words;
            joined.minimum_should_match = clause.minimum_should_match.clone();
        }
    }
    Some(Query::Bool(joined))
}

/// A text in each of its fields, of which the best counts; `None` where its words may stand in several at once.
pub(crate) fn in_each_field(multi: &MultiMatch, mapping: &Mapping) -> Option<Query> {
    let fields = search_fields(&multi.fields, mapping).into_iter();
    let mut queries = Vec::new();
    for one in fields {
        let boost = one.boost * multi.clause.boost;
        queries.push(match multi.kind {
            MultiMatchKind::Phrase => Query::MatchPhrase(MatchPhrase {
                text: multi.clause.text.clone(),
                slop: multi.slop,
                boost,
                ..MatchPhrase::new(one.field, "")
            }),
            MultiMatchKind::BestFields | MultiMatchKind::MostFields => Query::Match(Match {
                field: one.field,
                boost,
                ..multi.clause.clone()
            }),
            // Words of these stand in several fields at once, or only begin.
            _ => return None,
        });
    }
    let tie_breaker = match multi.kind {
        MultiMatchKind::MostFields => 1.0,
        _ => multi.tie_breaker.unwrap_or(0.0),
    };
    if queries.len() < 2 {
        return queries.pop();
    }
    Some(Query::DisMax {
        queries,
        tie_breaker,
        boost: 1.0,
    })
}

#[cfg(test)]
mod tests {
    use clew_query::{FieldBoost, QueryString};
    use serde_json::json;

    use super::*;

    fn mapping() -> Mapping {
        clew_opensearch_mapping::mapping(json!({"properties": {
            "t": {"type": "text"}, "k": {"type": "keyword"}, "n": {"type": "long"},
        }}))
    }

    #[test]
    fn texts_are_told_by_their_words() {
        let mapping = mapping();
        let both = Match {
            operator: Operator::And,
            boost: 2.0,
            ..Match::new("t", "Red fox")
        };
        let fields = ["t^2", "k"].map(FieldBoost::parse).to_vec();
        let multi = MultiMatch {
            fields,
            clause: Match::new("", "Red fox"),
            kind: MultiMatchKind::BestFields,
            slop: 0,
            tie_breaker: None,
        };
        for (query, want) in [
            (Query::matches("t", "Red fox"), "t:red t:fox"),
            (Query::matches("k", "Red fox"), "k:Red fox"),
            (Query::Match(both), "(+t:red +t:fox)^2.0"),
            (Query::MultiMatch(multi), "((t:red t:fox)^2.0 | k:Red fox)"),
        ] {
            assert_eq!(describe_in(&query, &mapping), want);
        }
    }

    #[test]
    fn query_strings_are_read() {
        let fields = vec![FieldBoost::parse("t")];
        let mut string = QueryString::new("(Red OR fox) AND t:\"lazy dog\"~2 -k:x*");
        string.fields = fields;
        let query = Query::QueryString(string);
        let want = "+(t:red t:fox) +t:\"lazy dog\"~2 -k:x*";
        assert_eq!(describe_in(&query, &mapping()), want);
        // What cannot be read stays as it is.
        let broken = Query::QueryString(QueryString::new("(red"));
        assert_eq!(describe_in(&broken, &mapping()), "(red");
    }
}
