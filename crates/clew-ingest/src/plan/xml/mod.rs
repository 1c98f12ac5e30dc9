//! `xml`: a text that is an XML document as a field, or as fields of the event, and parts of it by their paths. What an element says
//! is a text; one with attributes or elements in it is an object of them, and what else it says is under a name of its own.
//!
//! Nothing is fetched for a document, and none that brings definitions of its own (`<!DOCTYPE`) is taken; declarations of
//! namespaces and prefixes of names are left out.

mod bounds;
mod path;
mod select;

use roxmltree::{Document, Node, ParsingOptions};
use serde_json::{Map, Value as Json};

use super::cut::line_of;
use super::read::slot;
use super::step::{Step, Work};
use crate::error::DefinitionError;
use crate::event::{Event, Reason, Slot};
use crate::members::{flag, not_a, optional, text};
use crate::pipeline::Flow;
use path::Expression;

/// Paths that a step may have.
const PATHS_MAX: usize = 100;

/// How an element becomes a value.
#[derive(Debug)]
struct Shape {
    /// Where an element's own text goes that has attributes or elements beside it.
    text_field: String,
    /// Texts are objects with that one member, too.
    has_text_objects: bool,
    /// Elements are items of lists, be they alone or not.
    has_lists: bool,
    /// Names lose their capital letters.
    lowercases: bool,
    empty: Empty,
}

/// What becomes of an element that has nothing in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Empty {
    Text,
    Object,
    Dropped,
}

/// Where a document goes.
#[derive(Debug)]
enum Target {
    Nowhere,
    Root,
    Field(Slot),
}

/// The step.
#[derive(Debug)]
struct Xml {
    field: Slot,
    target: Target,
    /// Whether the outermost element is a member, too.
    keeps_root: bool,
    shape: Shape,
    paths: Vec<(Expression, Slot)>,
    prefixes: Vec<(String, String)>,
    ignore_missing: bool,
}

pub(super) fn read_xml(
    event: &mut Event,
    config: &mut Map<String, Json>,
) -> Result<Box<dyn Step>, DefinitionError> {
    let field = slot(event, &text(config, "field")?)?;
    let paths = read_paths(event, config)?;
    let target = match optional(config, "target_field")? {
        Some(target) => Target::Field(slot(event, &target)?),
        None if flag(config, "add_to_root", false)? => Target::Root,
        None if paths.is_empty() => Target::Field(field),
        None => Target::Nowhere,
    };
    let empty = match optional(config, "empty")?.as_deref() {
        None | Some("text") => Empty::Text,
        Some("object") => Empty::Object,
        Some("drop") => Empty::Dropped,
        Some(_) => {
            let wanted = "must be text, object or drop";
            return Err(DefinitionError::refused("empty", wanted));
        }
    };
    let shape = Shape {
        text_field: optional(config, "text_field")?.unwrap_or_else(|| "#text".to_owned()),
        has_text_objects: flag(config, "text_objects", false)?,
        has_lists: flag(config, "lists", false)?,
        lowercases: flag(config, "lowercase", false)?,
        empty,
    };
    Ok(Box::new(Xml {
        field,
        target,
        keeps_root: flag(config, "keep_root", true)?,
        shape,
        paths,
        prefixes: texts_by_name(config, "namespaces")?,
        ignore_missing: flag(config, "ignore_missing", false)?,
    }))
}

/// `paths`: fields by the expressions that say what goes into each.
fn read_paths(
    event: &mut Event,
    config: &mut Map<String, Json>,
) -> Result<Vec<(Expression, Slot)>, DefinitionError> {
    let given = texts_by_name(config, "paths")?;
    if given.len() > PATHS_MAX {
        let wanted = format!("has more than [{PATHS_MAX}]");
        return Err(DefinitionError::refused("paths", wanted));
    }
    let mut paths = Vec::with_capacity(given.len());
    for (written, field) in given {
        let expression = Expression::parse(&written)
            .map_err(|reason| DefinitionError::refused("paths", format!("[{written}] {reason}")))?;
        paths.push((expression, slot(event, &field)?));
    }
    Ok(paths)
}

/// A member that is an object of texts, if it is there.
fn texts_by_name(
    config: &mut Map<String, Json>,
    key: &str,
) -> Result<Vec<(String, String)>, DefinitionError> {
    let given = match config.remove(key) {
        None | Some(Json::Null) => return Ok(Vec::new()),
        Some(Json::Object(given)) => given,
        Some(other) => return Err(not_a("map", key, &other)),
    };
    let pair = |(name, value): (String, Json)| match value {
        Json::String(value) => Ok((name, value)),
        other => Err(not_a("string", &format!("{key}.{name}"), &other)),
    };
    given.into_iter().map(pair).collect()
}

/// What a step has found in a text.
struct Found {
    /// As JSON, if it goes somewhere.
    document: Option<Json>,
    parts: Vec<(Slot, Json)>,
}

impl Step for Xml {
    fn apply(&mut self, event: &mut Event, _: &mut Work) -> Result<Flow, Reason> {
        let Some(line) = line_of(event, self.field, self.ignore_missing)? else {
            return Ok(Flow::On);
        };
        let found = self.find(event.at(line).trim())?;
        match (&self.target, found.document) {
            (Target::Root, Some(document @ Json::Object(_))) => {
                let json = event.own(|out| out.push_str(&document.to_string()));
                event.put_members(None, json)?;
            }
            (Target::Root, Some(_)) => return Err(Reason::NotAnObject),
            (Target::Field(target), Some(document)) => {
                event.put_json(*target, &document.to_string())?;
            }
            (Target::Nowhere, _) | (_, None) => {}
        }
        for (field, value) in found.parts {
            event.put_json(field, &value.to_string())?;
        }
        Ok(Flow::On)
    }
}

impl Xml {
    fn find(&self, text: &str) -> Result<Found, Reason> {
        if !bounds::is_within(text) {
            return Err(Reason::TooLong);
        }
        let options = ParsingOptions {
            allow_dtd: false,
            nodes_limit: bounds::NODES_MAX,
            ..ParsingOptions::default()
        };
        let document =
            Document::parse_with_options(text, options).map_err(|error| match error {
                roxmltree::Error::NodesLimitReached => Reason::TooLong,
                _ => Reason::NotXml,
            })?;
        let document_value = match self.target {
            Target::Nowhere => None,
            Target::Root | Target::Field(_) => Some(self.whole(document.root_element())),
        };
        let mut parts = Vec::with_capacity(self.paths.len());
        for (path, field) in &self.paths {
            let mut texts = select::select(path, document.root(), &self.prefixes)?;
            let value = match texts.len() {
                0 => continue,
                1 if !self.shape.has_lists => Json::String(texts.remove(0)),
                _ => Json::from(texts),
            };
            parts.push((*field, value));
        }
        Ok(Found {
            document: document_value,
            parts,
        })
    }

    fn whole(&self, first: Node<'_, '_>) -> Json {
        let value = self.shape.value(first);
        if !self.keeps_root {
            return value;
        }
        let mut around = Map::new();
        around.insert(self.shape.name(first.tag_name().name()), value);
        Json::Object(around)
    }
}

impl Shape {
    fn name(&self, written: &str) -> String {
        match self.lowercases {
            true => written.to_lowercase(),
            false => written.to_owned(),
        }
    }

    /// What an element says. Elements inside each other are bounded before.
    fn value(&self, element: Node<'_, '_>) -> Json {
        let mut members = Map::new();
        for attribute in element.attributes() {
            let name = self.name(attribute.name());
            put(&mut members, name, attribute.value().into());
        }
        let mut own = String::new();
        for child in element.children() {
            if child.is_element() {
                if let Some(value) = self.value_in_another(child) {
                    self.put_element(&mut members, self.name(child.tag_name().name()), value);
                }
            } else if child.is_text() {
                own.push_str(child.text().unwrap_or_default());
            }
        }
        let own = own.trim();
        if members.is_empty() && !self.has_text_objects && !own.is_empty() {
            return own.into();
        }
        if members.is_empty() && own.is_empty() && self.empty == Empty::Text {
            return Json::String(String::new());
        }
        if !own.is_empty() {
            put(&mut members, self.text_field.clone(), own.into());
        }
        Json::Object(members)
    }

    /// The same of one that is inside another, unless it is dropped.
    fn value_in_another(&self, element: Node<'_, '_>) -> Option<Json> {
        let value = self.value(element);
        let is_empty = value.as_object().is_some_and(Map::is_empty);
        Some(value).filter(|_| !is_empty || self.empty != Empty::Dropped)
    }

    fn put_element(&self, members: &mut Map<String, Json>, name: String, value: Json) {
        match self.has_lists && !members.contains_key(&name) {
            true => {
                members.insert(name, Json::Array(vec![value]));
            }
            false => put(members, name, value),
        }
    }
}

/// Sets a member, or puts a value behind what is there.
fn put(members: &mut Map<String, Json>, name: String, value: Json) {
    match members.get_mut(&name) {
        None => {
            members.insert(name, value);
        }
        // No value is a list but one that was made here.
        Some(Json::Array(items)) => items.push(value),
        Some(first) => {
            let before = first.take();
            *first = Json::Array(vec![before, value]);
        }
    }
}

#[cfg(test)]
mod tests;
