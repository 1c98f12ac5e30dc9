//! tantivy as it comes: its own writer, searcher and collectors, over an index in memory.

use std::path::Path;

use tantivy::collector::{Count, TopDocs};
use tantivy::indexer::NoMergePolicy;
use tantivy::query::{
    BooleanQuery, ConstScoreQuery, FuzzyTermQuery, Occur, PhraseQuery, Query, RegexQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::{Index, IndexWriter, ReloadPolicy, Searcher, TantivyDocument, Term};

use crate::queries::{Class, Shape};
use crate::{Contender, Found, Mode, TOP};

const WRITER_BYTES: usize = 400 << 20;

pub(crate) struct Bare {
    searcher: Searcher,
    body: Field,
    group: Field,
    queries: Vec<Box<dyn Query>>,
}

impl Bare {
    pub(crate) fn build(docs: &Path, segments: usize) -> anyhow::Result<Self> {
        let mut schema = Schema::builder();
        let indexing = |option| {
            let indexing = TextFieldIndexing::default().set_tokenizer("whitespace");
            TextOptions::default().set_indexing_options(indexing.set_index_option(option))
        };
        let body =
            schema.add_text_field("body", indexing(IndexRecordOption::WithFreqsAndPositions));
        let group = schema.add_text_field("group", indexing(IndexRecordOption::Basic));
        let index = Index::create_in_ram(schema.build());
        let mut writer: IndexWriter = index.writer_with_num_threads(1, WRITER_BYTES)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        let mut number = 0;
        for part in crate::parts(docs, segments)? {
            for text in part {
                let mut doc = TantivyDocument::default();
                doc.add_text(body, text);
                for name in crate::groups(number) {
                    doc.add_text(group, name);
                }
                writer.add_document(doc)?;
                number += 1;
            }
            writer.commit()?;
        }
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()?;
        let searcher = tantivy::IndexReader::searcher(&reader);
        let made = searcher.segment_readers().len();
        anyhow::ensure!(made == segments, "{made} segments were made");
        Ok(Bare {
            searcher,
            body,
            group,
            queries: Vec::new(),
        })
    }

    fn term(&self, word: &str) -> Term {
        Term::from_field_text(self.body, word)
    }

    fn joined(&self, text: &str, occur: Occur) -> Box<dyn Query> {
        let leaf = |word: &str| -> Box<dyn Query> {
            let option = IndexRecordOption::WithFreqs;
            Box::new(TermQuery::new(self.term(word), option))
        };
        let words: Vec<&str> = text.split(' ').collect();
        match words[..] {
            [word] => leaf(word),
            _ => Box::new(BooleanQuery::new(
                words.into_iter().map(|word| (occur, leaf(word))).collect(),
            )),
        }
    }
}

impl Contender for Bare {
    fn prepare(&mut self, class: &Class, text: &str) -> anyhow::Result<()> {
        // Only what a program would keep: a regular expression is compiled with every search.
        if class.shape == Shape::Prefix {
            self.queries.push(Box::new(Beginning {
                body: self.body,
                text: text.into(),
            }));
            return Ok(());
        }
        let query: Box<dyn Query> = match class.shape {
            Shape::Or => self.joined(text, Occur::Should),
            Shape::And => self.joined(text, Occur::Must),
            Shape::Phrase => {
                let terms = text.split(' ').map(|word| self.term(word));
                Box::new(PhraseQuery::new(terms.collect()))
            }
            Shape::Prefix | Shape::Fuzzy => Box::new(FuzzyTermQuery::new(self.term(text), 1, true)),
        };
        self.queries.push(match &class.filter {
            None => query,
            Some(group) => {
                let term = Term::from_field_text(self.group, group);
                let filter = Box::new(TermQuery::new(term, IndexRecordOption::Basic));
                let filter: Box<dyn Query> = Box::new(ConstScoreQuery::new(filter, 0.0));
                Box::new(BooleanQuery::new(vec![
                    (Occur::Must, query),
                    (Occur::Must, filter),
                ]))
            }
        });
        Ok(())
    }

    fn run(&self, at: usize, mode: Mode) -> anyhow::Result<Found> {
        let top = TopDocs::with_limit(TOP).order_by_score();
        let query = &self.queries[at];
        let (hits, count) = match mode {
            Mode::Top => (self.searcher.search(query, &top)?, 0),
            Mode::Count => self.searcher.search(query, &(top, Count))?,
        };
        Ok(Found {
            scores: hits.into_iter().map(|(score, _)| score).collect(),
            count: count as u64,
        })
    }

    fn clear(&mut self) {
        self.queries.clear();
    }
}

/// Words with a beginning: a regular expression, which is what its query parser makes of them.
#[derive(Clone, Debug)]
struct Beginning {
    body: Field,
    text: String,
}

impl Query for Beginning {
    fn weight(
        &self,
        scoring: tantivy::query::EnableScoring<'_>,
    ) -> tantivy::Result<Box<dyn tantivy::query::Weight>> {
        RegexQuery::from_pattern(&format!("{}.*", self.text), self.body)?.weight(scoring)
    }
}
