//! `type: journald`: what `journalctl` is asked for.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::CollectError;
use crate::feed::{FeedAddress, FeedOptions, JournalFeed};
use crate::options::{Mode, StartAt};
use crate::parse::ParserChoice;

/// `type: journald`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JournaldInput {
    /// The name by which the registry knows how far it was read; inputs of several journals need several.
    pub id: String,
    /// The program that reads the journal.
    pub program: PathBuf,
    /// The folder of the journal's files, instead of the system's.
    pub directory: Option<PathBuf>,
    /// Units of systemd, or patterns of them.
    pub units: Vec<String>,
    /// Programs, as they call themselves.
    pub identifiers: Vec<String>,
    /// The least severe, or a range as `emerg..err`.
    pub priority: Option<String>,
    /// Fields and values: `_UID=0`; those of different fields have to hold together, `+` begins an alternative.
    pub matches: Vec<String>,
    /// `true` for the boot of now; an id, or a number counted back from it.
    pub boot: Option<Value>,
    /// As long as the registry knows of no entry: from this time on, as `journalctl` reads it.
    pub since: Option<String>,
    /// As long as the registry knows of no entry: at the first one, or behind the last one.
    pub start_at: StartAt,
    /// Whether the journals of other machines that lie beside it are read, too.
    pub merge: bool,
    /// Bytes of one entry at most; of one that is longer the beginning is kept, and marked.
    pub entry_bytes_max: usize,
}

impl Default for JournaldInput {
    fn default() -> Self {
        JournaldInput {
            id: "journald".to_owned(),
            program: "journalctl".into(),
            directory: None,
            units: Vec::new(),
            identifiers: Vec::new(),
            priority: None,
            matches: Vec::new(),
            boot: None,
            since: None,
            start_at: StartAt::Beginning,
            merge: false,
            entry_bytes_max: 1 << 20,
        }
    }
}

impl JournaldInput {
    /// What a run is given.
    ///
    /// # Errors
    /// What is wrong with `priority`, `matches` or `boot`.
    pub fn options(&self, mode: Mode) -> Result<FeedOptions, CollectError> {
        let mut arguments = Vec::new();
        if let Some(folder) = &self.directory {
            arguments.push(format!("--directory={}", folder.display()));
        }
        if self.merge {
            arguments.push("--merge".to_owned());
        }
        arguments.extend(self.boot()?);
        arguments.extend(self.units.iter().map(|unit| format!("--unit={unit}")));
        arguments.extend(
            self.identifiers
                .iter()
                .map(|name| format!("--identifier={name}")),
        );
        if let Some(range) = &self.priority {
            if !is_priority(range) {
                let reason = "is neither one of emerg, alert, crit, err, warning, notice, info, debug and 0 to 7 nor two of them with .. between";
                return Err(refuse("priority", reason));
            }
            arguments.push(format!("--priority={range}"));
        }
        if !self.matches.iter().all(|text| is_match(text)) {
            return Err(refuse(
                "matches",
                "has one that is neither FIELD=value nor +",
            ));
        }
        arguments.extend(self.matches.iter().cloned());
        if self.since.is_some() && self.start_at == StartAt::End {
            return Err(refuse("since", "says where to begin, and so does start_at"));
        }
        let since = self.since.iter();
        Ok(FeedOptions {
            address: FeedAddress::Journal(JournalFeed {
                id: self.id.clone(),
                program: self.program.clone(),
                arguments,
                first: since.map(|since| format!("--since={since}")).collect(),
                from_now: self.start_at == StartAt::End,
                follow: mode == Mode::Follow,
            }),
            parse: ParserChoice::Auto,
            line_bytes_max: self.entry_bytes_max,
            plan: 0,
            tls: None,
        })
    }

    fn boot(&self) -> Result<Option<String>, CollectError> {
        match &self.boot {
            None | Some(Value::Bool(false) | Value::Null) => Ok(None),
            Some(_) if self.merge => Err(refuse("boot", "is of one machine, and merge of several")),
            Some(Value::Bool(true)) => Ok(Some("--boot".to_owned())),
            Some(Value::Number(back)) => Ok(Some(format!("--boot={back}"))),
            Some(Value::String(id)) => Ok(Some(format!("--boot={id}"))),
            Some(_) => Err(refuse(
                "boot",
                "is neither true nor an id or a number of a boot",
            )),
        }
    }
}

fn refuse(option: &'static str, reason: &str) -> CollectError {
    CollectError::Option {
        option,
        reason: reason.to_owned(),
    }
}

fn is_priority(range: &str) -> bool {
    const NAMES: [&str; 16] = [
        "emerg", "alert", "crit", "err", "warning", "notice", "info", "debug", "0", "1", "2", "3",
        "4", "5", "6", "7",
    ];
    let (first, last) = range.split_once("..").unwrap_or((range, range));
    NAMES.contains(&first) && NAMES.contains(&last)
}

/// Whether it is what it should be, and no option.
fn is_match(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let is_field = |name: &str| !name.is_empty() && name.bytes().all(is_letter);
    text == "+" || text.split_once('=').is_some_and(|(name, _)| is_field(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_in_the_arguments_and_nothing_else_can_be() {
        let input = JournaldInput {
            directory: Some("/j".into()),
            units: vec!["ssh*".to_owned()],
            identifiers: vec!["-x".to_owned()],
            priority: Some("emerg..4".to_owned()),
            matches: vec!["_UID=0".to_owned(), "+".to_owned(), "A=-b".to_owned()],
            boot: Some(Value::Bool(true)),
            since: Some("-1h".to_owned()),
            ..JournaldInput::default()
        };
        let FeedAddress::Journal(feed) = input.options(Mode::Once).unwrap().address else {
            panic!("a journal is a journal");
        };
        let expected =
            "--directory=/j --boot --unit=ssh* --identifier=-x --priority=emerg..4 _UID=0 + A=-b";
        assert_eq!(feed.arguments.join(" "), expected);
        assert_eq!(feed.first, ["--since=-1h"]);
        assert!(!feed.follow && !feed.from_now);
        let refused = |change: fn(&mut JournaldInput)| {
            let mut input = JournaldInput::default();
            change(&mut input);
            input.options(Mode::Follow).is_err()
        };
        assert!(refused(|input| input.priority = Some("loud".to_owned())));
        assert!(refused(|input| input.priority = Some("0..9".to_owned())));
        assert!(refused(|input| input.matches = vec!["--flush".to_owned()]));
        assert!(refused(
            |input| input.matches = vec!["--vacuum-size=1".to_owned()]
        ));
        assert!(refused(|input| input.boot = Some(serde_json::json!([]))));
        assert!(!refused(|input| input.boot = Some(serde_json::json!(-1))));
        assert!(!refused(|input| input.merge = true));
        assert!(refused(|input| {
            input.merge = true;
            input.boot = Some(Value::Bool(true));
        }));
        assert!(refused(|input| {
            input.since = Some("today".to_owned());
            input.start_at = StartAt::End;
        }));
    }
}
