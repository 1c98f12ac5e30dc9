//! Vector's configurations: what flows from sources through transforms to sinks. Here an input has processors in a row, so that a
//! transform's events are told apart by marks in `@metadata` where others read beside it, and an output by a condition.

mod sinks;
mod sources;
mod transforms;

use clew_schema::glob::matches as glob;
use serde_json::{Map, Value, json};

use super::conditions::only_if;
use super::keys::Keys;
use super::told::Told;
use super::{ConfigError, Part, Source, texts, toml};
use sinks::sink;
use sources::source;
use transforms::{Reads, transform};

/// Where an event's source is while outputs ask for it, in no document.
const SOURCE: &str = "@metadata.source";

/// A source, a transform or a sink.
#[derive(Clone, Debug)]
pub(super) struct Component {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) line: usize,
    /// Its name with that of its section.
    pub(super) place: String,
    inputs: Vec<String>,
    pub(super) keys: Keys,
}

impl Component {
    /// Whether it reads what goes by a name.
    fn reads(&self, name: &str) -> bool {
        self.inputs.iter().any(|input| glob(input, name))
    }

    /// Tells of keys that nobody has taken.
    pub(super) fn tell_rest(self, told: &mut Told) {
        // How much is kept, tried or waited for, and what watches over it.
        const NOTHING_LOST: [&str; 26] = [
            "acknowledgements",
            "api_version",
            "batch",
            "data_dir",
            "decoding",
            "distribution",
            "doc_type",
            "encoding",
            "file_key",
            "fingerprint",
            "framing",
            "glob_minimum_cooldown_ms",
            "healthcheck",
            "host_key",
            "idle_timeout_secs",
            "ignore_checkpoints",
            "internal_metrics",
            "max_read_bytes",
            "offset_key",
            "oldest_first",
            "query",
            "request",
            "request_retry_partial",
            "rotate_wait_secs",
            "suppress_type_name",
            "timezone",
        ];
        for key in self.keys.into_rest().keys() {
            if !NOTHING_LOST.contains(&key.as_str()) {
                told.tell(
                    self.line,
                    &self.place,
                    format!("[{key}] has no counterpart"),
                );
            }
        }
    }
}

/// What goes by a name on the way from a source.
#[derive(Clone, Debug)]
pub(super) struct Passed {
    pub(super) name: String,
    /// Under which condition an event of the source is among it; all are where there is none.
    pub(super) when: Option<Value>,
    /// Whether others read these events beside it.
    pub(super) is_shared: bool,
}

/// Where components stand in a text.
enum Lines<'s> {
    Yaml(&'s Source<'s>),
    Toml(Vec<(String, usize)>),
}

impl Lines<'_> {
    fn of(&self, section: &str, name: &str) -> usize {
        let line = match self {
            Lines::Yaml(source) => {
                let path = [section, name].map(|key| Part::Key(key.to_owned()));
                source.line_of(&path)
            }
            Lines::Toml(lines) => {
                let table = format!("{section}.{name}");
                let mut lines = lines.iter();
                lines.find_map(|(name, line)| (*name == table).then_some(*line))
            }
        };
        line.unwrap_or(1)
    }
}

/// Whether a text looks like a configuration of a Vector, in YAML or TOML.
pub(super) fn is_one(text: &str) -> bool {
    let has = |yaml: &str, toml: &str| {
        text.lines()
            .any(|line| line.starts_with(yaml) || line.starts_with(toml))
    };
    has("sources:", "[sources.") && has("sinks:", "[sinks.")
}

/// Reads a configuration and converts it.
///
/// # Errors
/// When it is neither YAML nor TOML.
pub(super) fn convert(
    name: &str,
    text: &str,
    told: &mut Told,
) -> Result<Map<String, Value>, ConfigError> {
    let text = with_our_variables(text);
    let source = Source::new(name, &text);
    let is_toml = text.lines().any(|line| line.starts_with('['));
    let (tree, lines) = match is_toml {
        true => {
            let read = toml::read(&text);
            let read = read.map_err(|(line, reason)| source.error("", Some(line), reason))?;
            (Value::Object(read.tree), Lines::Toml(read.lines))
        }
        false => (source.raw_tree()?, Lines::Yaml(&source)),
    };
    let Some(mut root) = Keys::new(tree, Vec::new()) else {
        let reason = "must be a mapping of keys to values".to_owned();
        return Err(source.error("", None, reason));
    };
    let mut config = Map::new();
    if let Some(folder) = root.take_text("data_dir") {
        let path = format!("{}/clew-registry.json", folder.trim_end_matches('/'));
        config.insert("registry".to_owned(), path.into());
    }
    let sources = components(&mut root, "sources", &lines);
    let transforms = components(&mut root, "transforms", &lines);
    let sinks = components(&mut root, "sinks", &lines);
    for key in ["api", "timezone", "log_schema", "schema", "healthchecks"] {
        root.take(key);
    }
    for key in root.into_rest().keys() {
        told.tell(1, key, "has no counterpart");
    }
    connected(sources, &transforms, sinks, &mut config, told);
    // What is told of a transform is told for each source that it reads from.
    let mut left_out = Vec::new();
    for one in std::mem::take(&mut told.left_out) {
        if !left_out.contains(&one) {
            left_out.push(one);
        }
    }
    told.left_out = left_out;
    Ok(config)
}

/// Variables with what stands for one that is not set, `${A:-b}` and `${A-b}`, as they are written here.
fn with_our_variables(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${") {
        out.push_str(before);
        out.push_str("${");
        rest = behind;
        let end = behind.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let (name, more) = behind.split_at(end.unwrap_or(behind.len()));
        let usual = more.strip_prefix(":-").or_else(|| more.strip_prefix('-'));
        if let Some(usual) = usual.filter(|_| !name.is_empty()) {
            out.push_str(name);
            out.push(':');
            rest = usual;
        } else if let Some(message) = more.strip_prefix(":?") {
            // Here every variable has to be set that has nothing for it.
            out.push_str(name);
            out.push('}');
            rest = message.split_once('}').map_or("", |(_, behind)| behind);
        }
    }
    out + rest
}

fn components(root: &mut Keys, section: &str, lines: &Lines<'_>) -> Vec<Component> {
    let Some(Value::Object(members)) = root.take(section) else {
        return Vec::new();
    };
    let one = |(name, value): (String, Value)| {
        let mut keys = Keys::new(value, Vec::new())?;
        Some(Component {
            kind: keys.take_text("type").unwrap_or_default(),
            line: lines.of(section, &name),
            place: format!("{section}.{name}"),
            inputs: texts(keys.take("inputs").unwrap_or_default()),
            name,
            keys,
        })
    };
    members.into_iter().filter_map(one).collect()
}

/// Who reads.
struct Readers<'c> {
    transforms: &'c [Component],
    sinks: &'c [Component],
}

impl Readers<'_> {
    /// How many read what goes by a name.
    fn of(&self, name: &str) -> usize {
        let all = self.transforms.iter().chain(self.sinks);
        all.filter(|one| one.reads(name)).count()
    }
}

/// Which events of a source come to a component.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    None,
    All,
    When(Value),
}

/// Writes inputs with the transforms that read from them, and outputs with what they read.
fn connected(
    sources: Vec<Component>,
    transforms: &[Component],
    sinks: Vec<Component>,
    config: &mut Map<String, Value>,
    told: &mut Told,
) {
    let mut inputs: Vec<(String, Value)> = Vec::new();
    let mut flows: Vec<Vec<Passed>> = Vec::new();
    // Sinks that are not here read from nothing.
    let mut written = Vec::new();
    let mut here = Vec::new();
    for one in sinks {
        if let Some(output) = sink(one.clone(), told) {
            here.push(one);
            written.push(output);
        }
    }
    let readers = Readers {
        transforms,
        sinks: &here,
    };
    for one in sources {
        let name = one.name.clone();
        let mut steps = Vec::new();
        let Some((mut input, is_of_lines)) = source(one, &mut steps, told) else {
            continue;
        };
        let mut flow = vec![Passed {
            is_shared: readers.of(&name) > 1,
            name: name.clone(),
            when: None,
        }];
        follow(&readers, is_of_lines, &mut flow, &mut steps, told);
        input["processors"] = steps.into();
        inputs.push((name, input));
        flows.push(flow);
    }
    let mut asks_for_sources = false;
    let mut outputs = Vec::new();
    for (one, mut output) in here.iter().zip(written) {
        let seen: Vec<Seen> = flows.iter().map(|flow| seen(one, flow)).collect();
        if seen.iter().all(|one| *one == Seen::None) {
            let reason = "reads from nothing that is here, and is left out";
            told.tell(one.line, &one.place, reason);
            continue;
        }
        let is_same = seen.iter().all(|one| *one == seen[0]);
        asks_for_sources |= !is_same;
        let condition = match is_same {
            true => match seen.into_iter().next() {
                Some(Seen::When(condition)) => Some(condition),
                _ => None,
            },
            false => of_sources(&inputs, seen),
        };
        if let Some(condition) = condition {
            output["when"] = condition;
        }
        outputs.push(output);
    }
    let inputs = inputs.into_iter();
    let inputs = inputs.map(|(name, input)| marked(input, asks_for_sources.then_some(&*name)));
    config.insert("inputs".to_owned(), inputs.collect());
    config.insert("outputs".to_owned(), outputs.into());
}

/// An input whose events say where they are from, if a name is given.
fn marked(mut input: Value, name: Option<&str>) -> Value {
    if let Some(steps) = input["processors"].as_array_mut()
        && let Some(name) = name
    {
        steps.push(json!({"add": {"field": SOURCE, "value": name}}));
    }
    if input["processors"] == json!([])
        && let Value::Object(members) = &mut input
    {
        members.shift_remove("processors");
    }
    input
}

/// The condition of an output that not all sources reach alike.
fn of_sources(inputs: &[(String, Value)], seen: Vec<Seen>) -> Option<Value> {
    let each = inputs.iter().zip(seen).filter_map(|((name, _), seen)| {
        let own = json!({"equals": {SOURCE: name}});
        match seen {
            Seen::None => None,
            Seen::All => Some(own),
            Seen::When(condition) => Some(json!({"and": [own, condition]})),
        }
    });
    any(each.collect())
}

/// One of some conditions.
fn any(mut conditions: Vec<Value>) -> Option<Value> {
    match conditions.len() {
        0 => None,
        1 => Some(conditions.remove(0)),
        _ => Some(json!({"or": conditions})),
    }
}

/// Which events of a flow come to a component.
fn seen(component: &Component, flow: &[Passed]) -> Seen {
    let mut conditions = Vec::new();
    for read in flow.iter().filter(|one| component.reads(&one.name)) {
        match &read.when {
            None => return Seen::All,
            Some(condition) => conditions.push(condition.clone()),
        }
    }
    any(conditions).map_or(Seen::None, Seen::When)
}

/// Adds the steps of all transforms that events come to, each when what it reads from was done.
fn follow(
    readers: &Readers<'_>,
    is_of_lines: bool,
    flow: &mut Vec<Passed>,
    steps: &mut Vec<Value>,
    told: &mut Told,
) {
    let source = flow.first().map(|one| one.name.clone());
    let source = source.unwrap_or_default();
    let mut left = reached(readers.transforms, &source);
    loop {
        let next = left.iter().position(|one| {
            let mut others = left.iter().filter(|other| other.name != one.name);
            !others.any(|other| feeds(other, one))
        });
        let Some(next) = next else {
            break;
        };
        let one = left.remove(next);
        let when = match seen(one, flow) {
            Seen::None => continue,
            Seen::All => None,
            Seen::When(condition) => Some(condition),
        };
        let read: Vec<&Passed> = flow.iter().filter(|from| one.reads(&from.name)).collect();
        let is_shared = read.iter().any(|from| from.is_shared);
        let reads = Reads {
            is_shared,
            is_of_lines: is_of_lines && read.iter().all(|from| from.name == source),
            when: when.clone(),
        };
        let mut own = Vec::new();
        let made = transform(one.clone(), &reads, &mut own, told);
        for mut step in own {
            if let Some(when) = &when {
                only_if(&mut step, when.clone());
            }
            steps.push(step);
        }
        flow.extend(made.into_iter().map(|(name, when)| Passed {
            is_shared: is_shared || readers.of(&name) > 1,
            name,
            when,
        }));
    }
    for one in left {
        told.tell(one.line, &one.place, "reads from itself, and is left out");
    }
}

/// Whether a transform reads from another one.
fn feeds(from: &Component, to: &Component) -> bool {
    let begin = format!("{}.", from.name);
    to.reads(&from.name) || to.inputs.iter().any(|input| input.starts_with(&begin))
}

/// The transforms that events of a source come to, in the order in which they are written.
fn reached<'c>(transforms: &'c [Component], source: &str) -> Vec<&'c Component> {
    let mut found: Vec<&Component> = Vec::new();
    loop {
        let next = transforms.iter().find(|one| {
            let is_new = found.iter().all(|known| known.name != one.name);
            is_new && (one.reads(source) || found.iter().any(|known| feeds(known, one)))
        });
        match next {
            Some(next) => found.push(next),
            None => break,
        }
    }
    let is_found = |one: &&Component| found.iter().any(|known| known.name == one.name);
    transforms.iter().filter(is_found).collect()
}

#[cfg(test)]
mod tests;
