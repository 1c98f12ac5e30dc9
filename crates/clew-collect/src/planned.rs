//! Lines that processors are configured for: what the line's parser found becomes fields of an event, the compiled plan
//! changes them, and what is left is the document.

use clew_ingest::{DefinitionError, Flow, Plan, Reason, Slot, Span, Value, step_names};

use crate::definition::Definition;
use crate::error::ConfigError;
use crate::event::{Event, OutputSet};
use crate::formats::KnownFormats;
use crate::line::{Line, OriginKind, Taken};
use crate::metadata::{METADATA, wrong_with_id};
use crate::parse::{LEVEL_NAMES, ParserName, Record};
use crate::spelling::{nearest, nearly};

/// The plan of one input.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) plan: Plan,
    slots: Slots,
    /// For each output the number of its condition, if it has one; empty where every output takes every event.
    outputs: Vec<Option<usize>>,
    /// Which origin the shared texts are of, and where they are.
    shared: Option<(u64, ParserName, Shared)>,
    /// The place of them, as JSON: senders of one input share its number.
    shared_place: String,
    /// The time of the event if no processor says another one.
    own_ms: i64,
    /// The time that it has when all are done, if it has one.
    time_ms: Option<i64>,
}

/// The fields that the collector sets.
#[derive(Debug)]
struct Slots {
    /// What goes with the event and is not written with it, and the id in it.
    metadata: Slot,
    id: Slot,
    timestamp: Slot,
    message: Slot,
    event: Slot,
    parse_error: Slot,
    host: Slot,
    log: Slot,
    file: Slot,
    sender: Slot,
    offset: Slot,
    level: Slot,
    stream: Slot,
}

/// What all lines of a file share, as JSON: whoever asks for a member of an object has it taken apart.
#[derive(Clone, Copy, Debug)]
struct Shared {
    host: Span,
    place: Span,
    event: Span,
    /// By the place of the level among [`LEVEL_NAMES`].
    levels: [Span; LEVEL_NAMES.len()],
}

/// What is known of a line when its processors begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineFacts<'a> {
    pub(crate) line: &'a Line<'a>,
    pub(crate) parser: ParserName,
    pub(crate) record: &'a Record,
    /// `host.name` as JSON.
    pub(crate) host: &'a str,
    /// `log.file.path` or `log.source.address` as JSON.
    pub(crate) place: (OriginKind, &'a str),
    /// A number that tells its file from others.
    pub(crate) key: u64,
    /// What its parser found, or now.
    pub(crate) timestamp_ms: i64,
}

impl Planned {
    /// Compiles processors, and the conditions of outputs.
    pub(crate) fn compile(
        processors: &[Definition],
        outputs: &[Option<Definition>],
    ) -> Result<Self, ConfigError> {
        let mut plan = Plan::with_formats(&KnownFormats);
        const FEW: &str = "there are few names yet";
        let metadata = plan.event.hide(METADATA).expect(FEW);
        let mut slot = |path| plan.slot(path).expect(FEW);
        let slots = Slots {
            metadata,
            id: slot("@metadata._id"),
            timestamp: slot("@timestamp"),
            message: slot("message"),
            event: slot("event"),
            parse_error: slot("event.parse_error"),
            host: slot("host"),
            log: slot("log"),
            file: slot("log.file"),
            sender: slot("log.source"),
            offset: slot("log.offset"),
            level: slot("log.level"),
            stream: slot("stream"),
        };
        // The mark of a line that failed must find its place also when there are too many names.
        slot("event.dataset");
        for processor in processors {
            plan.add(&processor.written)
                .map_err(|error| processor.wrong(&refused(processor, &error)))?;
        }
        let mut conditions = 0..;
        let mut number = |condition: &Option<Definition>| {
            let Some(condition) = condition else {
                return Ok(None);
            };
            plan.add_condition(&condition.written)
                .map_err(|error| condition.wrong(&error.to_string()))?;
            Ok(conditions.next())
        };
        let outputs = outputs.iter().map(&mut number).collect::<Result<_, _>>()?;
        Ok(Planned {
            plan,
            slots,
            outputs,
            shared: None,
            shared_place: String::new(),
            own_ms: 0,
            time_ms: None,
        })
    }

    /// What a line becomes. Nothing is written when it is dropped.
    pub(crate) fn encode(
        &mut self,
        text: &str,
        (mut taken, given): (Taken, &LineFacts<'_>),
        now_ms: i64,
        event: &mut Event,
    ) -> Taken {
        if self.begin(text, given).is_err() {
            taken = Taken::AsPlain;
        }
        self.finish(taken, now_ms, event)
    }

    /// What a document becomes, whose members are the fields, and what goes with it. One that has more of them than can be is
    /// kept as a message.
    pub(crate) fn encode_document(
        &mut self,
        (text, metadata): (&str, &str),
        mut taken: Taken,
        now_ms: i64,
        event: &mut Event,
    ) -> Taken {
        (self.own_ms, self.time_ms) = (now_ms, None);
        let fields = &mut self.plan.event;
        let begun = fields
            .begin(text)
            .and_then(|document| fields.put_members(None, document));
        if begun.is_err() {
            taken = Taken::AsPlain;
            if let Ok(message) = fields.begin(text) {
                fields.place(self.slots.timestamp, Value::Time(now_ms));
                fields.place(self.slots.message, Value::Text(message));
            }
        }
        if !metadata.is_empty() {
            // An object, at a place that has none around it.
            let _ = fields.put_json(self.slots.metadata, metadata);
        }
        self.finish(taken, now_ms, event)
    }

    /// Runs the processors, and writes what is left.
    fn finish(&mut self, mut taken: Taken, now_ms: i64, event: &mut Event) -> Taken {
        match self.plan.run(now_ms) {
            Ok(Flow::On) => {}
            Ok(Flow::Dropped) => return Taken::Dropped,
            Err(_) => taken = Taken::AsPlain,
        }
        if !self.settle_time() {
            taken = Taken::AsPlain;
        }
        if taken == Taken::AsPlain {
            // A line is never lost for what it is inside of.
            let _ = self
                .plan
                .event
                .put(self.slots.parse_error, Value::Bool(true));
        }
        event.outputs = self.outputs();
        if event.outputs == OutputSet::NONE {
            return Taken::ByNoOutput;
        }
        self.plan.event.write(&mut event.document);
        if self.plan.event.has_hidden() {
            self.take_metadata(event);
        }
        taken
    }

    /// Gives the event what goes with it, and the id that is in it.
    fn take_metadata(&mut self, event: &mut Event) {
        let fields = &mut self.plan.event;
        if let Some(id) = fields.text_of(self.slots.id)
            && wrong_with_id(id).is_none()
        {
            event.id.clear();
            event.id.push_str(id);
        }
        if let Some(metadata) = fields.object_of(self.slots.metadata) {
            event.metadata.push_str(metadata);
        }
    }

    /// Which outputs take the event as it is now.
    pub(crate) fn outputs(&mut self) -> OutputSet {
        if self.outputs.is_empty() {
            return OutputSet::ALL;
        }
        let mut taken = OutputSet::NONE;
        for (output, condition) in self.outputs.iter().enumerate() {
            if condition.is_none_or(|number| self.plan.holds(number)) {
                taken = taken.with(output);
            }
        }
        taken
    }

    /// Sees to it that the event's time is one: what a processor has put there in its place gives way to its own. Returns
    /// whether that was a time.
    pub(crate) fn settle_time(&mut self) -> bool {
        let (time_ms, is_time) = self.plan.settle_time(self.slots.timestamp, self.own_ms);
        self.time_ms = time_ms;
        is_time
    }

    /// The time that the event has when its processors are done.
    pub(crate) fn timestamp_ms(&self) -> Option<i64> {
        self.time_ms
    }

    /// What the line shares with others, which is made anew where the last line was of another file.
    fn shared(&mut self, given: &LineFacts<'_>) -> Shared {
        let is_same = self.shared_place == given.place.1;
        if let Some((key, parser, shared)) = self.shared
            && is_same
            && key == given.key
            && parser == given.parser
        {
            return shared;
        }
        let event = &mut self.plan.event;
        event.forget();
        let shared = Shared {
            host: event.share(format_args!("{{\"name\":{}}}", given.host)),
            place: match given.place {
                (OriginKind::File, path) => event.share(format_args!("{{\"path\":{path}}}")),
                (OriginKind::Sender, address) => {
                    event.share(format_args!("{{\"address\":{address}}}"))
                }
                (OriginKind::Unnamed, _) => Span::default(),
            },
            event: event.share(format_args!(
                "{{\"dataset\":\"{}\"}}",
                given.parser.as_str()
            )),
            levels: LEVEL_NAMES.map(|level| event.share(format_args!("\"{level}\""))),
        };
        self.shared = Some((given.key, given.parser, shared));
        self.shared_place.clear();
        self.shared_place.push_str(given.place.1);
        shared
    }

    /// The event as the processors find it.
    pub(crate) fn begin(&mut self, text: &str, given: &LineFacts<'_>) -> Result<(), Reason> {
        (self.own_ms, self.time_ms) = (given.timestamp_ms, None);
        let shared = self.shared(given);
        let event = &mut self.plan.event;
        let (record, line) = (given.record, given.line);
        let message = event.begin(text)?;
        let slots = &self.slots;
        event.place(slots.timestamp, Value::Time(given.timestamp_ms));
        event.place(slots.message, Value::Text(message));
        event.place(slots.event, Value::Json(shared.event));
        event.place(slots.host, Value::Json(shared.host));
        let place = match given.place.0 {
            OriginKind::File => Some(slots.file),
            OriginKind::Sender => Some(slots.sender),
            OriginKind::Unnamed => None,
        };
        if let Some(place) = place {
            event.place(place, Value::Json(shared.place));
        }
        let offset = i64::try_from(line.offset).unwrap_or(i64::MAX);
        event.place(slots.offset, Value::Int(offset));
        if let Some(level) = record.level {
            match LEVEL_NAMES.iter().position(|known| *known == level) {
                Some(at) => event.place(slots.level, Value::Json(shared.levels[at])),
                None => event.put_text(slots.level, level)?,
            }
        }
        if let Some(stream) = line.stream {
            event.put_text(slots.stream, stream)?;
        }
        if line.cut {
            event.put_object(Some(slots.log), "\"flags\":[\"truncated\"]")?;
        }
        for (object, members) in [
            (Some(slots.event), record.event.bytes()),
            (Some(slots.log), record.log.bytes()),
            (None, record.fields.bytes()),
            (None, line.fields()),
        ] {
            if !members.is_empty() {
                let members = std::str::from_utf8(members).map_err(|_| Reason::NotJson)?;
                event.put_object(object, members)?;
            }
        }
        Ok(())
    }
}

/// What is wrong with a processor, in other words than those of pipelines: of a name that none has, the nearest that one has is told,
/// and of a parameter that is missing the one that is nearly called so.
fn refused(processor: &Definition, error: &DefinitionError) -> String {
    let unknown = error
        .reason
        .strip_prefix("No processor type exists with name [");
    if let Some(name) = unknown.and_then(|rest| rest.strip_suffix(']')) {
        let names: Vec<&str> = step_names().collect();
        let nearest = nearest(&names, name);
        return format!("no processor is called [{name}], did you mean [{nearest}]?");
    }
    if error.reason.starts_with("[when] is no parameter") {
        return format!("{}, did you mean [if]?", error.reason);
    }
    let missing = error.property.as_deref();
    let missing = missing.filter(|_| error.reason.ends_with("required property is missing"));
    // Where there are others inside of it, one of those may lack it.
    let members = processor.written.as_object();
    let step = members
        .and_then(|members| members.iter().next())
        .filter(|(_, parameters)| parameters.get("on_failure").is_none());
    let (Some(missing), Some((name, parameters))) = (missing, step) else {
        return in_words(&error.reason);
    };
    let given = parameters.as_object().into_iter().flatten();
    let given: Vec<&str> = given.map(|(key, _)| key.as_str()).collect();
    match nearly(&given, missing) {
        Some(given) => {
            format!("[{name}] has no parameter [{given}], did you mean [{missing}]?")
        }
        None => format!("[{name}] lacks [{missing}]"),
    }
}

/// A reason with types as a configuration has them.
fn in_words(reason: &str) -> String {
    const TYPES: [(&str, &str); 8] = [
        ("java.util.ArrayList", "a list"),
        ("java.util.HashMap", "a mapping"),
        ("java.lang.String", "a text"),
        ("java.lang.Boolean", "true or false"),
        ("java.lang.Integer", "a number"),
        ("java.lang.Long", "a number"),
        ("java.math.BigInteger", "a number"),
        ("java.lang.Double", "a number"),
    ];
    TYPES
        .iter()
        .fold(reason.to_owned(), |reason, (class, words)| {
            reason.replace(&format!("of type [{class}]"), words)
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wrong_with_a_processor_is_told_with_what_was_meant() {
        for (written, expected) in [
            (
                json!({"disect": {"field": "a"}}),
                "no processor is called [disect], did you mean [dissect]?",
            ),
            (
                json!({"ratelimit": {"field": "a"}}),
                "no processor is called [ratelimit], did you mean [rate_limit]?",
            ),
            (
                json!({"json": {"field": "a", "on_failure": [{"ad": {}}]}}),
                "no processor is called [ad], did you mean [add]?",
            ),
            (
                json!({"geoip": {"field": "a"}}),
                "processor [geoip] is for pipelines of a server",
            ),
            (
                json!({"dissect": {"field": "a", "patern": "%{b}"}}),
                "[dissect] has no parameter [patern], did you mean [pattern]?",
            ),
            (
                json!({"dissect": {"field": "a"}}),
                "[dissect] lacks [pattern]",
            ),
            (
                json!({"drop": {"when": {"has_fields": ["a"]}}}),
                "[when] is no parameter of [drop], did you mean [if]?",
            ),
            (
                json!({"json": {"field": "a", "on_failure": {"drop": {}}}}),
                "[on_failure] property isn't a list, but a mapping",
            ),
            (
                json!({"drop": [1]}),
                "[drop] property isn't a map, but a list",
            ),
        ] {
            let definition = Definition {
                written,
                file: String::new(),
                place: String::new(),
                line: None,
            };
            let error = Planned::compile(&[definition], &[]).err().unwrap();
            assert_eq!(error.reason, expected);
        }
    }
}
