//! What changed between two captures, as a flame graph of both.

use std::io::Write;

use super::flame::Picture;
use super::tree::{self, Node, Tree};
use crate::{Profile, ProfileError};

/// A share of all that has changed by this much, or more, has the full color.
const FULL: f64 = 0.05;

/// Draws a flame graph of two captures of the same kind, each as shares of its own whole, so that they may be of different
/// lengths. A call is as wide as its mean share in both, so that nothing that is gone is left out; red is what has grown and
/// blue what has shrunk. `value` names what is compared; without it that is what both show by themselves.
///
/// # Errors
/// When one of them has no value of that name, without a name when neither's main value is among those of the other, or writing
/// fails.
pub fn difference(
    old: &Profile,
    new: &Profile,
    value: Option<&str>,
    to: &mut dyn Write,
) -> Result<(), ProfileError> {
    let values = match value {
        Some(name) => (named(old, name)?, named(new, name)?),
        None => compared(old, new)?,
    };
    let mut tree = Tree::new();
    for (side, (profile, value)) in [(old, values.0), (new, values.1)].into_iter().enumerate() {
        // Of nothing, nothing is a share.
        let whole = tree::whole(profile, value).max(1.0);
        tree.add(profile, value, side, 1.0 / whole);
    }
    let picture = Picture {
        title: format!("{}: shares of all, before and after", told(new, values.1)),
        notes: "red has grown, blue has shrunk; widths are the mean of both".to_string(),
        width_of: &|node| f64::midpoint(node.within[0], node.within[1]),
        color_of: &color_of,
        told_of: &told_of,
    };
    picture.write(&tree, to)
}

/// Which values of two profiles are the same: the main one of both, or of one that has only a part of the other's values, as
/// collapsed stacks have.
fn compared(old: &Profile, new: &Profile) -> Result<(usize, usize), ProfileError> {
    let (main, other_main) = (old.main_value(), new.main_value());
    let is_in = |profile: &Profile, main: usize, other: &Profile| {
        let wanted = profile.values.get(main)?;
        other.values.iter().position(|value| value == wanted)
    };
    if old.values.get(main) == new.values.get(other_main) {
        return Ok((main, other_main));
    }
    let in_new = is_in(old, main, new).map(|found| (main, found));
    let in_old = || is_in(new, other_main, old).map(|found| (found, other_main));
    let different = || ProfileError::Different(told(old, main), told(new, other_main));
    in_new.or_else(in_old).ok_or_else(different)
}

fn named(profile: &Profile, name: &str) -> Result<usize, ProfileError> {
    profile.value(name).ok_or_else(|| ProfileError::NoValue {
        name: name.to_string(),
        there_are: profile
            .values
            .iter()
            .map(|value| value.name.clone())
            .collect(),
    })
}

fn told(profile: &Profile, value: usize) -> String {
    let value = profile.values.get(value);
    value.map_or(String::new(), |value| {
        format!("{} ({})", value.name, value.unit)
    })
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
        difference(&old, &new, None, &mut bytes).unwrap();
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
    fn shares_are_those_of_what_is_drawn_whatever_the_numbers() {
        let read = |text: &str| Profile::read(text.as_bytes()).unwrap();
        let new = read("a 1\nb 1\n");
        for old in [
            format!("a {0}\nb {0}\n", i64::MAX),
            // As a difference that another tool has made.
            "a 6\nb 6\nc -11\n".to_string(),
        ] {
            let mut bytes = Vec::new();
            difference(&read(&old), &new, None, &mut bytes).unwrap();
            let picture = String::from_utf8(bytes).unwrap();
            for told in ["all (100.00 % -&gt; 100.00 %", "a (50.00 % -&gt; 50.00 %"] {
                assert!(picture.contains(told), "{picture}");
            }
        }
    }

    #[test]
    fn collapsed_stacks_are_compared_with_the_count_that_a_capture_has_beside_its_time() {
        let old = Profile::read(b"a;b 3\na;c 1\n").unwrap();
        let mut new = old.clone();
        new.values = crate::ProfileKind::OnCpu.values();
        for sample in &mut new.samples {
            sample.values = vec![1, 10_000_000];
        }
        for (old, new, told) in [
            (&old, &new, "b (75.00 % -&gt; 50.00 %"),
            (&new, &old, "b (50.00 % -&gt; 75.00 %"),
        ] {
            let mut bytes = Vec::new();
            difference(old, new, None, &mut bytes).unwrap();
            let picture = String::from_utf8(bytes).unwrap();
            assert!(picture.contains(told), "{picture}");
            assert!(picture.contains("samples (count): shares of all"));
        }
    }

    #[test]
    fn a_value_is_compared_that_is_not_the_main_one() {
        let mut old = Profile::read(b"a;b 1\na;c 1\n").unwrap();
        old.values = crate::ProfileKind::OffCpu.values();
        let mut new = old.clone();
        for (profile, runqueue) in [(&mut old, [50, 50]), (&mut new, [75, 25])] {
            for (sample, nanos) in profile.samples.iter_mut().zip(runqueue) {
                sample.values = vec![nanos, 1];
            }
        }
        let drawn = |value| {
            let mut bytes = Vec::new();
            let drawn = difference(&old, &new, value, &mut bytes);
            drawn.map(|()| String::from_utf8(bytes).unwrap())
        };
        let picture = drawn(Some("runqueue")).unwrap();
        assert!(picture.contains("b (50.00 % -&gt; 75.00 %"), "{picture}");
        assert!(picture.contains("runqueue (nanoseconds): shares"));
        assert!(drawn(None).unwrap().contains("b (50.00 % -&gt; 50.00 %"));
        let refused = drawn(Some("cpu")).unwrap_err().to_string();
        assert_eq!(refused, "a profile has no cpu: there are runqueue, blocked");
    }

    #[test]
    fn what_measures_other_things_is_refused() {
        let old = Profile::read(b"a 1\n").unwrap();
        let mut new = old.clone();
        new.values = crate::ProfileKind::Heap.values();
        let error = difference(&old, &new, None, &mut Vec::new())
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "a profile of samples (count) cannot be compared with one of inuse_space (bytes)"
        );
    }
}
