//! What each step of the processors makes of the events of a file, for whoever writes a configuration.

use clew_ingest::Flow;

use crate::document::{Encoder, Origin};
use crate::error::CollectError;
use crate::event::OutputSet;
use crate::feed::FeedAddress;
use crate::frame::{Framing, Group, Rest, Stream, unmarked};
use crate::input::FileRules;
use crate::line::Line;
use crate::options::{CollectOptions, FileOptions};
use crate::parse::{Fit, ParserChoice, ParserName, Times, choose, is_cef};
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

/// One event and its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedEvent {
    /// Its text, without what a container's runtime wraps it in.
    pub text: String,
    /// What each step made of it: the parser first, then every processor until one ends it, then the outputs, if they have
    /// conditions.
    pub steps: Vec<Explained>,
}

/// Shows what processors make of events, one by one.
#[derive(Debug)]
pub struct Explainer {
    encoder: Encoder,
    parser: ParserName,
    fit: Option<Fit>,
    framing: Framing,
    bytes_max: usize,
    origin: Origin,
    outputs: usize,
}

impl Explainer {
    /// Compiles the processors of one input of a run; the parser is chosen by some of the file's bytes, unless it is named.
    ///
    /// # Errors
    /// What is wrong with a processor, a condition or an option.
    pub fn new(
        options: &CollectOptions,
        input: usize,
        (path, bytes): (&str, &[u8]),
        mut times: Times,
    ) -> Result<Self, CollectError> {
        let file = options.files.iter().find(|file| file.plan == input);
        let mut file = file.cloned().unwrap_or(FileOptions::new(Vec::new()));
        let feed = options.feeds.iter().find(|feed| feed.plan == input);
        if let Some(feed) = feed {
            // A file holds no journal as its program tells of it.
            file.parse = match (feed.named_parser(), &feed.address) {
                (Some(parser), address) if !matches!(address, FeedAddress::Journal(_)) => {
                    // One parser shows all lines of the file: that of the first.
                    let first = bytes.split(|byte| *byte == b'\n').next();
                    let has_cef = feed.parse == ParserChoice::Auto && first.is_some_and(is_cef);
                    ParserChoice::Named(if has_cef { ParserName::Cef } else { parser })
                }
                _ => feed.parse,
            };
            file.line_bytes_max = feed.line_bytes_max;
        }
        let rules = FileRules::new(&file)?;
        let encoding = rules.encoding(bytes);
        let chosen = match file.parse {
            ParserChoice::Named(_) => None,
            ParserChoice::Auto => {
                let sample = rules.sample(encoding, bytes, true).unwrap_or_default();
                let chosen = choose(path, &sample, &mut times);
                chosen.filter(|choice| feed.is_none() || choice.parser.joining().begins_alone())
            }
        };
        let (chosen, fit) = chosen.map(|choice| (choice.parser, choice.fit)).unzip();
        let parser = file.parse.named().or(chosen).unwrap_or(ParserName::Plain);
        // Lines that are sent are not joined, whatever their parser knows of them.
        let joins = feed.map_or(parser, |_| ParserName::Plain);
        let processors = options.processors.get(input).map_or(&[][..], Vec::as_slice);
        let planned = Planned::compile(processors, &options.outputs)?;
        Ok(Explainer {
            encoder: Encoder::new(&options.host, times).with_plans(vec![Some(planned)]),
            parser,
            fit,
            framing: rules.framing(encoding, joins),
            bytes_max: file.line_bytes_max,
            origin: Origin::new(path, 0),
            outputs: options.outputs.len(),
        })
    }

    /// The parser of the lines, and how well it fits if it was chosen by them.
    pub fn parser(&self) -> (ParserName, Option<&Fit>) {
        (self.parser, self.fit.as_ref())
    }

    /// The first events of a file.
    pub fn explain(&mut self, bytes: &[u8], events_max: usize) -> Vec<ExplainedEvent> {
        let mut group = Group::default();
        let mut events = Vec::new();
        let mut at = 0;
        let framing = self.framing.clone();
        while framing.first(&bytes[at..], self.bytes_max, Rest::Ends, &mut group) {
            for piece in &group.pieces {
                if events.len() >= events_max {
                    return events;
                }
                let offset = (at + piece.place.start) as u64;
                let text = unmarked(group.bytes(piece, &bytes[at..]), offset);
                if text.trim_ascii().is_empty() {
                    continue;
                }
                let line = Line {
                    bytes: text,
                    offset,
                    checksum: 0,
                    cut: piece.cut,
                    stream: piece.stream.map(Stream::as_str),
                    time_ms: piece.time_ms,
                    message: None,
                };
                events.push(ExplainedEvent {
                    text: String::from_utf8_lossy(text).into_owned(),
                    steps: self.explain_line(&line),
                });
            }
            at += group.end;
        }
        events
    }

    fn explain_line(&mut self, line: &Line<'_>) -> Vec<Explained> {
        let now_ms = self.encoder.times.now_ms;
        let Some((planned, refused)) = self.encoder.begin(line, self.parser, &self.origin) else {
            return Vec::new();
        };
        let mut all = vec![Explained {
            step: self.parser.as_str().to_owned(),
            document: document(planned),
            ended: refused.then(|| "the parser cannot take the line".to_owned()),
        }];
        for number in 0..planned.plan.len() {
            let done = planned.plan.run_some(number..number + 1, now_ms);
            let ended = match done {
                Ok(Flow::On) => None,
                Ok(Flow::Dropped) => Some("dropped".to_owned()),
                Err(reason) => Some(match planned.plan.said() {
                    "" => reason.to_string(),
                    said => format!("{reason}: {said}"),
                }),
            };
            let (name, tag) = planned.plan.step_name(number).unwrap_or_default();
            let is_last = ended.is_some();
            all.push(Explained {
                step: tag.map_or_else(|| name.to_owned(), |tag| format!("{name} [{tag}]")),
                document: document(planned),
                ended,
            });
            if is_last {
                break;
            }
        }
        let is_dropped = all
            .last()
            .is_some_and(|last| last.ended.as_deref() == Some("dropped"));
        if !is_dropped && !planned.settle_time() {
            all.push(Explained {
                step: "@timestamp is no time, and gives way to the event's own".to_owned(),
                document: document(planned),
                ended: None,
            });
        }
        if self.outputs > 0 && !is_dropped {
            all.push(outputs(planned.outputs(), self.outputs));
        }
        all
    }
}

fn document(planned: &mut Planned) -> String {
    let mut out = Vec::new();
    planned.plan.event.write_all(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// Which outputs take an event.
fn outputs(taken: OutputSet, count: usize) -> Explained {
    let taken = (0..count).filter(|output| taken.has(*output));
    let taken: Vec<String> = taken.map(|output| format!("outputs[{output}]")).collect();
    Explained {
        step: "outputs".to_owned(),
        ended: taken.is_empty().then(|| "no output takes it".to_owned()),
        document: taken.join(" "),
    }
}

#[cfg(test)]
mod tests;
