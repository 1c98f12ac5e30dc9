//! What `highlight` asks for, read with what holds for all fields.

use clew_search::{Boundary, FastOptions, HighlightField, HighlightOptions};
use serde_json::Value;

use crate::dsl::{self, DslError, Field};
use crate::http::place::Spot;

/// Fields that one request may name.
const FIELDS_MAX: usize = 1000;
/// Pieces of one field at most.
const FRAGMENTS_MAX: usize = 1000;

/// Options of all fields and of single ones.
const OPTIONS: &[&str] = &[
    "pre_tags",
    "post_tags",
    "order",
    "highlight_filter",
    "fragment_size",
    "number_of_fragments",
    "require_field_match",
    "boundary_scanner",
    "boundary_max_scan",
    "boundary_chars",
    "boundary_scanner_locale",
    "type",
    "fragmenter",
    "no_match_size",
    "force_source",
    "phrase_limit",
    "max_analyzer_offset",
    "options",
    "highlight_query",
];

/// The fields of the object with their options, those that hold for all put in.
pub(super) fn fields_of(value: &Value) -> Result<Vec<HighlightField>, DslError> {
    let mut shared = Reading::default();
    let mut named = None;
    for field in Field::all("highlight", value)? {
        match field.name {
            "fields" => named = Some(field),
            "encoder" => shared.options.escape = field.text()? == "html",
            "tags_schema" => shared.tags_of_schema(field)?,
            _ => shared.read(field)?,
        }
    }
    shared.check_tags(value)?;
    match named {
        Some(named) => read_fields(named, &shared),
        None => Ok(Vec::new()),
    }
}

/// Each of the fields that `fields` names, in an object or one by one in a list of objects.
fn read_fields(named: Field<'_>, shared: &Reading<'_>) -> Result<Vec<HighlightField>, DslError> {
    let count = match named.value {
        Value::Object(members) => members.len(),
        Value::Array(items) => items.len(),
        _ => 0,
    };
    // Looked at first: each gets all options that it shares with others.
    if count > FIELDS_MAX {
        return Err(DslError::illegal(format!(
            "more than [{FIELDS_MAX}] fields to highlight"
        )));
    }
    match named.value {
        Value::Object(members) => {
            let fields = members.iter();
            fields
                .map(|(pattern, value)| read_field(named, (pattern.as_str(), value), shared))
                .collect()
        }
        Value::Array(items) => {
            let fields = items.iter().map(|item| {
                let field = only_member(item).map_err(|error| named.wrong(error))?;
                read_field(named, field, shared)
            });
            fields.collect()
        }
        _ => Err(named.other_sort()),
    }
}

/// The member of an object that has one.
fn only_member(value: &Value) -> Result<(&str, &Value), DslError> {
    let place = match value.as_object() {
        None => Spot::start_of(value),
        Some(members) => {
            let mut members = members.iter();
            match (members.next(), members.next()) {
                (Some((name, value)), None) => return Ok((name.as_str(), value)),
                (Some(_), Some((_, second))) => Spot::name_of(second),
                (None, _) => Spot::end_of(value),
            }
        }
    };
    let reason = "[fields] can be a single object with any number of fields or an array where each entry is an object \
                  with a single field";
    Err(DslError::content(reason).at(place))
}

fn read_field(
    named: Field<'_>,
    (pattern, value): (&str, &Value),
    shared: &Reading<'_>,
) -> Result<HighlightField, DslError> {
    let reading = Reading::of_field(shared, value)
        .map_err(|error| named.wrong(error.in_field("fields", pattern)))?;
    match reading.kind {
        None | Some("unified" | "plain" | "fvh" | "semantic") => {}
        Some(other) => {
            let reason = format!("unknown highlighter type [{other}] for the field [{pattern}]");
            return Err(DslError::illegal(reason).of_shards());
        }
    }
    let fast = (reading.kind == Some("fvh")).then(|| reading.fast());
    Ok(HighlightField {
        pattern: pattern.to_string(),
        options: HighlightOptions {
            fast,
            ..reading.options
        },
    })
}

/// Options as far as they are read.
#[derive(Clone, Default)]
struct Reading<'a> {
    options: HighlightOptions,
    kind: Option<&'a str>,
    has_before: bool,
    has_after: bool,
    /// All tags, of which `fvh` gives each part of a query its own.
    before: Vec<String>,
    after: Vec<String>,
    ends: Option<Ends>,
    /// Where pieces of `fvh` may end, and how far from where they would.
    characters: Option<Vec<u16>>,
    scanned: Option<usize>,
    phrases_max: Option<usize>,
    margin: Option<usize>,
}

/// What pieces end with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    Characters,
    Sentences,
    Words,
}

/// Tags of the schema `styled`.
const STYLES: usize = 10;

impl<'a> Reading<'a> {
    /// The options of a field, with those of all fields where it has none of its own.
    fn of_field(shared: &Reading<'a>, value: &'a Value) -> Result<Self, DslError> {
        let mut own = Reading {
            has_before: false,
            has_after: false,
            ..shared.clone()
        };
        for field in Field::all("highlight_field", value)? {
            match field.name {
                // Below 0 it is none.
                "fragment_offset" => own.margin = usize::try_from(field.integer()?).ok(),
                "matched_fields" => {
                    field.texts()?;
                }
                _ => own.read(field)?,
            }
        }
        own.check_tags(value)?;
        Ok(own)
    }

    fn read(&mut self, field: Field<'a>) -> Result<(), DslError> {
        let options = &mut self.options;
        match field.name {
            "pre_tags" => {
                self.has_before = true;
                self.before = field.texts()?;
                set_first(&mut options.before, &self.before);
            }
            "post_tags" => {
                self.has_after = true;
                self.after = field.texts()?;
                set_first(&mut options.after, &self.after);
            }
            "fragment_size" => options.fragment_size = field.size()?,
            "number_of_fragments" => options.fragments_max = field.size()?.min(FRAGMENTS_MAX),
            "no_match_size" => options.no_match_size = field.size()?,
            "require_field_match" => options.same_field = field.flag()?,
            "order" => options.best_first = field.text()?.eq_ignore_ascii_case("score"),
            "highlight_query" => {
                let query = dsl::parse_query(field.object()?);
                options.query = Some(query.map_err(|error| field.wrong(error))?);
            }
            "type" => {
                let kind = field.text()?;
                options.plain = kind == "plain";
                self.kind = Some(kind);
            }
            "max_analyzer_offset" | "max_analyzed_offset" => {
                options.analyzed_max = Some(analyzer_offset(field)?);
            }
            "boundary_scanner" => {
                let ends = ends_of(field)?;
                options.by_word = ends == Ends::Words;
                self.ends = Some(ends);
            }
            "fragmenter" => options.ends_short = ends_short(field)?,
            "boundary_chars" => {
                self.characters = Some(field.text()?.encode_utf16().collect());
            }
            "boundary_max_scan" => self.scanned = Some(count_of(field)?),
            "phrase_limit" => self.phrases_max = Some(count_of(field)?),
            // Sentences end where they do whatever this says, and the source is what is read.
            "boundary_scanner_locale" => {
                field.text()?;
            }
            "force_source" | "highlight_filter" => {
                field.flag()?;
            }
            "options" => {
                field.object()?;
            }
            _ => return Err(field.unknown(OPTIONS)),
        }
        Ok(())
    }

    /// What `fvh` is asked for.
    fn fast(&self) -> FastOptions {
        let usual = FastOptions::default();
        let boundary = match (self.ends, usual.boundary) {
            (Some(Ends::Sentences), _) => Boundary::Sentences,
            (Some(Ends::Words), _) => Boundary::Words,
            (
                Some(Ends::Characters) | None,
                Boundary::Characters {
                    characters,
                    scanned,
                },
            ) => Boundary::Characters {
                characters: self.characters.clone().unwrap_or(characters),
                scanned: self.scanned.unwrap_or(scanned),
            },
            (Some(Ends::Characters) | None, other) => other,
        };
        let one = |all: &[String], number: usize, first: &String| {
            all.get(number).unwrap_or(first).clone()
        };
        let tags = (0..self.before.len().max(self.after.len()).max(1)).map(|number| {
            let before = one(&self.before, number, &self.options.before);
            (before, one(&self.after, number, &self.options.after))
        });
        FastOptions {
            tags: tags.collect(),
            boundary,
            phrases_max: self.phrases_max.unwrap_or(usual.phrases_max),
            margin: self.margin,
        }
    }

    fn tags_of_schema(&mut self, field: Field<'_>) -> Result<(), DslError> {
        match field.text()? {
            "styled" => {
                let style = |number: usize| format!("<em class=\"hlt{number}\">");
                self.before = (1..=STYLES).map(style).collect();
                self.after = vec!["</em>".to_string()];
                set_first(&mut self.options.before, &self.before);
                set_first(&mut self.options.after, &self.after);
                Ok(())
            }
            "default" => Ok(()),
            other => {
                let reason = format!("Unknown tag schema [{other}]");
                Err(field.wrong(DslError::illegal(reason)))
            }
        }
    }

    /// What stands before a word says nothing without what stands behind it.
    fn check_tags(&self, value: &Value) -> Result<(), DslError> {
        if self.has_before && !self.has_after {
            let reason = "pre_tags are set but post_tags are not set";
            return Err(DslError::parsing(reason).at(Spot::end_of(value)));
        }
        Ok(())
    }
}

/// Whether a fragmenter of `plain` leaves a short piece at the end.
fn ends_short(field: Field<'_>) -> Result<bool, DslError> {
    match field.text()? {
        "simple" => Ok(true),
        "span" => Ok(false),
        other => {
            let reason = format!("unknown fragmenter option [{other}] for the field");
            Err(DslError::illegal(reason))
        }
    }
}

/// The first of several tags, which all words get but those of `fvh`.
fn set_first(tag: &mut String, given: &[String]) {
    if let Some(first) = given.first() {
        tag.clone_from(first);
    }
}

/// A number of things, of which less than none is none.
fn count_of(field: Field<'_>) -> Result<usize, DslError> {
    Ok(usize::try_from(field.integer()?).unwrap_or_default())
}

/// Characters that are looked through, of which there must be some.
fn analyzer_offset(field: Field<'_>) -> Result<usize, DslError> {
    let number = field.integer()?;
    if number < 1 {
        let reason = format!("the value [{number}] of max_analyzer_offset is invalid");
        return Err(DslError::illegal(reason));
    }
    field.size()
}

/// What pieces end with: but for those of `fvh`, which know of certain characters, those are taken for sentences.
fn ends_of(field: Field<'_>) -> Result<Ends, DslError> {
    let name = field.text()?.to_uppercase();
    match name.as_str() {
        "WORD" => Ok(Ends::Words),
        "SENTENCE" => Ok(Ends::Sentences),
        "CHARS" => Ok(Ends::Characters),
        _ => {
            let reason = format!(
                "No enum constant org.opensearch.search.fetch.subphase.highlight.HighlightBuilder.BoundaryScannerType.{name}"
            );
            Err(field.wrong(DslError::illegal(reason)))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::search::highlight::Highlight;

    #[test]
    fn a_field_overrides_what_holds_for_all() {
        let highlight = Highlight::parse(&json!({
            "pre_tags": ["<b>"], "post_tags": ["</b>"], "fragment_size": 10,
            "fields": {"a": {}, "b": {"fragment_size": 20, "require_field_match": false}},
        }));
        let fields = highlight.unwrap().unwrap().fields;
        assert_eq!(fields[0].options.before, "<b>");
        assert_eq!(fields[0].options.fragment_size, 10);
        assert_eq!(fields[1].options.fragment_size, 20);
        assert!(!fields[1].options.same_field);
        assert_eq!(fields[0].options.fast, None);
        let fast = Highlight::parse(&json!({
            "type": "fvh", "tags_schema": "styled", "boundary_max_scan": 5, "phrase_limit": 7,
            "fields": {
                "a": {"boundary_chars": "x", "fragment_offset": 4},
                "b": {"pre_tags": ["<1>", "<2>"], "post_tags": ["</>"], "boundary_scanner": "word"},
                "c": {"type": "plain"},
            },
        }));
        let fields = fast.unwrap().unwrap().fields;
        let fast = |at: usize| fields[at].options.fast.clone();
        let a = fast(0).unwrap();
        let boundary = Boundary::Characters {
            characters: vec![u16::from(b'x')],
            scanned: 5,
        };
        assert_eq!(
            (a.boundary, a.phrases_max, a.margin),
            (boundary, 7, Some(4))
        );
        let second = "<em class=\"hlt2\">".to_string();
        assert_eq!(a.tags.len(), STYLES);
        assert_eq!(a.tags[1], (second, "</em>".to_string()));
        let b = fast(1).unwrap();
        assert_eq!(b.boundary, Boundary::Words);
        let tag = |before: &str| (before.to_string(), "</>".to_string());
        assert_eq!(b.tags, [tag("<1>"), tag("<2>")]);
        assert_eq!(fast(2), None);
        assert!(Highlight::parse(&json!({})).unwrap().is_none());
        assert!(Highlight::parse(&json!({"fields": {"a": {"x": 1}}})).is_err());
        for refused in [
            json!({"type": "x"}),
            json!({"boundary_scanner": "x"}),
            json!({"fragmenter": "x"}),
        ] {
            assert!(Highlight::parse(&json!({"fields": {"a": refused}})).is_err());
        }
        // It is an option of fields alone.
        assert!(Highlight::parse(&json!({"fragment_offset": 1, "fields": {"a": {}}})).is_err());
        let many: Vec<Value> = vec![json!({"a": {"type": "x"}}); FIELDS_MAX + 1];
        let error = Highlight::parse(&json!({"fields": many})).err().unwrap();
        assert!(error.reason.contains("fields to highlight"));
    }
}
