//! What changed between two captures, as a flame graph of both.

use std::io::Write;

use super::flame::Picture;
use super::tree::{Node, Tree};
use crate::{Profile, ProfileError};

/// A share of all that has changed by this much, or more, has the full color.
const FULL: f64 = 0.05;

/// Draws a flame graph of two captures of the same kind, each as shares of its own whole, so that they may be of different
/// lengths. A call is as wide as its mean share in both, so that nothing that is gone is left out; red is what has grown and
/// blue what has shrunk.
///
/// # Errors
/// When they do not have the same main value, or writing fails.
pub fn difference(old: &Profile, new: &Profile, to: &mut dyn Write) -> Result<(), ProfileError> {
    let of = |profile: &Profile| {
        let value = profile.values.get(profile.main_value());
        value.map_or(String::new(), |value| {
            format!("{} ({})", value.name, value.unit)
        })
    };
    if of(old) != of(new) {
        return Err(ProfileError::Different(of(old), of(new)));
    }
    let mut tree = Tree::new();
    for (side, profile) in [old, new].into_iter().enumerate() {
        let value = profile.main_value();
        #[allow(clippy::cast_precision_loss, reason = "shares in a picture")]
        let total = profile.total(value).max(1) as f64;
        tree.add(profile, value, side, 1.0 / total);
    }
    let picture = Picture {
        title: format!("{}: shares of all, before and after", of(new)),
        notes: "red has grown, blue has shrunk; widths are the mean of both".to_string(),
        width_of: &|node| f64::midpoint(node.within[0], node.within[1]),
        color_of: &color_of,
        told_of: &told_of,
    };
    picture.write(&tree, to)
}

fn grown(node: &Node<'_>) -> f64 {
    node.within[1] - node.within[0]
}

fn color_of(node: &Node<'_>) -> String {
    let strength = (grown(node).abs() / FULL).min(1.0);
    let hue = if grown(node) > 0.0 { 8 } else { 215 };
    format!(
        "hsl({hue} {:.0}% {:.0}%)",
        85.0 * strength,
        90.0 - 28.0 * strength
    )
}

fn told_of(node: &Node<'_>) -> String {
    let [old, new] = node.within.map(|share| 100.0 * share);
    format!("{old:.2} % -> {new:.2} %, {:+.2}", new - old)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_compared_whatever_the_lengths() {
        let read = |text: &str| Profile::read(text.as_bytes()).unwrap();
        let (old, new) = (read("a;b 50\na;c 50\n"), read("a;b 900\na;d 100\n"));
        let mut bytes = Vec::new();
        difference(&old, &new, &mut bytes).unwrap();
        let picture = String::from_utf8(bytes).unwrap();
        assert!(
            picture.contains("b (50.00 % -&gt; 90.00 %, +40.00)"),
            "{picture}"
        );
        assert!(picture.contains("c (50.00 % -&gt; 0.00 %, -50.00)"));
        assert!(picture.contains("d (0.00 % -&gt; 10.00 %, +10.00)"));
        assert!(picture.contains("a (100.00 % -&gt; 100.00 %, +0.00)"));
    }

    #[test]
    fn what_measures_other_things_is_refused() {
        let old = Profile::read(b"a 1\n").unwrap();
        let mut new = old.clone();
        new.values = crate::Kind::Heap.values();
        let error = difference(&old, &new, &mut Vec::new())
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "a profile of samples (count) cannot be compared with one of inuse_space (bytes)"
        );
    }
}
