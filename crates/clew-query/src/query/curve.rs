//! Curves: what becomes of a distance, and of a field's value.

use serde::{Deserialize, Serialize};

/// How a score falls with distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DecayShape {
    /// The bell.
    Gauss,
    /// By the same share for the same distance.
    Exp,
    /// Straight down to nothing.
    Linear,
}

impl DecayShape {
    /// The value at a distance, where it is `decay` at `scale`.
    #[inline]
    pub fn at(self, distance: f64, scale: f64, decay: f64) -> f64 {
        match self {
            DecayShape::Gauss => (decay.ln() * (distance / scale).powi(2)).exp(),
            DecayShape::Exp => (decay.ln() * distance / scale).exp(),
            DecayShape::Linear => {
                let end = scale / (1.0 - decay);
                ((end - distance) / end).max(0.0)
            }
        }
    }
}

/// What is done with a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum FieldModifier {
    /// Nothing.
    #[default]
    None,
    /// The logarithm of base 10.
    Log,
    /// The same of one more.
    Log1p,
    /// The same of two more.
    Log2p,
    /// The natural logarithm.
    Ln,
    /// The same of one more.
    Ln1p,
    /// The same of two more.
    Ln2p,
    /// The square.
    Square,
    /// The square root.
    Sqrt,
    /// One divided by it.
    Reciprocal,
}

impl FieldModifier {
    /// The modifier with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "none" => FieldModifier::None,
            "log" => FieldModifier::Log,
            "log1p" => FieldModifier::Log1p,
            "log2p" => FieldModifier::Log2p,
            "ln" => FieldModifier::Ln,
            "ln1p" => FieldModifier::Ln1p,
            "ln2p" => FieldModifier::Ln2p,
            "square" => FieldModifier::Square,
            "sqrt" => FieldModifier::Sqrt,
            "reciprocal" => FieldModifier::Reciprocal,
            _ => return None,
        })
    }

    /// What a value of a field becomes.
    #[inline]
    pub fn apply(self, value: f64) -> f64 {
        match self {
            FieldModifier::None => value,
            FieldModifier::Log => value.log10(),
            FieldModifier::Log1p => (value + 1.0).log10(),
            FieldModifier::Log2p => (value + 2.0).log10(),
            FieldModifier::Ln => value.ln(),
            FieldModifier::Ln1p => value.ln_1p(),
            FieldModifier::Ln2p => (value + 2.0).ln(),
            FieldModifier::Square => value * value,
            FieldModifier::Sqrt => value.sqrt(),
            FieldModifier::Reciprocal => 1.0 / value,
        }
    }
}

/// The milliseconds of a span of time like `10d`; `None` where it is none.
pub fn milliseconds(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 7] = [
        ("nanos", 1e-6),
        ("micros", 1e-3),
        ("ms", 1.0),
        ("s", 1e3),
        ("m", 60e3),
        ("h", 3600e3),
        ("d", 86_400e3),
    ];
    let text = text.trim();
    UNITS.iter().find_map(|(name, size)| {
        let number: f64 = text.strip_suffix(name)?.trim().parse().ok()?;
        number.is_finite().then_some(number * size)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_start_at_one_and_pass_through_their_decay() {
        for shape in [DecayShape::Gauss, DecayShape::Exp, DecayShape::Linear] {
            assert!((shape.at(0.0, 10.0, 0.3) - 1.0).abs() < 1e-12, "{shape:?}");
            assert!((shape.at(10.0, 10.0, 0.3) - 0.3).abs() < 1e-12, "{shape:?}");
            assert!(shape.at(20.0, 10.0, 0.3) < 0.3, "{shape:?}");
        }
        assert_eq!(DecayShape::Linear.at(1e6, 10.0, 0.5), 0.0);
        let gauss = DecayShape::Gauss.at(20.0, 10.0, 0.5);
        assert!((gauss - 0.0625).abs() < 1e-12, "{gauss}");
    }

    #[test]
    fn modifiers_have_the_names_people_use() {
        let cases = [
            ("none", 9.0, 9.0),
            ("log1p", 99.0, 2.0),
            ("square", 3.0, 9.0),
            ("sqrt", 9.0, 3.0),
            ("reciprocal", 4.0, 0.25),
            ("LN1P", 0.0, 0.0),
        ];
        for (name, value, wanted) in cases {
            let have = FieldModifier::parse(name).unwrap().apply(value);
            assert!((have - wanted).abs() < 1e-12, "{name}: {have}");
        }
        assert!(FieldModifier::parse("cube").is_none());
    }
}
