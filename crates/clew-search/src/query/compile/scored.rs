//! One term of a field, with the score that the field's similarity gives it.

use std::sync::Arc;

use clew_query::{Bm25, QueryError};
use clew_schema::{
    FieldKind, MappedField, TextStyle,
    similarity::{Counted, Similarity, TermStatistics, Weigher},
};
use tantivy::Term as IndexTerm;
use tantivy::query::TermQuery;
use tantivy::schema::{Field, IndexRecordOption};

use super::{Compiler, Node};
use crate::query::constant::AnyTerm;
use crate::query::leaf::{LeafStatistics, Scored};
use crate::query::weighed::WeighedTerm;
use crate::ranked::{FoundWord, Ranked, Shape, Weight, idf};

/// What terms that score as one are taken to be like.
#[derive(Clone, Copy)]
pub(super) struct Blend {
    /// Documents with the term.
    pub(super) docs: u64,
    /// Its occurrences; where nothing is said, its own, and one in each document at least.
    pub(super) occurrences: Option<u64>,
}

impl Compiler<'_> {
    /// One term with its score; where a field keeps no frequencies all matches score the same.
    pub(super) fn word(
        &mut self,
        mapped: &MappedField,
        field: Field,
        word: &str,
        boost: f32,
    ) -> Result<Node, QueryError> {
        self.scored_term(mapped, IndexTerm::from_field_text(field, word), boost)
    }

    /// Words that stand for each other: a document scores as if they were one, which is in as many
    /// documents as the most frequent of them.
    pub(super) fn same_words(
        &mut self,
        mapped: &MappedField,
        field: Field,
        words: &[String],
        boost: f32,
    ) -> Result<Node, QueryError> {
        if let [word] = words {
            return self.word(mapped, field, word, boost);
        }
        if is_match_only(mapped) {
            let terms = words.iter().map(|word| word.as_bytes().to_vec()).collect();
            return Ok(Node::set(AnyTerm { field, terms }, boost));
        }
        let snapshot = self.context.snapshot;
        let similarity = self.similarity(mapped);
        let mut terms = Vec::with_capacity(words.len());
        let mut all = TermStatistics {
            docs: 0,
            occurrences: 0,
        };
        let mut own = 0_u64;
        for word in words {
            let term = IndexTerm::from_field_text(field, word);
            let found = snapshot.find(&term)?;
            own = own.max(found.frequency());
            if found.frequency() > 0 {
                let blend = self.unblended(&term, &found)?;
                let one = self.term_statistics(similarity, (&term, &found), blend)?;
                all.docs = all.docs.max(one.docs);
                all.occurrences += one.occurrences;
                terms.push(term);
            }
        }
        if terms.is_empty() {
            return Ok(Node::nothing());
        }
        let weigher = Weigher::new(similarity, snapshot.statistics(mapped)?, &[all]);
        let weigher = Arc::new(weigher.counting(mapped.counted()));
        let query = WeighedTerm {
            field,
            terms,
            weigher,
            counts_values: mapped.counts_values(),
        };
        Ok(Node {
            at_least: own.saturating_sub(snapshot.dead_docs()),
            ..Node::scored(Box::new(query), boost * snapshot.term_factor())
        })
    }

    pub(super) fn scored_term(
        &mut self,
        mapped: &MappedField,
        term: IndexTerm,
        boost: f32,
    ) -> Result<Node, QueryError> {
        if is_match_only(mapped) {
            return self.counted_term(term, boost);
        }
        self.found_term(mapped, term, None, boost)
    }

    /// A term that was found as it is, like nothing else.
    fn unblended(&self, term: &IndexTerm, found: &FoundWord) -> Result<Blend, QueryError> {
        let snapshot = self.context.snapshot;
        Ok(Blend {
            docs: snapshot.docs_weighed(term, found.frequency())?,
            occurrences: None,
        })
    }

    /// A term of a field that scores as if it were like the blend, where it scores.
    pub(super) fn blended_term(
        &mut self,
        mapped: &MappedField,
        term: IndexTerm,
        blend: Blend,
        boost: f32,
    ) -> Result<Node, QueryError> {
        if is_match_only(mapped) {
            return self.counted_term(term, boost);
        }
        self.found_term(mapped, term, Some(blend), boost)
    }

    /// A term that scores as if it were like the blend, or like itself, also in a field all of whose other matches score the
    /// same.
    pub(super) fn found_term(
        &mut self,
        mapped: &MappedField,
        term: IndexTerm,
        blend: Option<Blend>,
        boost: f32,
    ) -> Result<Node, QueryError> {
        let found = self.context.snapshot.find(&term)?;
        let blend = match blend {
            Some(blend) => blend,
            None => self.unblended(&term, &found)?,
        };
        self.term_with_frequency(mapped, (term, found), blend, boost)
    }

    /// A term that scores as if it were like the blend.
    pub(super) fn term_with_frequency(
        &mut self,
        mapped: &MappedField,
        (term, found): (IndexTerm, FoundWord),
        blend: Blend,
        boost: f32,
    ) -> Result<Node, QueryError> {
        let (own, frequency) = (found.frequency(), blend.docs);
        if own == 0 {
            return Ok(Node::nothing());
        }
        let snapshot = self.context.snapshot;
        let boost = boost * snapshot.term_factor();
        let dead = snapshot.dead_docs();
        let known = |node| Node {
            at_least: own.saturating_sub(dead),
            exact: dead == 0,
            ..node
        };
        let similarity = self.similarity(mapped);
        let counted = mapped.counted();
        let counts_values = mapped.counts_values();
        if similarity != Similarity::USUAL || counted != Counted::ALL || counts_values {
            let of_term = self.term_statistics(similarity, (&term, &found), blend)?;
            let statistics = snapshot.statistics(mapped)?;
            let weigher = Weigher::new(similarity, statistics, &[of_term]).counting(counted);
            let weigher = Arc::new(weigher);
            let query = Box::new(WeighedTerm {
                field: term.field(),
                terms: vec![term],
                weigher,
                counts_values,
            });
            return Ok(known(Node::scored(query, boost)));
        }
        if matches!(mapped.kind, FieldKind::Text { .. }) {
            self.scored_fields.insert(term.field());
        }
        let field = snapshot.statistics(mapped)?;
        let weight = Weight::new(idf(frequency, field.docs.max(frequency)), boost);
        let word = match self.ranks {
            true => snapshot.ranked_word(mapped, (term.field(), found), weight)?,
            false => None,
        };
        let ranked = word.map(|word| Ranked::new(Shape::Any(vec![word])));
        let statistics = LeafStatistics {
            field,
            frequencies: vec![(term.clone(), frequency)],
        };
        let inner = Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
        Ok(Node {
            ranked,
            ..known(Node::scored(Box::new(Scored { inner, statistics }), boost))
        })
    }

    /// One term of a field that counts neither how often a value is there nor how many there are:
    /// all its documents have one score.
    pub(super) fn even_term(
        &self,
        mapped: &MappedField,
        term: IndexTerm,
        boost: f32,
    ) -> Result<Node, QueryError> {
        let weigher = self.weigher(mapped, std::slice::from_ref(&term))?;
        self.counted_term(term, boost * weigher.score(1.0, 1.0))
    }

    /// Compiles a query that may say how its words are weighed.
    pub(super) fn weighed(
        &mut self,
        weights: Option<Bm25>,
        compile: impl FnOnce(&mut Self) -> Result<Node, QueryError>,
    ) -> Result<Node, QueryError> {
        let around = std::mem::replace(&mut self.weights, weights);
        let node = compile(self);
        self.weights = around;
        node
    }

    /// How a field's terms are weighed: as the query says, or as the field has it. Documents that are in no index are
    /// always weighed as usual.
    pub(super) fn similarity(&self, mapped: &MappedField) -> Similarity {
        let snapshot = self.context.snapshot;
        if snapshot.has_plain_scores() {
            return Similarity::USUAL;
        }
        match self.weights {
            Some(Bm25 { k1, b }) => Similarity::Bm25 { k1, b },
            None => snapshot.mapping.similarity(mapped),
        }
    }

    /// What gives scores to these terms of a field together.
    pub(super) fn weigher(
        &self,
        mapped: &MappedField,
        terms: &[IndexTerm],
    ) -> Result<Weigher, QueryError> {
        let snapshot = self.context.snapshot;
        let similarity = self.similarity(mapped);
        let mut statistics = Vec::with_capacity(terms.len());
        for term in terms {
            let found = snapshot.find(term)?;
            // A word that no document has says nothing of those that have another one.
            if found.frequency() == 0 {
                continue;
            }
            let blend = self.unblended(term, &found)?;
            statistics.push(self.term_statistics(similarity, (term, &found), blend)?);
        }
        let field = snapshot.statistics(mapped)?;
        Ok(Weigher::new(similarity, field, &statistics).counting(mapped.counted()))
    }

    /// Counts occurrences where the similarity asks for them, which reads the term's postings.
    fn term_statistics(
        &self,
        similarity: Similarity,
        (term, found): (&IndexTerm, &FoundWord),
        blend: Blend,
    ) -> Result<TermStatistics, QueryError> {
        let occurrences = match blend.occurrences {
            Some(given) => given,
            None if similarity.counts_occurrences() => {
                self.context.snapshot.occurrences(term, found)?
            }
            None => 0,
        };
        Ok(TermStatistics {
            docs: blend.docs,
            occurrences: occurrences.max(blend.docs),
        })
    }
}

pub(super) fn is_match_only(mapped: &MappedField) -> bool {
    matches!(
        mapped.kind,
        FieldKind::Text {
            style: TextStyle::MatchOnly,
            ..
        }
    )
}
