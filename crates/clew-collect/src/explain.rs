//! What each step of the processors makes of a line, for whoever writes a configuration.

use clew_ingest::Flow;

use crate::config::{ConfigError, ProcessorConfig};
use crate::document::{Encoder, Line, Origin};
use crate::options::ParserChoice;
use crate::parse::{ParserName, Times, choose};
use crate::planned::Planned;

/// What a step left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The parser or the step.
    pub step: String,
    /// The document after it.
    pub document: String,
    /// Why it failed, or that the event ends there.
    pub ended: Option<String>,
}

/// Shows what processors make of lines, one by one.
#[derive(Debug)]
pub struct Explainer {
    encoder: Encoder,
    parser: ParserName,
    offset: u64,
}

impl Explainer {
    /// Compiles processors; the parser is chosen by some of the lines, unless it is named.
    ///
    /// # Errors
    /// What is wrong with a processor.
    pub fn new(
        parse: ParserChoice,
        processors: &[ProcessorConfig],
        (path, sample): (&str, &str),
        mut times: Times,
    ) -> Result<Self, ConfigError> {
        let parser = match parse {
            ParserChoice::Named(parser) => parser,
            ParserChoice::Auto => choose(path, sample, &mut times).unwrap_or(ParserName::Plain),
        };
        let planned = Planned::compile(processors)?;
        Ok(Explainer {
            encoder: Encoder::new("localhost", times).with_plans(vec![Some(planned)]),
            parser,
            offset: 0,
        })
    }

    /// What each step makes of a line: the parser first, then every processor until one ends it.
    pub fn explain(&mut self, path: &str, text: &str) -> Vec<Explained> {
        let line = Line {
            bytes: text.as_bytes(),
            offset: self.offset,
            checksum: 0,
            cut: false,
            stream: None,
            time_ms: None,
        };
        self.offset += text.len() as u64 + 1;
        let origin = Origin::new(path, 0);
        let now_ms = self.encoder.times.now_ms;
        let Some((planned, refused)) = self.encoder.begin(&line, self.parser, &origin) else {
            return Vec::new();
        };
        let shown = |planned: &Planned| {
            let mut out = Vec::new();
            planned.plan.event.write(&mut out);
            String::from_utf8_lossy(&out).into_owned()
        };
        let mut all = vec![Explained {
            step: self.parser.as_str().to_owned(),
            document: shown(planned),
            ended: refused.then(|| "the parser cannot take the line".to_owned()),
        }];
        for number in 0..planned.plan.len() {
            let done = planned.plan.run_some(number..number + 1, now_ms);
            let ended = match done {
                Ok(Flow::On) => None,
                Ok(Flow::Dropped) => Some("dropped".to_owned()),
                Err(reason) => Some(reason.to_string()),
            };
            let (name, tag) = planned.plan.step_name(number).unwrap_or_default();
            let is_last = ended.is_some();
            all.push(Explained {
                step: tag.map_or_else(|| name.to_owned(), |tag| format!("{name} [{tag}]")),
                document: shown(planned),
                ended,
            });
            if is_last {
                break;
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_step_is_shown_until_one_ends_the_event() {
        let processors = [
            json!({"dissect": {"field": "message", "pattern": "%{a} %{b}", "tag": "cut"}}),
            json!({"drop": {"if": {"equals": {"a": "x"}}}}),
            json!({"keep": {"field": "b"}}),
        ];
        let processors = processors.map(ProcessorConfig::unnamed);
        let parse = ParserChoice::Named(ParserName::Plain);
        let times = Times::new(jiff::tz::TimeZone::UTC);
        let mut explainer = Explainer::new(parse, &processors, ("/l", ""), times).unwrap();
        let mut steps = |text: &str| {
            let all = explainer.explain("/l", text).into_iter();
            let all = all.map(|one| (one.step, one.ended.unwrap_or_default()));
            all.collect::<Vec<_>>()
        };
        let step = |name: &str, ended: &str| (name.to_owned(), ended.to_owned());
        assert_eq!(
            steps("1 2"),
            [
                step("plain", ""),
                step("dissect [cut]", ""),
                step("drop", ""),
                step("keep", "")
            ]
        );
        assert_eq!(
            steps("x 2"),
            [
                step("plain", ""),
                step("dissect [cut]", ""),
                step("drop", "dropped")
            ]
        );
        assert_eq!(
            steps("x"),
            [step("plain", ""), step("dissect [cut]", "no_match")]
        );
        let last = explainer.explain("/l", "1 2").pop().unwrap();
        assert_eq!(last.document, r#"{"b":"2"}"#);
    }
}
