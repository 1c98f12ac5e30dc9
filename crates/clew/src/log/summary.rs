//! What an append has come to.

use std::io::Write;

use clap::ValueEnum;
use clew_log_grpc::proto;
use serde_json::{Map, Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SummaryFormat {
    /// One line for people.
    Text,
    /// One JSON object.
    Json,
}

/// The positions of everything acknowledged so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    entries: u64,
    /// Entries that an earlier attempt of the same producer had appended.
    replayed: u64,
    ends: Option<Ends>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Ends {
    first: (u64, u64),
    last: (u64, u64),
}

impl Summary {
    /// Takes in one acknowledged batch.
    pub(crate) fn add(&mut self, reply: &proto::AppendReply) {
        let count = reply.last_glsn - reply.first_glsn + 1;
        self.entries += count;
        if reply.replayed {
            self.replayed += count;
        }
        let last = (reply.last_glsn, reply.last_llsn);
        match &mut self.ends {
            Some(ends) => ends.last = last,
            None => {
                let first = (reply.first_glsn, reply.first_llsn);
                self.ends = Some(Ends { first, last });
            }
        }
    }

    /// Takes in a batch that was appended so long ago that the log has forgotten where.
    pub(crate) fn add_forgotten(&mut self, count: u64) {
        self.entries += count;
        self.replayed += count;
    }

    fn object(&self, stream: &str) -> Value {
        let number = |end: fn(&Ends) -> u64| self.ends.as_ref().map(end);
        let mut object = Map::new();
        object.insert("stream".into(), stream.into());
        object.insert("entries".into(), self.entries.into());
        object.insert("first_glsn".into(), json!(number(|ends| ends.first.0)));
        object.insert("last_glsn".into(), json!(number(|ends| ends.last.0)));
        object.insert("first_llsn".into(), json!(number(|ends| ends.first.1)));
        object.insert("last_llsn".into(), json!(number(|ends| ends.last.1)));
        if self.replayed > 0 {
            object.insert("replayed".into(), self.replayed.into());
        }
        Value::Object(object)
    }

    fn text(&self, stream: &str) -> String {
        if self.entries == 0 {
            return format!("nothing to append to {stream}");
        }
        let mut text = format!("{} entries in {stream}", self.entries);
        if self.replayed > 0 {
            text += &format!(" ({} of them by an earlier attempt)", self.replayed);
        }
        if let Some(Ends { first, last }) = &self.ends {
            let (llsns, glsns) = ((first.1, last.1), (first.0, last.0));
            text += &format!(
                ": LLSN {}..{}, GLSN {}..{}",
                llsns.0, llsns.1, glsns.0, glsns.1
            );
        }
        text
    }

    pub(crate) fn print(&self, stream: &str, format: SummaryFormat) -> std::io::Result<()> {
        match format {
            SummaryFormat::Text => print_line(&self.text(stream)),
            SummaryFormat::Json => print_line(&self.object(stream).to_string()),
        }
    }
}

/// Tells of one acknowledged batch at once.
pub(crate) fn print_ack(reply: &proto::AppendReply, format: SummaryFormat) -> std::io::Result<()> {
    let proto::AppendReply {
        first_glsn,
        last_glsn,
        first_llsn,
        last_llsn,
        ..
    } = reply;
    match format {
        SummaryFormat::Text => print_line(&format!(
            "acknowledged LLSN {first_llsn}..{last_llsn}, GLSN {first_glsn}..{last_glsn}"
        )),
        SummaryFormat::Json => print_line(
            &json!({"ack": {
                "first_glsn": first_glsn, "last_glsn": last_glsn,
                "first_llsn": first_llsn, "last_llsn": last_llsn,
            }})
            .to_string(),
        ),
    }
}

fn print_line(line: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(first: u64, last: u64, replayed: bool) -> proto::AppendReply {
        proto::AppendReply {
            first_glsn: first + 100,
            last_glsn: last + 100,
            first_llsn: first,
            last_llsn: last,
            time_ms: 0,
            replayed,
        }
    }

    #[test]
    fn batches_add_up_from_the_first_to_the_last() {
        let mut summary = Summary::default();
        assert_eq!(
            summary.object("s").to_string(),
            r#"{"stream":"s","entries":0,"first_glsn":null,"last_glsn":null,"first_llsn":null,"last_llsn":null}"#
        );
        summary.add(&reply(1, 10, true));
        summary.add(&reply(11, 11, false));
        assert_eq!(
            summary.object("s").to_string(),
            r#"{"stream":"s","entries":11,"first_glsn":101,"last_glsn":111,"first_llsn":1,"last_llsn":11,"replayed":10}"#
        );
        summary.add_forgotten(0);
        assert_eq!(
            summary.text("s"),
            "11 entries in s (10 of them by an earlier attempt): LLSN 1..11, GLSN 101..111"
        );
        let mut forgotten = Summary::default();
        assert_eq!(forgotten.text("s"), "nothing to append to s");
        forgotten.add_forgotten(5);
        assert_eq!(
            forgotten.text("s"),
            "5 entries in s (5 of them by an earlier attempt)"
        );
    }
}
