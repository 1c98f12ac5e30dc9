//! Words of hits between tags: those that were searched for, and those that are named, in the texts that they stand in. A
//! text is told in fragments, each from a word that was found on.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use clew_analysis::Token;
use clew_engine::{DocPlace, FieldValues, Pinned, WantedField};
use clew_platform::{MemoryPurpose, Reservation};
use clew_query::unless_stopped;
use clew_schema::{AnalyzerChoice, FieldKind};
use serde::Deserialize;

use super::Service;
use super::analyzer::CUT_BYTES;
use super::asked::{Asked, Probes, is_set};
use crate::collection::{Collection, Field, Metric, TEXT, pairs};
use crate::collections::Opened;
use crate::error::{MilvusError, Result};
use crate::held;
use crate::incoming::Refused;
use crate::proto::{HighlightData, HighlightResult, Highlighter};

/// Milvus' number of highlighters of words.
const LEXICAL: i32 = 0;
/// The only kind of texts that are named.
const TEXT_MATCH: &str = "TextMatch";
/// Characters of a fragment, and fragments of a text, where nothing is said.
const FRAGMENT_SIZE: usize = 100;
const FRAGMENTS: usize = 5;
/// Longest tag: it stands at every word that is marked.
const TAG_BYTES_MAX: usize = 1_000;
/// What a fragment takes beside its text.
const FRAGMENT_BYTES: usize = size_of::<String>();

/// What of hits is to be marked, and how.
#[derive(Clone, Debug)]
pub(super) struct Highlights {
    marks: Marks,
    /// The texts whose words are marked, by the field that they are looked for in.
    fields: BTreeMap<String, Vec<String>>,
    /// The field in which the words of the search itself are marked, too.
    searched: Option<String>,
}

/// How words are marked, and how much is told around them.
#[derive(Clone, Debug)]
struct Marks {
    before: Vec<String>,
    after: Vec<String>,
    /// Characters before the first word of a fragment.
    offset: usize,
    /// Characters of a fragment, without its tags.
    size: usize,
    /// Most fragments of a text.
    count: usize,
}

/// A text whose words are marked, as clients write it.
#[derive(Debug, Deserialize)]
struct NamedText {
    #[serde(rename = "type")]
    kind: String,
    field: String,
    text: String,
}

/// How the texts of a field are cut into words.
#[derive(Debug)]
struct Cutting {
    /// The field's own analyzer.
    own: String,
    /// The analyzer of the texts that are looked for.
    asked: String,
    /// Which one each row's text goes through, where the rows choose, and what they choose by.
    choice: Option<(Arc<AnalyzerChoice>, Vec<Option<String>>)>,
}

impl Cutting {
    /// The analyzer of a row.
    fn of_row(&self, row: usize) -> &str {
        let chosen = self.choice.as_ref().and_then(|(choice, values)| {
            let value = values.get(row)?.as_ref()?;
            choice.analyzers.get(value)
        });
        chosen.unwrap_or(&self.own)
    }
}

impl Highlights {
    /// Reads what a search of a field is to mark.
    ///
    /// # Errors
    /// For other highlighters than those of words, parameters out of bounds, fields without words, and searches for
    /// something else than words whose words are to be marked.
    pub(super) fn read(
        collection: &Collection,
        highlighter: Highlighter,
        (field, metric): (&Field, Metric),
    ) -> Result<Highlights> {
        if highlighter.r#type != LEXICAL {
            return Err(MilvusError::Unsupported("a semantic highlighter".into()));
        }
        let params = pairs(highlighter.params);
        let mut fields: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut searched = None;
        if is_set(&params, "highlight_search_text") {
            let function = collection.function_of(&field.name);
            let input = function.and_then(|function| function.inputs.first());
            let input = input.filter(|_| metric == Metric::Bm25).ok_or_else(|| {
                MilvusError::invalid(format!(
                    "Search highlight only support with metric type \"BM25\" but was: {}",
                    metric.name()
                ))
            })?;
            fields.insert(input.clone(), Vec::new());
            searched = Some(input.clone());
        }
        let named: Vec<NamedText> = listed(&params, "highlight_query")?.unwrap_or_default();
        for one in named {
            if one.kind != TEXT_MATCH {
                return Err(MilvusError::Unsupported(format!(
                    "a highlight query of type {}",
                    one.kind
                )));
            }
            let field = collection.field(&one.field)?;
            if field.is_part() || !field.flag("enable_analyzer") {
                return Err(MilvusError::invalid(format!(
                    "the field {} to highlight has no analyzer",
                    one.field
                )));
            }
            fields.entry(one.field).or_default().push(one.text);
        }
        Ok(Highlights {
            marks: Marks::read(&params)?,
            fields,
            searched,
        })
    }
}

/// A parameter that is a list.
fn listed<T: for<'d> Deserialize<'d>>(
    params: &BTreeMap<String, String>,
    name: &str,
) -> Result<Option<Vec<T>>> {
    let Some(given) = params.get(name) else {
        return Ok(None);
    };
    let read = serde_json::from_str(given);
    read.map(Some)
        .map_err(|error| MilvusError::invalid(format!("{name} cannot be read: {error}")))
}

impl Cutting {
    /// The words of texts that are looked for, and what they take.
    ///
    /// # Errors
    /// When they do not fit into memory beside others, or nobody waits for them any more.
    fn asked_words(
        &self,
        texts: &[String],
        memory: &Reservation,
    ) -> Result<(HashSet<String>, Reservation)> {
        let (mut words, mut room) = (HashSet::new(), memory.sibling());
        for text in texts {
            unless_stopped()?;
            room.grow(text.len().saturating_mul(CUT_BYTES))
                .map_err(Refused::from)?;
            let tokens = clew_analysis::tokens(&self.asked, text).into_iter();
            words.extend(tokens.map(|token| token.text));
        }
        Ok((words, room))
    }
}

impl Marks {
    fn read(params: &BTreeMap<String, String>) -> Result<Marks> {
        let tags = |name: &str, usual: &str| -> Result<Vec<String>> {
            let given: Option<Vec<String>> = listed(params, name)?;
            let given = given.unwrap_or_else(|| vec![usual.to_string()]);
            if given.is_empty() {
                return Err(MilvusError::invalid(format!("{name} cannot be empty list")));
            }
            match given.iter().any(|tag| tag.len() > TAG_BYTES_MAX) {
                true => Err(MilvusError::invalid(format!(
                    "a tag among {name} has more than {TAG_BYTES_MAX} bytes"
                ))),
                false => Ok(given),
            }
        };
        let number = |name: &str, least: usize, usual: usize| -> Result<usize> {
            let Some(given) = params.get(name) else {
                return Ok(usual);
            };
            let read: Option<usize> = given.parse().ok();
            let read = read.filter(|number| *number >= least);
            read.ok_or_else(|| MilvusError::invalid(format!("invalid {name}: {given}")))
        };
        Ok(Marks {
            before: tags("pre_tags", "<em>")?,
            after: tags("post_tags", "</em>")?,
            offset: number("fragment_offset", 0, 0)?,
            size: number("fragment_size", 1, FRAGMENT_SIZE)?,
            count: number("num_of_fragments", 0, FRAGMENTS)?,
        })
    }

    /// The fragments of each text; the texts are those of lists of hits, of which each has its own words beside the named.
    ///
    /// # Errors
    /// When they do not fit into memory beside others, or nobody waits for them any more.
    fn all(
        &self,
        cutting: &Cutting,
        (texts, topks): (&[Option<String>], &[i64]),
        (named, searched): (&[String], &[String]),
        memory: &mut Reservation,
    ) -> Result<Vec<HighlightData>> {
        let mut datas = Vec::with_capacity(texts.len());
        let mut texts = texts.iter().enumerate();
        let (named, _named_room) = cutting.asked_words(named, memory)?;
        for (list, count) in topks.iter().enumerate() {
            let searched = searched.get(list).map_or(&[][..], std::slice::from_ref);
            let (searched, _room) = cutting.asked_words(searched, memory)?;
            let words = [&named, &searched];
            let count = usize::try_from(*count).unwrap_or_default();
            for (row, text) in texts.by_ref().take(count) {
                unless_stopped()?;
                let told = text.as_ref();
                let analyzer = cutting.of_row(row);
                let told = told.map(|text| self.fragments(analyzer, text, &words, memory));
                let fragments = told.transpose()?.unwrap_or_default();
                datas.push(HighlightData { fragments });
            }
        }
        Ok(datas)
    }

    /// The fragments of a text: each has the words that begin before it ends, marked, and goes on to the end of the last
    /// one. What is before its first word may have been told before, and is not marked again, as in Milvus.
    fn fragments(
        &self,
        analyzer: &str,
        text: &str,
        words: &[&HashSet<String>],
        memory: &mut Reservation,
    ) -> Result<Vec<String>> {
        let tokens = clew_analysis::tokens(analyzer, text).into_iter();
        let is_asked = |token: &Token| words.iter().any(|some| some.contains(&token.text));
        let found = tokens.filter(is_asked);
        let spans = joined(found.map(|token| (token.start, token.end)).collect());
        let mut spans = spans.into_iter().peekable();
        let mut tags = self.before.iter().cycle().zip(self.after.iter().cycle());
        let mut fragments = Vec::new();
        while fragments.len() < self.count {
            let Some((first, first_end)) = spans.peek().copied() else {
                break;
            };
            let from = before(text, first, self.offset);
            // The first word is there as a whole, however long it is.
            let mut to = behind(text, from, self.size).max(first_end);
            let mut fragment = String::new();
            let mut written = from;
            while let Some((start, end)) = spans.next_if(|span| span.0 <= to) {
                if let Some((before, after)) = tags.next() {
                    fragment.push_str(text.get(written..start).unwrap_or_default());
                    fragment.push_str(before);
                    fragment.push_str(text.get(start..end).unwrap_or_default());
                    fragment.push_str(after);
                    written = end;
                }
                to = to.max(end);
            }
            fragment.push_str(text.get(written..to).unwrap_or_default());
            // Fragments lie upon each other: all of them together may be far more than the text.
            let bytes = FRAGMENT_BYTES + fragment.len();
            memory.grow(bytes).map_err(Refused::from)?;
            fragments.push(fragment);
        }
        Ok(fragments)
    }
}

/// Where words lie, in order; those that touch or lie upon each other, as synonyms do, are one.
fn joined(mut spans: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    spans.sort_unstable();
    spans.dedup_by(|next, last| {
        let touches = next.0 <= last.1;
        if touches {
            last.1 = last.1.max(next.1);
        }
        touches
    });
    spans
}

/// The byte so many characters before another one.
fn before(text: &str, at: usize, characters: usize) -> usize {
    let Some(last) = characters.checked_sub(1) else {
        return at;
    };
    let earlier = text.get(..at).unwrap_or_default();
    let mut earlier = earlier.char_indices().rev();
    earlier.nth(last).map_or(0, |(byte, _)| byte)
}

/// The byte so many characters behind another one, or the end.
fn behind(text: &str, from: usize, characters: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    let end = rest.char_indices().nth(characters);
    end.map_or(text.len(), |(byte, _)| from + byte)
}

impl Service {
    /// What is marked in hits that lie in these places, so many for each of the texts or vectors that were searched for.
    pub(super) async fn highlighted(
        &self,
        (opened, pinned): (&Opened, &Pinned),
        (places, topks): (&[DocPlace], &[i64]),
        (asked, highlights): (&Asked, &Highlights),
    ) -> Result<Vec<HighlightResult>> {
        let mut results = Vec::with_capacity(highlights.fields.len());
        for (name, named) in &highlights.fields {
            let (texts, cutting) = self
                .texts_to_mark((opened, pinned), (places, name), asked)
                .await?;
            let searched = match &asked.probes {
                Probes::Texts(texts) if highlights.searched.as_ref() == Some(name) => texts.clone(),
                _ => Vec::new(),
            };
            let marks = highlights.marks.clone();
            let (named, topks) = (named.clone(), topks.to_vec());
            let mut memory = self.limits().memory.open(MemoryPurpose::Searches);
            let marked = self.beside(move |_| {
                let (texts, words) = ((&texts[..], &topks[..]), (&named[..], &searched[..]));
                let datas = marks.all(&cutting, texts, words, &mut memory)?;
                Ok((datas, memory))
            });
            let (datas, memory) = marked.await?;
            held::hold(memory);
            results.push(HighlightResult {
                field_name: name.clone(),
                datas,
            });
        }
        Ok(results)
    }

    /// The texts of a field in some places, and how they are cut.
    async fn texts_to_mark(
        &self,
        (opened, pinned): (&Opened, &Pinned),
        (places, name): (&[DocPlace], &str),
        asked: &Asked,
    ) -> Result<(Vec<Option<String>>, Cutting)> {
        let mapping = opened.handle.mapping();
        let field = mapping.field(&format!("{name}.{TEXT}"));
        let Some((field, FieldKind::Text { analyzer, .. })) =
            field.map(|field| (field, &field.kind))
        else {
            return Err(MilvusError::invalid(format!(
                "the field {name} to highlight has no analyzer"
            )));
        };
        let choice = field.settings.choice.clone();
        let chooser = choice.iter().map(|choice| choice.by.clone());
        let wanted = std::iter::once(name.to_string()).chain(chooser);
        let wanted: Vec<WantedField> = wanted.map(WantedField::Typed).collect();
        let read = self.engine().columns(pinned, places, &wanted).await?;
        held::hold(read.memory);
        let mut fields = read.fields.into_iter();
        let Some(FieldValues::Texts(texts)) = fields.next() else {
            return Err(MilvusError::Internal(format!("{name} has no texts")));
        };
        let said = choice.as_ref();
        let said = said.and_then(|choice| choice.analyzers.get(asked.analyzer_name()));
        let asked = said.unwrap_or(analyzer).clone();
        let choice = choice.map(|choice| {
            let values = match fields.next() {
                Some(FieldValues::Texts(values)) => values,
                _ => Vec::new(),
            };
            (choice, values)
        });
        let own = analyzer.clone();
        Ok((texts, Cutting { own, asked, choice }))
    }
}

#[cfg(test)]
mod tests;
