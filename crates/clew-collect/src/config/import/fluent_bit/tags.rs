//! Which events of an input a section is for. A tag may have the path of the file in it, `kube.*`, and sections are then for those of
//! some files only.

use clew_schema::glob::{matches as glob, overlap};
use serde_json::{Value, json};

use super::syntax::Section;

/// The tag of an input.
#[derive(Debug)]
pub(super) struct Tag {
    pub(super) written: String,
    /// What it becomes for the files of each of its paths, `*` for any letters; as it is written where it has no path in it.
    whole: Vec<String>,
}

/// The events of an input that a section is for.
#[derive(Debug, PartialEq)]
pub(super) enum Reach {
    All,
    /// Those for which a condition holds.
    Some(Value),
    None,
}

impl Tag {
    /// That of an input that reads these files, if it reads files.
    pub(super) fn new(written: String, paths: &Value) -> Self {
        let paths = paths.as_array().into_iter().flatten();
        let paths: Vec<&str> = paths.filter_map(Value::as_str).collect();
        let whole = match written.contains('*') && !paths.is_empty() {
            true => {
                let paths = paths.iter();
                let dotted = paths.map(|path| path.trim_start_matches('/').replace('/', "."));
                dotted.map(|path| written.replacen('*', &path, 1)).collect()
            }
            false => vec![written.clone()],
        };
        Tag { written, whole }
    }

    /// Which of the events a section is for.
    pub(super) fn reach(&self, section: &Section) -> Reach {
        if section.takes(&self.written) || self.whole.iter().all(|tag| section.takes(tag)) {
            return Reach::All;
        }
        let Some(pattern) = section.pattern() else {
            return Reach::None;
        };
        match self
            .whole
            .iter()
            .any(|tag| have_one_in_common(pattern, tag))
        {
            true => Reach::Some(self.of_files(pattern)),
            false => Reach::None,
        }
    }

    /// The condition that the path of an event's file is as a pattern of tags asks for.
    fn of_files(&self, pattern: &str) -> Value {
        let (before, behind) = self.written.split_once('*').unwrap_or_default();
        let inside = pattern.strip_prefix(before).unwrap_or_else(|| {
            let star = pattern.find('*').unwrap_or_default();
            &pattern[star..]
        });
        let inside = inside.strip_suffix(behind).unwrap_or(inside);
        let mut path = String::new();
        for letter in inside.chars() {
            match letter {
                '*' => path.push_str(".*"),
                '.' => path.push_str("[./]"),
                letter => path.push_str(&regex::escape(&letter.to_string())),
            }
        }
        json!({"regexp": {"log.file.path": format!("^/?{path}$")}})
    }
}

/// Bytes of tags and patterns that are compared; what is longer has nothing in common with others.
const PATTERN_BYTES_MAX: usize = 1_000;

/// Whether a text is as two patterns, in each of which `*` stands for any letters.
fn have_one_in_common(one: &str, other: &str) -> bool {
    match one.contains('*') {
        true => one.len().max(other.len()) <= PATTERN_BYTES_MAX && overlap(one, other),
        false => glob(other, one),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_texts_in_common() {
        for (one, other, expected) in [
            ("kube.*", "kube.var.*.log", true),
            ("kube.var.nginx*", "kube.var.*.log", true),
            ("*nginx*", "kube.*.log", true),
            ("host.*", "kube.*", false),
            ("kube.a.log", "kube.*.log", true),
            ("kube.a", "kube.*.log", false),
            ("a*b", "*c", false),
            ("a*c", "*c", true),
        ] {
            assert_eq!(have_one_in_common(one, other), expected, "{one} {other}");
            assert_eq!(have_one_in_common(other, one), expected, "{other} {one}");
        }
    }

    #[test]
    fn tags_with_paths_are_taken_whole_or_by_files() {
        let paths = json!(["/var/log/containers/*.log"]);
        let tag = Tag::new("kube.*".to_owned(), &paths);
        let of = |pattern: &str| tag.reach(&Section::of_tags(pattern));
        assert_eq!(of("kube.*"), Reach::All);
        assert_eq!(of("kube.var.log.containers.*"), Reach::All);
        assert_eq!(of("host.*"), Reach::None);
        let files = |path: &str| Reach::Some(json!({"regexp": {"log.file.path": path}}));
        assert_eq!(
            of("kube.var.log.containers.web-*"),
            files(r"^/?var[./]log[./]containers[./]web\-.*$")
        );
        assert_eq!(of("*_shop_*"), files("^/?.*_shop_.*$"));
    }
}
