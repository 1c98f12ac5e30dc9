//! Words of a dictionary that a leaf stands for, each of which scores: what `rewrite` asks for.

use std::collections::BTreeSet;

use clew_query::{Pattern, QueryError, Rewrite, unless_stopped};
use clew_schema::MappedField;
use tantivy::Term as IndexTerm;
use tantivy::schema::Field;
use tantivy_fst::Automaton;

use super::compound::any;
use super::scored::Blend;
use super::{CLAUSES_MAX, Compiler, Node};
use crate::query::constant::{Borrowed, knows};

impl Compiler<'_> {
    /// The words that a pattern accepts, joined as it says.
    pub(super) fn scored_pattern<A: Automaton>(
        &mut self,
        pattern: &Pattern,
        automaton: &A,
        boost: f32,
    ) -> Result<Node, QueryError>
    where
        A::State: Clone,
    {
        let Some((mapped, field)) = self.field(&pattern.field) else {
            return Ok(Node::nothing());
        };
        let words = self.accepted_words(field, automaton, pattern.rewrite)?;
        let words = words.into_iter().map(|word| (word, 1.0)).collect();
        self.joined_words((mapped, field), words, pattern.rewrite, boost)
    }

    /// The first words of all segments that an automaton accepts.
    fn accepted_words<A: Automaton>(
        &self,
        field: Field,
        automaton: &A,
        rewrite: Rewrite,
    ) -> Result<BTreeSet<String>, QueryError>
    where
        A::State: Clone,
    {
        // One more than are allowed tells that there are too many.
        let most = rewrite.words_max().unwrap_or(CLAUSES_MAX + 1);
        let most = most.min(CLAUSES_MAX + 1);
        let mut words = BTreeSet::new();
        for reader in &self.context.snapshot.readers {
            if !knows(reader, field) {
                continue;
            }
            let inverted = reader.inverted_index(field)?;
            let dictionary = inverted.terms();
            let mut stream = dictionary.search(Borrowed::new(automaton)).into_stream()?;
            let mut taken = 0;
            while taken < most && stream.advance() {
                words.insert(String::from_utf8_lossy(stream.key()).into_owned());
                taken += 1;
            }
        }
        unless_stopped()?;
        if rewrite.words_max().is_none() && words.len() > CLAUSES_MAX {
            return Err(QueryError::TooManyClauses { max: CLAUSES_MAX });
        }
        while words.len() > most.min(CLAUSES_MAX) {
            words.pop_last();
        }
        Ok(words)
    }

    /// Words with their factors, joined as is asked for.
    pub(super) fn joined_words(
        &mut self,
        (mapped, field): (&MappedField, Field),
        words: Vec<(String, f32)>,
        rewrite: Rewrite,
        boost: f32,
    ) -> Result<Node, QueryError> {
        self.count_expanded(words.len())?;
        let mut terms = Vec::with_capacity(words.len());
        for (word, factor) in words {
            terms.push((IndexTerm::from_field_text(field, &word), factor));
        }
        let mut blend = Blend {
            docs: 0,
            occurrences: None,
        };
        if matches!(rewrite, Rewrite::TopBlended(_)) {
            let snapshot = self.context.snapshot;
            for (term, _) in &terms {
                let docs = snapshot.docs_weighed(term, snapshot.doc_freq(term)?)?;
                blend.docs = blend.docs.max(docs);
            }
        }
        let mut nodes = Vec::with_capacity(terms.len());
        for (term, factor) in terms {
            let own = boost * factor;
            nodes.push(match rewrite {
                Rewrite::Usual | Rewrite::Constant => self.counted_term(term, 1.0)?,
                Rewrite::TopFactors(_) => self.counted_term(term, own)?,
                Rewrite::Scored | Rewrite::Top(_) => self.found_term(mapped, term, None, own)?,
                Rewrite::TopBlended(_) => self.found_term(mapped, term, Some(blend), own)?,
            });
        }
        let joined = any(nodes, 1);
        Ok(match rewrite {
            Rewrite::Usual | Rewrite::Constant => super::rescored(joined, boost),
            Rewrite::Scored | Rewrite::Top(_) | Rewrite::TopFactors(_) | Rewrite::TopBlended(_) => {
                joined
            }
        })
    }
}
