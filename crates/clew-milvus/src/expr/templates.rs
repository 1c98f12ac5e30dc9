//! Values that come beside an expression, by name, and the zone of what it says of time.

use std::collections::HashMap;

use bytes::Bytes;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::roaring;
use crate::error::{MilvusError, Result};
use crate::proto::{self, template_array_value, template_value};

/// So many values of lists take too little to tell.
const SHORT_ITEMS: usize = 2_048;
/// How deep lists may be nested.
const DEPTH_MAX: usize = 16;

/// The values, and the zone of moments that say no offset: the collection's where there is none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Templates {
    values: HashMap<String, Value>,
    /// Those that are bytes, which functions read.
    blobs: HashMap<String, Bytes>,
    zone: Option<TimeZone>,
}

impl Templates {
    /// Reads the values of a request.
    ///
    /// # Errors
    /// For values of a kind that no expression takes.
    pub(crate) fn read(values: HashMap<String, proto::TemplateValue>) -> Result<Templates> {
        let mut read = Templates::default();
        for (name, value) in values {
            if let Some(template_value::Val::BytesVal(blob)) = value.val {
                read.blobs.insert(name, blob);
                continue;
            }
            let value = value_of(value, &name)?;
            read.values.insert(name, value);
        }
        Ok(read)
    }

    /// The same with the zone that a request names, if it names one.
    pub(crate) fn in_zone(self, zone: Option<TimeZone>) -> Templates {
        Templates { zone, ..self }
    }

    pub(super) fn zone(&self) -> Option<&TimeZone> {
        self.zone.as_ref()
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    pub(super) fn blob(&self, name: &str) -> Option<&Bytes> {
        self.blobs.get(name)
    }
}

/// Memory that the values of long lists take beside what the request takes, so many bytes for each wherever the expression
/// names it, as [`super::memory_bytes`] has it.
pub(super) fn memory_bytes(
    text: &str,
    values: &HashMap<String, proto::TemplateValue>,
    item_bytes: usize,
) -> usize {
    let items_of = |value: &proto::TemplateValue| match &value.val {
        Some(template_value::Val::ArrayVal(list)) => items(list),
        Some(template_value::Val::BytesVal(blob)) => {
            roaring::claimed(blob).min(roaring::MEMBERS_MAX)
        }
        _ => 0,
    };
    let mut named: HashMap<&str, usize> = HashMap::new();
    for rest in text.split('{').skip(1) {
        if let Some((name, _)) = rest.split_once('}') {
            *named.entry(name.trim()).or_default() += 1;
        }
    }
    let items = values.iter().map(|(name, value)| {
        let times = named.get(name.as_str()).copied().unwrap_or(1);
        items_of(value).saturating_mul(times)
    });
    let items = items.fold(0, usize::saturating_add);
    match items > SHORT_ITEMS {
        true => items.saturating_mul(item_bytes),
        false => 0,
    }
}

fn items(list: &proto::TemplateArrayValue) -> usize {
    use template_array_value::Data;
    match &list.data {
        None => 0,
        Some(Data::BoolData(items)) => items.data.len(),
        Some(Data::LongData(items)) => items.data.len(),
        Some(Data::DoubleData(items)) => items.data.len(),
        Some(Data::StringData(items)) => items.data.len(),
        Some(Data::JsonData(items)) => items.data.len(),
        Some(Data::ArrayData(lists)) => lists.data.iter().map(items).sum(),
    }
}

fn value_of(value: proto::TemplateValue, name: &str) -> Result<Value> {
    use template_value::Val;
    let missing = || MilvusError::invalid(format!("the template value {name} is empty"));
    Ok(match value.val.ok_or_else(missing)? {
        Val::BoolVal(value) => value.into(),
        Val::Int64Val(value) => value.into(),
        Val::FloatVal(value) => value.into(),
        Val::StringVal(value) => value.into(),
        Val::ArrayVal(list) => list_of(list, name, 0)?,
        Val::BytesVal(_) => {
            return Err(MilvusError::Unsupported(format!(
                "the template value {name} of bytes"
            )));
        }
    })
}

fn list_of(list: proto::TemplateArrayValue, name: &str, depth: usize) -> Result<Value> {
    use template_array_value::Data;
    if depth > DEPTH_MAX {
        return Err(MilvusError::invalid(format!(
            "the template value {name} is nested too deep"
        )));
    }
    let items: Vec<Value> = match list.data {
        None => Vec::new(),
        Some(Data::BoolData(items)) => items.data.into_iter().map(Value::from).collect(),
        Some(Data::LongData(items)) => items.data.into_iter().map(Value::from).collect(),
        Some(Data::DoubleData(items)) => items.data.into_iter().map(Value::from).collect(),
        Some(Data::StringData(items)) => items.data.into_iter().map(Value::from).collect(),
        Some(Data::JsonData(items)) => items
            .data
            .iter()
            .map(|json| {
                serde_json::from_slice(json).map_err(|error| {
                    MilvusError::invalid(format!("the template value {name} is no JSON: {error}"))
                })
            })
            .collect::<Result<_>>()?,
        Some(Data::ArrayData(lists)) => lists
            .data
            .into_iter()
            .map(|list| list_of(list, name, depth + 1))
            .collect::<Result<_>>()?,
    };
    Ok(Value::Array(items))
}
