//! The terms of texts, as `_analyze` shows them.

use clew_analysis::{Token, Utf16Places};
use clew_query::unless_stopped;
use serde_json::{Value, json};

use super::TOKENS_MAX_SETTING;
use crate::http::error::ApiError;

/// The terms of several texts, which follow each other like values of one field.
pub(super) struct Shown(Vec<(Value, Token)>);

impl Shown {
    /// At most so many of them, with so many positions between two texts.
    pub(super) fn of(
        texts: &[String],
        (max, gap): (usize, usize),
        tokens: impl Fn(&str) -> Vec<Token>,
    ) -> Result<Shown, ApiError> {
        let mut shown = Vec::new();
        let (mut position_base, mut offset_base) = (0, 0);
        for text in texts {
            unless_stopped()?;
            let found = tokens(text);
            if shown.len() + found.len() > max {
                return Err(too_many(max));
            }
            // A text without terms takes no place of its own.
            let taken = found.last().map_or(0, |last| last.position + 1);
            let mut places = Utf16Places::new(text);
            for token in found {
                let place = places.of(token.start, token.end);
                let mut one = json!({
                    "token": token.text,
                    "start_offset": offset_base + place.start,
                    "end_offset": offset_base + place.end,
                    "type": token.kind,
                    "position": position_base + token.position,
                });
                if token.length > 1 {
                    one["positionLength"] = token.length.into();
                }
                shown.push((one, token));
            }
            offset_base += places.length() + 1;
            position_base += taken + gap;
        }
        Ok(Shown(shown))
    }

    pub(super) fn plain(self) -> Vec<Value> {
        self.0.into_iter().map(|(one, _)| one).collect()
    }

    /// With what Lucene keeps of each term, or the named attributes of it.
    pub(super) fn explained(self, attributes: &[String]) -> Vec<Value> {
        let explain = |(mut one, token): (Value, Token)| {
            let bytes: Vec<String> = token.text.bytes().map(|b| format!("{b:x}")).collect();
            let bytes = Value::from(format!("[{}]", bytes.join(" ")));
            for (name, value) in [
                ("bytes", Some(bytes)),
                ("keyword", token.keyword.map(Value::from)),
                ("positionLength", Some(token.length.into())),
                ("termFrequency", Some(1.into())),
            ] {
                let Some(value) = value else {
                    continue;
                };
                if attributes.is_empty() || attributes.contains(&name.to_lowercase()) {
                    one[name] = value;
                }
            }
            one
        };
        self.0.into_iter().map(explain).collect()
    }
}

fn too_many(max: usize) -> ApiError {
    ApiError::bad_request(
        "illegal_state_exception",
        format!(
            "The number of tokens produced by calling _analyze has exceeded the allowed maximum of \
             [{max}]. This limit can be set by changing the [{TOKENS_MAX_SETTING}] index level \
             setting."
        ),
    )
}

#[cfg(test)]
mod tests {
    use clew_analysis::{POSITION_GAP, tokens};
    use clew_platform::CancellationToken;

    use super::*;

    #[test]
    fn offsets_are_counted_as_clients_count_them() {
        let texts = ["Größe 😀 x1".to_string(), "42".to_string()];
        let shown = |max| Shown::of(&texts, (max, POSITION_GAP), |text| tokens("standard", text));
        assert!(shown(2).is_err());
        let shown = shown(10).unwrap().plain();
        let part = |at: usize, key: &str| shown[at][key].clone();
        assert_eq!(part(0, "token"), "größe");
        assert_eq!(part(0, "end_offset"), 5);
        let last = shown.len() - 1;
        assert_eq!(part(last, "type"), "<NUM>");
        assert_eq!(part(last, "start_offset"), 12);
        assert!(part(last, "position").as_u64().unwrap() > 100);
    }

    #[test]
    fn texts_are_cut_for_somebody_alone() {
        let token = CancellationToken::new();
        token.cancel("by user request");
        let _entered = token.enter();
        let shown = Shown::of(&["".to_string()], (10, POSITION_GAP), |_| {
            panic!("it was cut")
        });
        assert!(shown.is_err());
    }

    #[test]
    fn a_text_without_terms_takes_no_place() {
        let texts = ["".to_string(), "a b".to_string(), "c".to_string()];
        let shown = Shown::of(&texts, (10, POSITION_GAP), |text| tokens("standard", text));
        let places: Vec<_> = shown
            .unwrap()
            .plain()
            .iter()
            .map(|one| one["position"].as_u64())
            .collect();
        assert_eq!(places, [Some(100), Some(101), Some(202)]);
    }
}
