//! Flame graphs: a picture of the tree of calls, callers above what they call, as wide as what it took. The picture has its own
//! script: a click makes a call as wide as the picture, `/` or Ctrl-F searches, Escape undoes both.

use std::fmt::Write as _;
use std::io::Write;

use super::tree::{Node, Tree};
use crate::{Profile, ProfileError};

/// Width of the picture and height of a row, in its own units.
const WIDTH: f64 = 1200.0;
const ROW: usize = 17;
const TOP: usize = 54;
/// What would be narrower is left out: nobody could see it or click at it.
const NARROWEST: f64 = 0.5;
/// About the width of a letter.
const LETTER: f64 = 6.6;

const STYLE: &str = include_str!("flame.css");
const SCRIPT: &str = include_str!("flame.js");

pub(super) fn write(
    profile: &Profile,
    value: usize,
    to: &mut dyn Write,
) -> Result<(), ProfileError> {
    let mut tree = Tree::new();
    tree.add(profile, value, 1, 1.0);
    let unit = profile
        .values
        .get(value)
        .map_or("", |value| value.unit.as_str());
    let name = profile
        .values
        .get(value)
        .map_or("", |value| value.name.as_str());
    let total = tree.nodes.first().map_or(0.0, |root| root.within[1]);
    let title = format!(
        "{name}: {} in {:.1} s",
        amount(total, unit),
        profile.took.as_secs_f64()
    );
    let picture = Picture {
        title,
        notes: profile.comments.join("; "),
        width_of: &|node| node.within[1],
        color_of: &|node| color_of(node.name, name),
        told_of: &|node| {
            format!(
                "{}, {:.2} %",
                amount(node.within[1], unit),
                // Of nothing, nothing is a share.
                100.0 * node.within[1] / total.max(f64::MIN_POSITIVE)
            )
        },
    };
    picture.write(&tree, to)
}

/// How a tree is shown.
pub(super) struct Picture<'p> {
    pub(super) title: String,
    pub(super) notes: String,
    pub(super) width_of: &'p dyn Fn(&Node<'_>) -> f64,
    pub(super) color_of: &'p dyn Fn(&Node<'_>) -> String,
    pub(super) told_of: &'p dyn Fn(&Node<'_>) -> String,
}

impl Picture<'_> {
    pub(super) fn write(&self, tree: &Tree<'_>, to: &mut dyn Write) -> Result<(), ProfileError> {
        let mut boxes = String::new();
        let mut deepest = 0;
        let total = tree.nodes.first().map_or(0.0, self.width_of);
        let mut open = vec![(0, 0.0)];
        while let Some((number, x)) = open.pop() {
            let Some(node) = tree.nodes.get(number) else {
                continue;
            };
            let width = match total {
                0.0 => WIDTH,
                total => WIDTH * (self.width_of)(node) / total,
            };
            if width < NARROWEST {
                continue;
            }
            deepest = deepest.max(node.depth);
            self.push_box(&mut boxes, node, (x, width));
            let mut at = x;
            for call in tree.calls_by_name(node) {
                open.push((call, at));
                let width = tree.nodes.get(call).map_or(0.0, self.width_of);
                at += WIDTH * width / total.max(f64::MIN_POSITIVE);
            }
        }
        let height = TOP + (deepest + 1) * ROW + 8;
        writeln!(
            to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"100%\" \
             font-family=\"ui-monospace, monospace\" font-size=\"11\" role=\"img\">\n<style>{STYLE}</style>\n\
             <rect class=\"page\" width=\"100%\" height=\"100%\"/>\n<text x=\"4\" y=\"16\" class=\"title\">{}</text>\n\
             <text x=\"4\" y=\"31\" class=\"notes\">{}</text>\n<text x=\"4\" y=\"46\" class=\"notes\" id=\"told\"> </text>\n\
             <text x=\"{}\" y=\"16\" class=\"button\" id=\"search\" text-anchor=\"end\" tabindex=\"0\">search</text>\n\
             <text x=\"{}\" y=\"31\" class=\"button\" id=\"undo\" text-anchor=\"end\" tabindex=\"0\">undo</text>\n\
             <g id=\"calls\">\n{boxes}</g>\n<script><![CDATA[\n{SCRIPT}]]></script>\n</svg>",
            svg_text(&self.title),
            svg_text(&self.notes),
            WIDTH - 4.0,
            WIDTH - 4.0,
        )?;
        Ok(())
    }

    fn push_box(&self, boxes: &mut String, node: &Node<'_>, (x, width): (f64, f64)) {
        let y = TOP + node.depth * ROW;
        let (name, brief) = (svg_text(node.name), brief(node.name));
        // Writing into a text cannot fail.
        let _ = writeln!(
            boxes,
            "<g data-n=\"{}\"><title>{name} ({told})</title><rect x=\"{x:.2}\" y=\"{y}\" width=\"{width:.2}\" \
             height=\"{}\" fill=\"{}\"/><text x=\"{:.2}\" y=\"{}\">{}</text></g>",
            svg_text(&brief),
            ROW - 1,
            (self.color_of)(node),
            x + 3.0,
            y + 12,
            svg_text(&fitting(&brief, width)),
            told = svg_text(&(self.told_of)(node)),
        );
    }
}

/// A name without its types' parameters: `<A<B> as C>::f::<D>` is `A::f`.
fn brief(name: &str) -> String {
    let mut brief = String::with_capacity(name.len());
    let mut rest = name;
    if name.starts_with('<')
        && let Some(end) = end_of_parameters(name)
    {
        let inside = name.get(1..end - 1).unwrap_or_default();
        // Of the trait's name nothing is told: its function has a name.
        brief.push_str(inside.split_once(" as ").map_or(inside, |(own, _)| own));
        rest = name.get(end..).unwrap_or_default();
        brief = self::brief(&brief);
    }
    while let Some(at) = rest.find('<') {
        brief.push_str(rest.get(..at).unwrap_or_default().trim_end_matches("::"));
        rest = rest.get(at..).unwrap_or_default();
        let end = end_of_parameters(rest).unwrap_or(rest.len());
        rest = rest.get(end..).unwrap_or_default();
    }
    brief.push_str(rest);
    brief
}

/// Where the parameters that a text begins with end.
fn end_of_parameters(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        match letter {
            '<' => depth += 1,
            // Not the arrow of a function's type.
            '>' if before != '-' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
        before = letter;
    }
    None
}

/// The end of a name that fits a width, as paths are long and their ends tell most.
fn fitting(name: &str, width: f64) -> String {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count of letters"
    )]
    let letters = ((width - 6.0) / LETTER).max(0.0) as usize;
    let length = name.chars().count();
    match letters {
        0..3 => String::new(),
        _ if length <= letters => name.to_string(),
        _ => {
            let end = name.chars().skip(length - (letters - 1));
            std::iter::once('…').chain(end).collect()
        }
    }
}

/// A text as an SVG holds it; letters that XML has no way to say are blanks.
pub fn svg_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            letter if letter.is_control() => escaped.push(' '),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// A color by the crate of a function, of a range for each kind of value: the same code has the same color in every picture.
fn color_of(name: &str, value: &str) -> String {
    let path = name.trim_start_matches(['<', '&']);
    let end = path.find("::").unwrap_or(path.len());
    let part = path.get(..end).unwrap_or(path);
    let hash = part.bytes().fold(17_u32, |hash, byte| {
        hash.wrapping_mul(31).wrapping_add(byte.into())
    });
    let (from, width) = match value {
        "blocked" | "runqueue" => (190, 60),
        "alloc_objects" | "alloc_space" | "inuse_objects" | "inuse_space" => (90, 60),
        _ => (5, 50),
    };
    format!("hsl({} 75% {}%)", from + hash % width, 62 + hash / 64 % 12)
}

/// A number with its unit, for people.
pub(super) fn amount(value: f64, unit: &str) -> String {
    let steps: &[(f64, &str)] = match unit {
        "nanoseconds" => &[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")],
        "bytes" => &[
            (1_073_741_824.0, "GiB"),
            (1_048_576.0, "MiB"),
            (1024.0, "KiB"),
            (1.0, "B"),
        ],
        _ => &[],
    };
    let step = steps.iter().find(|(from, _)| value >= *from);
    match step.or(steps.last()) {
        Some((from, name)) => format!("{:.2} {name}", value / from),
        None => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::collapsed;

    #[test]
    fn a_picture_has_a_box_for_each_call_and_none_for_what_cannot_be_seen() {
        let text = "main;a<b> 70000\nmain;c 29990\nmain;d 10\n";
        let profile = collapsed::read(text.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        write(&profile, 0, &mut bytes).unwrap();
        let picture = String::from_utf8(bytes).unwrap();
        assert_eq!(picture.matches("<g data-n=").count(), 4);
        assert!(picture.contains("data-n=\"a\"><title>a&lt;b&gt; (70000, 70.00 %)"));
        assert!(
            picture.contains("x=\"0.00\" y=\"88\" width=\"840.00\""),
            "{picture}"
        );
        assert!(picture.contains("x=\"840.00\" y=\"88\" width=\"359.88\""));
    }

    #[test]
    fn a_picture_of_nothing_has_no_shares_of_it() {
        let mut profile = collapsed::read(b"main;a 1\n").unwrap();
        profile.samples.clear();
        let mut bytes = Vec::new();
        write(&profile, 0, &mut bytes).unwrap();
        let picture = String::from_utf8(bytes).unwrap();
        assert!(picture.contains("<title>all (0, 0.00 %)"), "{picture}");
        assert!(!picture.contains("NaN"), "{picture}");
    }

    #[test]
    fn numbers_have_the_unit_that_suits_them() {
        assert_eq!(amount(1_500_000.0, "nanoseconds"), "1.50 ms");
        assert_eq!(amount(0.0, "nanoseconds"), "0.00 ns");
        assert_eq!(amount(3_145_728.0, "bytes"), "3.00 MiB");
        assert_eq!(amount(12.0, "count"), "12");
        assert_eq!(fitting("alpha::beta", 40.0), "…beta");
        assert_eq!(fitting("alpha", 10.0), "");
    }

    #[test]
    fn names_are_shown_without_parameters() {
        let cases = [
            ("a::b", "a::b"),
            ("a::b<c::D<E>>::{closure#1}<F>", "a::b::{closure#1}"),
            ("<a::B<dyn Fn() -> C> as d::E>::f", "a::B::f"),
            ("<alpha>", "alpha"),
            ("a::<b", "a"),
        ];
        for (name, shown) in cases {
            assert_eq!(brief(name), shown, "{name}");
        }
    }
}
