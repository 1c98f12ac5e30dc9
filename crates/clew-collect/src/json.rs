//! Members of JSON objects, written one by one without a tree.

pub(crate) use clew_ingest::json_text::{push_escaped, push_number, push_text};

/// The inside of a JSON object that is written member by member, objects in objects included.
#[derive(Debug, Default)]
pub(crate) struct Members {
    out: Vec<u8>,
}

impl Members {
    pub(crate) fn clear(&mut self) {
        self.out.clear();
    }

    /// The members written so far, without the braces around them.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.out
    }

    fn separate(&mut self) {
        if !matches!(self.out.last(), None | Some(b'{' | b'[')) {
            self.out.push(b',');
        }
    }

    fn name(&mut self, name: &str) {
        self.separate();
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
    }

    /// A text member; an empty text is left out.
    pub(crate) fn text(&mut self, name: &'static str, value: &str) {
        if !value.is_empty() {
            self.name(name);
            push_text(&mut self.out, value);
        }
    }

    /// A text member whose name comes from outside; an empty text is left out.
    pub(crate) fn named_text(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.separate();
            push_text(&mut self.out, name);
            self.out.push(b':');
            push_text(&mut self.out, value);
        }
    }

    pub(crate) fn number(&mut self, name: &'static str, value: u64) {
        self.name(name);
        push_number(&mut self.out, value);
    }

    pub(crate) fn flag(&mut self, name: &'static str) {
        self.name(name);
        self.out.extend_from_slice(b"true");
    }

    /// A member whose value is JSON already.
    pub(crate) fn raw(&mut self, name: &'static str, json: &str) {
        self.name(name);
        self.out.extend_from_slice(json.as_bytes());
    }

    /// A nested object; left out when nothing is written into it.
    pub(crate) fn object(&mut self, name: &'static str, fill: impl FnOnce(&mut Members)) {
        let before = self.out.len();
        self.name(name);
        self.out.push(b'{');
        let inside = self.out.len();
        fill(self);
        if self.out.len() == inside {
            self.out.truncate(before);
        } else {
            self.out.push(b'}');
        }
    }

    /// An array of objects, one for each item.
    pub(crate) fn objects<T>(
        &mut self,
        name: &'static str,
        items: impl Iterator<Item = T>,
        mut fill: impl FnMut(&mut Members, T),
    ) {
        self.name(name);
        self.out.push(b'[');
        for item in items {
            if self.out.last() != Some(&b'[') {
                self.out.push(b',');
            }
            self.out.push(b'{');
            fill(self, item);
            self.out.push(b'}');
        }
        self.out.push(b']');
    }

    /// An array of texts.
    pub(crate) fn texts<'a>(&mut self, name: &'static str, items: impl Iterator<Item = &'a str>) {
        self.name(name);
        self.out.push(b'[');
        for item in items {
            if self.out.last() != Some(&b'[') {
                self.out.push(b',');
            }
            push_text(&mut self.out, item);
        }
        self.out.push(b']');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_nest_and_leave_out_what_is_empty() {
        let mut members = Members::default();
        members.text("a", "x\"y");
        members.object("gone", |o| o.text("empty", ""));
        members.object("b", |o| {
            o.number("n", 10);
            o.object("c", |o| o.flag("d"));
        });
        members.texts("e", ["1", "2"].into_iter());
        members.named_text("g\"", "3");
        members.named_text("h", "");
        members.objects("f", [1_u64, 2].into_iter(), |o, n| o.number("n", n));
        assert_eq!(
            String::from_utf8_lossy(members.bytes()),
            r#""a":"x\"y","b":{"n":10,"c":{"d":true}},"e":["1","2"],"g\"":"3","f":[{"n":1},{"n":2}]"#
        );
    }
}
