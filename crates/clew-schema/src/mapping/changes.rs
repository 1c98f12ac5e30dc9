//! What of a field cannot change, because documents were indexed with it.

use clew_analysis::{POSITION_GAP, shown_name};
use clew_vector::{ColumnOptions, Method};
use serde_json::Value;

use super::compression::{CompressionLevel, VectorMode};
use super::definition::Definition;
use super::error::{FieldParameter, MappingError, ParameterChange};
use super::field::{FieldKind, FieldSettings, KeywordStyle, MappedField, TextStyle, VectorMapping};
use super::number::FloatKind;
use crate::completion::CompletionContext;
use crate::plain::{fraction_text, text_of};

/// Refuses what cannot change, because documents were indexed with it.
pub(super) fn check_changes(
    field: &MappedField,
    definition: &Definition,
) -> Result<(), MappingError> {
    let path = field.path.clone();
    if let (Some(from), Some(to)) = (&field.settings.join, &definition.settings.join) {
        let changes = from.conflicts(to);
        return match changes.is_empty() {
            true => Ok(()),
            false => Err(MappingError::Joins { path, changes }),
        };
    }
    let mut found = ChangesFound::default();
    found.in_settings(field, definition);
    found.in_words(field, definition);
    found.in_texts(field, definition);
    found.in_kinds(&field.kind, &definition.new.kind);
    found.in_dates(field, definition);
    if let (FieldKind::Vector(from), FieldKind::Vector(to)) = (&field.kind, &definition.new.kind) {
        found.in_vectors((&field.settings, from), (&definition.settings, to));
    }
    found.0.sort_by_key(|change| change.parameter);
    match found.0.is_empty() {
        true => Ok(()),
        false => Err(MappingError::Parameters {
            path,
            changes: found.0,
        }),
    }
}

/// Which beginnings of words a text keeps, in a message.
fn prefixes(said: &Value) -> String {
    let length = |key: &str, usual: &str| {
        let length = said.get(key);
        length.map_or_else(|| usual.to_string(), text_of)
    };
    let (least, most) = (length("min_chars", "2"), length("max_chars", "5"));
    format!("{{ min_chars={least}, max_chars={most} }}")
}

/// The contexts of a completion in a message: by their names and what they hold, as these may not change either.
fn contexts(contexts: &[CompletionContext]) -> Option<String> {
    let each = contexts.iter().map(|context| {
        let (name, kind, path) = (&context.name, context.kind, &context.path);
        let path = path.as_ref().map(|path| format!(" of {path}"));
        format!("{name}: {kind:?}{}", path.unwrap_or_default())
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| format!("[{}]", each.join(", ")))
}

/// What would change, in the order in which it was found.
#[derive(Default)]
pub(super) struct ChangesFound(pub(super) Vec<ParameterChange>);

impl ChangesFound {
    fn compare(&mut self, parameter: FieldParameter, from: Option<String>, to: Option<String>) {
        if from != to {
            self.0.push(ParameterChange {
                parameter,
                from,
                to,
            });
        }
    }

    fn flags(&mut self, parameter: FieldParameter, from: bool, to: bool) {
        self.compare(parameter, Some(from.to_string()), Some(to.to_string()));
    }

    pub(super) fn texts(&mut self, parameter: FieldParameter, from: &str, to: &str) {
        self.compare(parameter, Some(from.to_string()), Some(to.to_string()));
    }

    fn in_settings(&mut self, field: &MappedField, definition: &Definition) {
        let (from, to) = (&field.settings, &definition.settings);
        // Words of documents that are there already have no column.
        self.flags(FieldParameter::Fielddata, from.fielddata, to.fielddata);
        // Older builds kept what was said of them, though the type makes nothing of it.
        if !field.kind.ignores_index() {
            let (was, now) = (field.indexed, definition.new.indexed);
            self.flags(FieldParameter::Indexed, was, now);
        }
        if !field.kind.ignores_store() {
            self.flags(FieldParameter::Store, from.store, to.store);
        }
        if !field.kind.ignores_column() {
            self.flags(FieldParameter::DocValues, from.doc_values, to.doc_values);
        }
        let [was, now] = [from, to].map(|settings| settings.normalizer.clone());
        self.compare(FieldParameter::Normalizer, was, now);
        // Words of documents that are there already stay as they were cut.
        let [was, now] =
            [from, to].map(|settings| settings.choice.as_ref().map(|one| one.by.clone()));
        self.compare(FieldParameter::Analyzer, was, now);
        let [was, now] = [from, to].map(|settings| settings.similarity.clone());
        self.compare(FieldParameter::Similarity, was, now);
        if field.kind != FieldKind::GeoPoint {
            let is_float = matches!(field.kind, FieldKind::Float(_));
            let text = |value: &Value| match value.as_f64().filter(|_| is_float) {
                Some(number) => fraction_text(number),
                None => text_of(value),
            };
            let [was, now] = [from, to].map(|settings| settings.null_value.as_ref().map(text));
            self.compare(FieldParameter::NullValue, was, now);
        }
        self.flags(FieldParameter::CountGaps, from.count_gaps, to.count_gaps);
        self.flags(FieldParameter::Impact, !from.inverse, !to.inverse);
        let said = |settings: &FieldSettings| {
            let gaps = settings.shown.get("preserve_position_increments");
            gaps.is_none_or(|gaps| text_of(gaps) != "false")
        };
        self.flags(FieldParameter::Gaps, said(from), said(to));
    }

    /// Compares what texts are cut and kept by.
    fn in_texts(&mut self, field: &MappedField, definition: &Definition) {
        let (
            FieldKind::Text {
                analyzer: from,
                style: was,
            },
            FieldKind::Text {
                analyzer: to,
                style: now,
            },
        ) = (&field.kind, &definition.new.kind)
        else {
            return;
        };
        let both = [&field.settings, &definition.settings];
        // By name: the index's own one is another than that of the same kind, as in OpenSearch.
        let usual = field.analysis.default_analyzer();
        let named = |analyzer: &str, settings: &FieldSettings| match settings.shown.get("analyzer")
        {
            Some(said) => text_of(said),
            None if shown_name(analyzer) == shown_name(&usual) => "default".to_string(),
            None => shown_name(analyzer).to_string(),
        };
        // Builds before did not keep that the usual one was named: a text without a name may be given the one that it has.
        let was_named = both[0].shown.contains_key("analyzer");
        if was_named || shown_name(from) != shown_name(to) {
            let (from, to) = (named(from, both[0]), named(to, both[1]));
            self.texts(FieldParameter::Analyzer, &from, &to);
        }
        if let (
            TextStyle::AsYouType { neighbours: was },
            TextStyle::AsYouType { neighbours: now },
        ) = (was, now)
        {
            let [was, now] = [was, now].map(ToString::to_string);
            self.texts(FieldParameter::Neighbours, &was, &now);
        }
        let [was, now] = both.map(|settings| match settings.position_gap {
            POSITION_GAP => "-1".to_string(),
            gap => gap.to_string(),
        });
        self.texts(FieldParameter::PositionGap, &was, &now);
        let [was, now] = both.map(|settings| {
            let phrases = settings.shown.get("index_phrases");
            phrases.is_some_and(|phrases| text_of(phrases) == "true")
        });
        self.flags(FieldParameter::Phrases, was, now);
        let [was, now] = both.map(|settings| settings.shown.get("index_prefixes").map(prefixes));
        self.compare(FieldParameter::Prefixes, was, now);
    }

    /// Compares what is said of dates and only shown again.
    fn in_dates(&mut self, field: &MappedField, definition: &Definition) {
        let both = [
            (&field.kind, &field.settings),
            (&definition.new.kind, &definition.settings),
        ];
        let (FieldKind::Date { .. } | FieldKind::DateNanos { .. }) = field.kind else {
            return;
        };
        let said = |settings: &FieldSettings, member: &str| settings.shown.get(member).map(text_of);
        let [was, now] = both.map(|(kind, settings)| {
            let usual = match kind {
                FieldKind::Date { format } | FieldKind::DateNanos { format } => format.as_str(),
                _ => "",
            };
            let usual = usual.split("||").next().unwrap_or(usual);
            said(settings, "print_format").unwrap_or_else(|| usual.to_string())
        });
        if field.kind == definition.new.kind {
            self.texts(FieldParameter::PrintFormat, &was, &now);
        }
        let [was, now] = both.map(|(_, settings)| said(settings, "locale").unwrap_or_default());
        self.texts(FieldParameter::Locale, &was, &now);
    }

    /// Compares what is said of words and only shown again: who says something else would think that it holds.
    fn in_words(&mut self, field: &MappedField, definition: &Definition) {
        let (places, normed) = match field.kind {
            FieldKind::Text { .. } => ("positions", "true"),
            FieldKind::Keyword { .. } => ("docs", "false"),
            _ => return,
        };
        let said = |settings: &FieldSettings, member: &str, usual: &str| {
            let shown = settings.shown.get(member);
            shown.map_or_else(|| usual.to_string(), text_of)
        };
        let both = [&field.settings, &definition.settings];
        let [was, now] = both.map(|settings| said(settings, "index_options", places));
        self.texts(FieldParameter::IndexOptions, &was, &now);
        let [was, now] = both.map(|settings| said(settings, "norms", normed));
        // They may end.
        if now == "true" {
            self.texts(FieldParameter::Norms, &was, &now);
        }
        let [was, now] = both.map(|settings| {
            let usual = if settings.term_vectors { "yes" } else { "no" };
            said(settings, "term_vector", usual)
        });
        self.texts(FieldParameter::TermVector, &was, &now);
    }

    fn in_kinds(&mut self, from: &FieldKind, to: &FieldKind) {
        match (from, to) {
            (FieldKind::Binary { doc_values: from }, FieldKind::Binary { doc_values: to }) => {
                self.flags(FieldParameter::DocValues, *from, *to);
            }
            (FieldKind::Date { format: from }, FieldKind::Date { format: to })
            | (FieldKind::DateNanos { format: from }, FieldKind::DateNanos { format: to })
            | (FieldKind::Range { format: from, .. }, FieldKind::Range { format: to, .. }) => {
                self.texts(FieldParameter::Format, from, to);
            }
            (FieldKind::Completion(from), FieldKind::Completion(to)) => {
                let [was, now] = [from, to].map(|mapping| shown_name(&mapping.analyzer));
                self.texts(FieldParameter::Analyzer, was, now);
                let [was, now] = [from, to].map(|mapping| mapping.keep_separators);
                self.flags(FieldParameter::Separators, was, now);
                if from.contexts != to.contexts {
                    let [was, now] = [from, to].map(|mapping| contexts(&mapping.contexts));
                    self.compare(FieldParameter::Contexts, was, now);
                }
            }
            (
                FieldKind::Constant { value: Some(from) },
                FieldKind::Constant { value: Some(to) },
            ) => self.texts(FieldParameter::Value, from, to),
            (
                FieldKind::Float(FloatKind::Scaled { factor: from }),
                FieldKind::Float(FloatKind::Scaled { factor: to }),
            ) => {
                let [from, to] = [from, to].map(|factor| fraction_text(*factor));
                self.texts(FieldParameter::ScalingFactor, &from, &to);
            }
            _ => {}
        }
    }

    /// Compares what columns are built by; the type of element only where no level has chosen it.
    fn in_vectors(
        &mut self,
        (was, from): (&FieldSettings, &VectorMapping),
        (now, to): (&FieldSettings, &VectorMapping),
    ) {
        let (was, now) = (was.compression, now.compression);
        let name = |mode: VectorMode| mode.name().to_string();
        self.compare(FieldParameter::Mode, was.mode.map(name), now.mode.map(name));
        let name = |level: CompressionLevel| level.name().to_string();
        let parameter = FieldParameter::CompressionLevel;
        self.compare(parameter, was.level.map(name), now.level.map(name));
        let (from, to) = (&from.column, &to.column);
        let [before, after] = [from, to].map(|column| column.dimension.to_string());
        self.texts(FieldParameter::Dimension, &before, &after);
        if was == now {
            let (before, after) = (from.element.name(), to.element.name());
            self.texts(FieldParameter::Element, before, after);
        }
        self.texts(FieldParameter::Space, from.space.name(), to.space.name());
        self.texts(FieldParameter::Method, &method(from), &method(to));
    }
}

impl FieldKind {
    /// Whether fields are found whatever is said of that.
    pub fn ignores_index(&self) -> bool {
        matches!(
            self,
            FieldKind::Binary { .. }
                | FieldKind::Completion(_)
                | FieldKind::Float(FloatKind::RankFeature)
                | FieldKind::Keyword {
                    style: KeywordStyle::Wildcard,
                    ..
                }
        )
    }

    /// Whether nothing is made of it that values are to be handed out by themselves.
    pub fn ignores_store(&self) -> bool {
        self.ignores_index() && !matches!(self, FieldKind::Binary { .. })
    }

    /// Whether nothing is made of it that values are to be sorted and gathered in buckets.
    pub fn ignores_column(&self) -> bool {
        match self {
            FieldKind::Text { style, .. } => !matches!(style, TextStyle::AsYouType { .. }),
            kind => kind.ignores_store() && !matches!(kind, FieldKind::Keyword { .. }),
        }
    }
}

/// What a column is searched through, with all that tells it from another.
fn method(column: &ColumnOptions) -> String {
    match column.method {
        Method::Graph => {
            let hnsw = column.hnsw;
            format!(
                "hnsw, m {}, ef_construction {}",
                hnsw.m, hnsw.ef_construction
            )
        }
        Method::Lists(lists) => format!("ivf, nlist {}, codes {:?}", lists.lists, lists.codes),
    }
}
