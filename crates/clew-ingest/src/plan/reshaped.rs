//! What `kv` makes of its pairs for lines alone, as Logstash's does: letters taken out of them or changed, values that have pairs
//! themselves. Only where one of these is asked for an object is made of a text; else pairs stay parts of it.

use serde_json::{Map, Value as Json};

use super::pairs::Quotes;
use crate::error::DefinitionError;
use crate::event::Reason;
use crate::members::{flag, optional};
use crate::steps::structured::KeyValues;
use crate::text::{PairValue, Values, quoted_pairs};

/// Values that have pairs inside each other.
const DEPTH_MAX: usize = 16;

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reshaped {
    key: Letters,
    value: Letters,
    /// Whether a value that its key has already is another item of the list.
    repeats: bool,
    is_recursive: bool,
    values: Values,
}

impl Reshaped {
    /// Takes it out of the parameters of a step; nothing where it asks for nothing. Values stand in quotes then.
    pub(super) fn take(
        config: &mut Map<String, Json>,
        quotes: Quotes,
    ) -> Result<Option<Self>, DefinitionError> {
        let usual = Reshaped {
            key: Letters::default(),
            value: Letters::default(),
            repeats: true,
            is_recursive: false,
            values: Values::default(),
        };
        let asked = Reshaped {
            key: Letters::take(config, "remove_char_key", "transform_key")?,
            value: Letters::take(config, "remove_char_value", "transform_value")?,
            repeats: flag(config, "allow_duplicate_values", true)?,
            is_recursive: flag(config, "recursive", false)?,
            values: Values {
                in_brackets: flag(config, "include_brackets", true)?,
                empty: flag(config, "allow_empty_values", false)?,
            },
        };
        if asked == usual {
            return Ok(None);
        }
        match quotes {
            Quotes::AroundValues => Ok(Some(asked)),
            Quotes::Letters => Err(DefinitionError::refused(
                "quotes",
                "must be true where pairs are changed",
            )),
        }
    }

    /// The pairs of a text. Of a key that is there more than once the values are a list.
    ///
    /// # Errors
    /// When looking for separators takes too many steps.
    pub(super) fn object_of(
        &self,
        text: &str,
        step: &KeyValues,
    ) -> Result<Map<String, Json>, Reason> {
        self.object_at(text, step, 0)
    }

    fn object_at(
        &self,
        text: &str,
        step: &KeyValues,
        depth: usize,
    ) -> Result<Map<String, Json>, Reason> {
        let mut found = Vec::new();
        let separators = (&step.between_pairs, &step.within_pair);
        quoted_pairs(text, separators, self.values, &mut found).map_err(|_| Reason::TooLong)?;
        let mut object = Map::new();
        for pair in found {
            let PairValue::Text(value) = pair.value else {
                continue;
            };
            let (key, value) = step.trimmed(pair.key.of(text), value.of(text));
            let (key, value) = (self.key.of(key), self.value.of(value));
            if !step.wants(&key) {
                continue;
            }
            let inside = match self.is_recursive && depth < DEPTH_MAX {
                true => self.object_at(&value, step, depth + 1)?,
                false => Map::new(),
            };
            // Inside of others the prefix is a part of the name; at the root whoever sets the field puts it there.
            let key = match depth {
                0 => key,
                _ => format!("{}{key}", step.prefix),
            };
            let value = match inside.is_empty() {
                true => Json::String(value),
                false => Json::Object(inside),
            };
            self.put(&mut object, key, value);
        }
        Ok(object)
    }

    fn put(&self, object: &mut Map<String, Json>, key: String, value: Json) {
        match object.get_mut(&key) {
            None => {
                object.insert(key, value);
            }
            Some(Json::Array(items)) => {
                if self.repeats || !items.contains(&value) {
                    items.push(value);
                }
            }
            Some(one) => {
                if self.repeats || *one != value {
                    *one = Json::Array(vec![one.take(), value]);
                }
            }
        }
    }
}

/// How letters of a text change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    Lower,
    Upper,
    /// The first is large, the others are small.
    Capital,
}

/// What is done with the letters of a text.
#[derive(Debug, Default, PartialEq, Eq)]
struct Letters {
    removed: Vec<char>,
    case: Option<Case>,
}

impl Letters {
    fn take(
        config: &mut Map<String, Json>,
        removed: &str,
        transform: &str,
    ) -> Result<Self, DefinitionError> {
        let case = match optional(config, transform)?.as_deref() {
            None => None,
            Some("lowercase") => Some(Case::Lower),
            Some("uppercase") => Some(Case::Upper),
            Some("capitalize") => Some(Case::Capital),
            Some(other) => {
                let reason = format!("is [lowercase], [uppercase] or [capitalize], not [{other}]");
                return Err(DefinitionError::refused(transform, reason));
            }
        };
        let removed = optional(config, removed)?.unwrap_or_default();
        Ok(Letters {
            removed: removed.chars().collect(),
            case,
        })
    }

    fn of(&self, text: &str) -> String {
        let kept = text.chars().filter(|letter| !self.removed.contains(letter));
        let text: String = kept.collect();
        match self.case {
            None => text,
            Some(Case::Lower) => text.to_lowercase(),
            Some(Case::Upper) => text.to_uppercase(),
            Some(Case::Capital) => {
                let mut letters = text.chars();
                let first = letters.next().into_iter().flat_map(char::to_uppercase);
                let rest = letters.as_str().to_lowercase();
                first.chain(rest.chars()).collect()
            }
        }
    }
}
