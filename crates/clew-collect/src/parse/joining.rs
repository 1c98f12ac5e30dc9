//! Which lines of a format belong together, where its programs write events of several lines and the input says nothing of it.

/// How the lines of an event are told.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Joining {
    /// Every line is an event.
    Lines,
    /// apt's stanzas, which have an end of their own.
    Stanzas,
    /// A line like this begins an event, every other one goes on with it.
    Begun(fn(&[u8]) -> bool),
    /// A line like this begins an event, every other one goes on with it; one of the second kind begins one, too, unless it is
    /// the first behind a line of the first kind.
    Headed {
        /// A line that begins an event.
        head: fn(&[u8]) -> bool,
        /// A line that every event has, and that begins those without a head.
        name: fn(&[u8]) -> bool,
    },
    /// Quotes may be around several lines. A line like this begins an event whether one is open or not: what is open there was never
    /// closed, or the line before was not the first of its event, and all events behind it would be told apart at the wrong quotes.
    Quoted(fn(&[u8]) -> bool),
}

/// How far an event is behind one of its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Within {
    /// Only what stands in front of it was there.
    Head,
    /// More may follow.
    Body,
    /// It is whole.
    Whole,
}

impl Joining {
    /// Whether an event may have several lines, none of which is known to be its last.
    pub(crate) fn joins(self) -> bool {
        !matches!(self, Joining::Lines | Joining::Stanzas)
    }

    /// Whether a line can be the first of an event, and does not go on with one that is not there.
    pub(crate) fn begins(self, line: &[u8]) -> bool {
        match self {
            Joining::Begun(begins) | Joining::Quoted(begins) => begins(line),
            Joining::Lines | Joining::Stanzas | Joining::Headed { .. } => true,
        }
    }

    /// Whether the first line of an event says most of what there is, so that it can be taken without the others.
    pub(crate) fn begins_alone(self) -> bool {
        !matches!(self, Joining::Stanzas | Joining::Headed { .. })
    }

    /// How far an event is behind its first line.
    pub(crate) fn behind_first(self, line: &[u8]) -> Within {
        match self {
            Joining::Lines | Joining::Stanzas => Within::Whole,
            Joining::Begun(_) => Within::Body,
            Joining::Headed { head, .. } if head(line) => Within::Head,
            Joining::Headed { .. } => Within::Body,
            Joining::Quoted(begins) if begins(line) && closes_quotes(line) => Within::Whole,
            Joining::Quoted(_) => Within::Body,
        }
    }

    /// How far it is behind another line; nothing if that belongs to the next event.
    pub(crate) fn behind_next(self, line: &[u8], within: Within) -> Option<Within> {
        if within == Within::Whole {
            return None;
        }
        let goes_on = match self {
            Joining::Lines | Joining::Stanzas => false,
            Joining::Begun(begins) => !begins(line),
            Joining::Headed { head, name } => {
                !head(line) && (within == Within::Head || !name(line))
            }
            Joining::Quoted(begins) if begins(line) => false,
            Joining::Quoted(_) if closes_quotes(line) => true,
            Joining::Quoted(_) => return Some(Within::Whole),
        };
        goes_on.then_some(Within::Body)
    }

    /// Whether an event has begun and its end is not there: more lines have to follow.
    pub(super) fn is_open(self, event: &[&str]) -> bool {
        let Joining::Quoted(begins) = self else {
            return false;
        };
        let begun = event.first().is_some_and(|line| begins(line.as_bytes()));
        let unpaired = event.iter().filter(|line| !closes_quotes(line.as_bytes()));
        begun && !unpaired.count().is_multiple_of(2)
    }

    /// The events that lines are, without the ends of the lines.
    pub(super) fn events<'l>(self, lines: &'l [&'l str]) -> Vec<&'l [&'l str]> {
        let mut events = Vec::new();
        let mut from = 0;
        while let Some(first) = lines.get(from) {
            let mut within = self.behind_first(first.as_bytes());
            let mut end = from + 1;
            while let Some(next) = lines.get(end)
                && let Some(behind) = self.behind_next(next.as_bytes(), within)
            {
                within = behind;
                end += 1;
            }
            events.push(&lines[from..end]);
            from = end;
        }
        events
    }
}

/// Whether no quote is open behind a line that began with none: those that stand for themselves are doubled.
fn closes_quotes(line: &[u8]) -> bool {
    memchr::memchr_iter(b'"', line).count().is_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_belong_to_events_as_formats_have_them() {
        let headed = Joining::Headed {
            head: |line| line.starts_with(b"#t"),
            name: |line| line.starts_with(b"#u"),
        };
        let begun = Joining::Begun(|line| line.starts_with(b"["));
        let quoted = Joining::Quoted(|line| line.first().is_some_and(u8::is_ascii_digit));
        for (joining, lines, expected) in [
            (Joining::Lines, "a|b", "a/b"),
            (begun, "a|b|[c|d|[e", "a|b/[c|d/[e"),
            (
                headed,
                "x|y|#t|#u|q|#u|q|q|#t|#u",
                "x|y/#t|#u|q/#u|q|q/#t|#u",
            ),
            (headed, "#t|#x|#u|q", "#t|#x/#u|q"),
            (
                quoted,
                r#"1,"a"|1,"b|c""d|e",2|3"#,
                r#"1,"a"/1,"b|c""d|e",2/3"#,
            ),
            // A quote that is never closed, and a beginning in the middle of an event: the events behind are whole.
            (quoted, r#"1,"b|c|1,"a"|2,"d|e""#, r#"1,"b|c/1,"a"/2,"d|e""#),
            (
                quoted,
                r#"c|d",2|1,"a"|1,"b|e"|3"#,
                r#"c|d",2/1,"a"/1,"b|e"/3"#,
            ),
        ] {
            let lines: Vec<&str> = lines.split('|').collect();
            let events = joining.events(&lines);
            let found: Vec<String> = events.iter().map(|event| event.join("|")).collect();
            assert_eq!(found.join("/"), expected);
        }
        assert!(!begun.begins(b"a") && begun.begins(b"[a") && headed.begins(b"a"));
        assert!(!quoted.begins(b"a") && quoted.begins(b"1"));
        assert!(quoted.is_open(&["1,\"a", "b"]) && !quoted.is_open(&["1,\"a", "b\""]));
        assert!(!quoted.is_open(&["a\""]) && !begun.is_open(&["[\""]));
    }
}
