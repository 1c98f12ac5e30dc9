//! Scores by the value of a feature: the curve, and what it was given.

use clew_query::{FeatureCurve, Query, QueryError, RankFeature};
use clew_schema::{feature_code, feature_weight};

use super::{Explained, Explainer, PIVOT};

impl Explainer<'_> {
    /// The score of a feature; that the document has it is known.
    pub(super) fn feature(&self, score: f32, query: &RankFeature) -> Result<Explained, QueryError> {
        // A line gives the value as it is kept.
        let unboosted = Explainer {
            factor: 1.0,
            ..*self
        };
        let value = unboosted.score(&Query::RankFeature(RankFeature {
            curve: FeatureCurve::Linear,
            boost: 1.0,
            ..query.clone()
        }))?;
        let value = value.unwrap_or_default();
        let weight = query.boost * self.factor;
        let (name, formula, figures) = match query.curve {
            FeatureCurve::Saturation { pivot } => {
                let pivot = pivot.unwrap_or_else(|| pivot_of(score / weight, value));
                ("Saturation", "w * S / (S + k)", vec![told(pivot, PIVOT)])
            }
            FeatureCurve::Log { scaling_factor } => {
                let figures = vec![told(scaling_factor, "a, scaling factor")];
                ("Log", "w * log(a + S)", figures)
            }
            FeatureCurve::Sigmoid { pivot, exponent } => {
                let figures = vec![told(pivot, PIVOT), told(exponent, EXPONENT)];
                ("Sigmoid", "w * S^a / (S^a + k^a)", figures)
            }
            FeatureCurve::Linear => ("Linear", "w * S", Vec::new()),
        };
        let (field, feature) = self.named(&query.field);
        let mut details = vec![told(weight, "w, weight of this function")];
        details.extend(figures);
        details.push(told(value, "S, feature value"));
        let description = format!(
            "{name} function on the {field} field for the {feature} feature, computed as {formula} from:"
        );
        Ok(Explained::new(score, description, details))
    }

    /// The field that keeps a feature, and the feature's name there: those that are fields of their own are kept together.
    fn named<'p>(&self, path: &'p str) -> (&'p str, &'p str) {
        let mapping = &self.context.snapshot.mapping;
        if mapping.field(path).is_some() {
            return ("_feature", path);
        }
        let above = path.rmatch_indices('.').map(|(at, _)| path.split_at(at));
        let mut above = above.filter(|(field, _)| mapping.field(field).is_some());
        match above.next() {
            Some((field, feature)) => (field, feature.trim_start_matches('.')),
            None => ("_feature", path),
        }
    }
}

/// What a power of a curve is called.
const EXPONENT: &str =
    "a, exponent, higher values make the function grow slower before k and faster after k";

fn told(value: f32, name: &str) -> Explained {
    Explained::new(value, name, Vec::new())
}

/// The pivot of a saturation that gives a score: one of the values that are kept, of which there are few for so large a number.
fn pivot_of(score: f32, value: f32) -> f32 {
    /// Far less than lies between two values.
    const NEARLY: f32 = 1.0005;
    let pivot = value * (1.0 / score - 1.0);
    feature_weight(feature_code(pivot * NEARLY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pivot_is_found_again() {
        for pivot in [1.0_f32, 3.5, 41.0, 96.0] {
            for value in [1.0_f32, 41.0, 67.0, 1000.0] {
                let found = pivot_of(value / (value + pivot), value);
                assert!((found - pivot).abs() < f32::EPSILON, "{value}: {found}");
            }
        }
    }
}
