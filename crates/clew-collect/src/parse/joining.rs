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
    /// Quotes may be around several lines.
    Quoted,
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
            Joining::Begun(begins) => begins(line),
            Joining::Lines | Joining::Stanzas | Joining::Headed { .. } | Joining::Quoted => true,
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
            Joining::Quoted if closes_quotes(line) => Within::Whole,
            Joining::Quoted => Within::Body,
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
            Joining::Quoted if closes_quotes(line) => true,
            Joining::Quoted => return Some(Within::Whole),
        };
        goes_on.then_some(Within::Body)
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
                Joining::Quoted,
                r#"1,"a"|1,"b|c""d|e",2|3"#,
                r#"1,"a"/1,"b|c""d|e",2/3"#,
            ),
        ] {
            let lines: Vec<&str> = lines.split('|').collect();
            let events = joining.events(&lines);
            let found: Vec<String> = events.iter().map(|event| event.join("|")).collect();
            assert_eq!(found.join("/"), expected);
        }
        assert!(!begun.begins(b"a") && begun.begins(b"[a") && headed.begins(b"a"));
    }
}
