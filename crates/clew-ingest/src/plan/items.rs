//! `remove_item`: takes items out of a list, such as tags.

use serde_json::{Map, Value as Json};

use super::read::slot;
use super::step::{Step, Work};
use crate::error::DefinitionError;
use crate::event::{Event, Reason, Slot, Value};
use crate::members::text;
use crate::pipeline::Flow;

/// The step.
#[derive(Debug)]
struct RemoveItem {
    field: Slot,
    items: Vec<Json>,
}

pub(super) fn read_remove_item(
    event: &mut Event,
    config: &mut Map<String, Json>,
) -> Result<Box<dyn Step>, DefinitionError> {
    let items = match config.remove("value") {
        None | Some(Json::Null) => return Err(DefinitionError::missing("value")),
        Some(Json::Array(items)) => items,
        Some(one) => vec![one],
    };
    Ok(Box::new(RemoveItem {
        field: slot(event, &text(config, "field")?)?,
        items,
    }))
}

impl Step for RemoveItem {
    fn apply(&mut self, event: &mut Event, _: &mut Work) -> Result<Flow, Reason> {
        let is_wanted = |item: &Json| !self.items.contains(item);
        match event.whole(self.field) {
            Value::Json(json) if event.at(json).starts_with('[') => {
                let items: Vec<Json> =
                    serde_json::from_str(event.at(json)).map_err(|_| Reason::NotJson)?;
                if !items.iter().all(is_wanted) {
                    let left: Vec<Json> = items.into_iter().filter(is_wanted).collect();
                    event.put_json(self.field, &Json::Array(left).to_string())?;
                }
            }
            // A text that is no list is a list of one.
            _ => {
                let text = event.text_of(self.field);
                if text.is_some_and(|text| self.items.iter().any(|item| item == text)) {
                    event.remove(self.field);
                }
            }
        }
        Ok(Flow::On)
    }
}
