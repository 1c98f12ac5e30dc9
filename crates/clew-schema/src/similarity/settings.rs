//! `index.similarity` of an index's settings: the schemes that its fields may name.

use std::collections::{BTreeMap, BTreeSet};

use super::independence::Measure;
use super::information::{Distribution, Rarity};
use super::normalization::Normalization;
use super::randomness::{AfterEffect, BasicModel};
use super::{B, K1, Similarity};

/// Most schemes of one index.
const NAMES_MAX: usize = 1000;
/// The scheme of fields that name none.
const DEFAULT: &str = "default";
/// What two schemes share.
const NORMALIZATIONS: [&str; 5] = [
    "normalization",
    "normalization.h1.c",
    "normalization.h2.c",
    "normalization.h3.c",
    "normalization.z.z",
];

/// Why a scheme cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimilarityError {
    /// It is unknown, or its parameters make no sense.
    #[error("{0}")]
    Refused(String),
    /// A parameter is no number.
    #[error("Failed to parse float setting [{name}] with value [{value}]")]
    NotANumber {
        /// The parameter.
        name: String,
        /// What it was given.
        value: String,
    },
}

fn refused<T>(reason: impl Into<String>) -> Result<T, SimilarityError> {
    Err(SimilarityError::Refused(reason.into()))
}

/// The schemes of an index, by their names.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Similarities {
    /// As the settings have them: `NAME.type`, `NAME.k1`, …
    given: BTreeMap<String, String>,
    named: BTreeMap<String, Similarity>,
}

impl Similarities {
    /// Reads the settings under `index.similarity`, without that prefix.
    ///
    /// # Errors
    /// [`SimilarityError`], in OpenSearch's words.
    pub fn read(given: BTreeMap<String, String>) -> Result<Similarities, SimilarityError> {
        let mut groups: BTreeMap<&str, Parameters<'_>> = BTreeMap::new();
        for (key, value) in &given {
            let (name, parameter) = key.split_once('.').unwrap_or((key, ""));
            groups.entry(name).or_default().0.insert(parameter, value);
        }
        if groups.len() > NAMES_MAX {
            return refused(format!("at most {NAMES_MAX} similarities are allowed"));
        }
        let mut named = BTreeMap::new();
        for (name, parameters) in groups {
            if standing(name).is_some() {
                return refused(format!(
                    "illegal value for [index.similarity.{name}] cannot redefine built-in similarity"
                ));
            }
            named.insert(name.to_string(), parameters.scheme(name)?);
        }
        Ok(Similarities { given, named })
    }

    /// What it was read from.
    pub fn given(&self) -> &BTreeMap<String, String> {
        &self.given
    }

    /// Whether words of one place count each in lengths under a scheme, or under that of fields that name none.
    pub(crate) fn counts_each(&self, name: Option<&str>) -> bool {
        let name = name.unwrap_or(DEFAULT);
        let given = self.given.get(&format!("{name}.discount_overlaps"));
        given.is_some_and(|given| given == "false")
    }

    /// The scheme that goes by this name.
    pub(crate) fn named(&self, name: &str) -> Option<Similarity> {
        standing(name).or_else(|| self.named.get(name).copied())
    }

    /// The scheme of fields that name none.
    pub(crate) fn usual(&self) -> Similarity {
        let own = self.named.get(DEFAULT).copied();
        own.unwrap_or(Similarity::USUAL)
    }
}

/// The schemes that need no settings.
fn standing(name: &str) -> Option<Similarity> {
    match name {
        "BM25" => Some(Similarity::USUAL),
        "boolean" => Some(Similarity::Boolean),
        _ => None,
    }
}

/// Why OpenSearch refuses the scheme that Lucene began with.
pub const CLASSIC_REFUSED: &str = "The [classic] similarity may not be used anymore. Please use \
     the [BM25] similarity or build a custom [scripted] similarity instead.";

/// The parameters of one scheme.
#[derive(Default)]
struct Parameters<'g>(BTreeMap<&'g str, &'g str>);

impl Parameters<'_> {
    fn scheme(&self, name: &str) -> Result<Similarity, SimilarityError> {
        let Some(kind) = self.0.get("type").copied() else {
            return refused(format!("Similarity [{name}] must have an associated type"));
        };
        let known: &[&str] = match kind {
            "BM25" => &["k1", "b", "discount_overlaps"],
            "boolean" => &[],
            "LMDirichlet" => &["mu"],
            "LMJelinekMercer" => &["lambda"],
            "DFR" => &["basic_model", "after_effect"],
            "DFI" => &["independence_measure"],
            "IB" => &["distribution", "lambda"],
            "classic" => return refused(CLASSIC_REFUSED),
            _ => {
                return refused(format!("Unknown Similarity type [{kind}] for [{name}]"));
            }
        };
        self.check_names(kind, known)?;
        Ok(match kind {
            "BM25" => self.bm25()?,
            "boolean" => Similarity::Boolean,
            "LMDirichlet" => Similarity::Dirichlet {
                mu: self.at_least_zero("mu", "mu", 2000.0)?,
            },
            "LMJelinekMercer" => {
                let lambda = self.number("lambda", 0.1)?;
                if !(lambda > 0.0 && lambda <= 1.0) {
                    return refused("lambda must be in the range (0 .. 1]");
                }
                Similarity::JelinekMercer { lambda }
            }
            "DFR" => Similarity::Randomness {
                model: self.model()?,
                effect: self.effect()?,
                normalization: self.normalization()?,
            },
            "DFI" => Similarity::Independence(self.measure()?),
            _ => Similarity::Information {
                distribution: self.distribution()?,
                rarity: self.rarity()?,
                normalization: self.normalization()?,
            },
        })
    }

    fn check_names(&self, kind: &str, known: &[&str]) -> Result<(), SimilarityError> {
        let shared: &[&str] = if matches!(kind, "DFR" | "IB") {
            &NORMALIZATIONS
        } else {
            &[]
        };
        let known: BTreeSet<&str> = [&["type"], known, shared].concat().into_iter().collect();
        let unknown: Vec<&str> = self
            .0
            .keys()
            .copied()
            .filter(|key| !known.contains(key))
            .collect();
        if unknown.is_empty() {
            return Ok(());
        }
        refused(format!(
            "Unknown settings for similarity of type [{kind}]: [{}]",
            unknown.join(", ")
        ))
    }

    fn bm25(&self) -> Result<Similarity, SimilarityError> {
        let k1 = self.at_least_zero("k1", "k1", K1)?;
        let b = self.number("b", B)?;
        if !(0.0..=1.0).contains(&b) {
            return refused(format!("illegal b value: {b:?}, must be between 0 and 1"));
        }
        match self.0.get("discount_overlaps") {
            None | Some(&("true" | "false")) => Ok(Similarity::Bm25 { k1, b }),
            Some(other) => refused(format!(
                "Failed to parse value [{other}] as only [true] or [false] are allowed."
            )),
        }
    }

    fn model(&self) -> Result<BasicModel, SimilarityError> {
        match self.word("basic_model") {
            "g" => Ok(BasicModel::Geometric),
            "if" => Ok(BasicModel::InverseOccurrences),
            "in" => Ok(BasicModel::InverseDocuments),
            "ine" => Ok(BasicModel::InverseExpected),
            gone @ ("be" | "d" | "p") => refused(format!(
                "Basic model [{gone}] isn't supported anymore, please use another model."
            )),
            other => refused(format!(
                "Unsupported BasicModel [{other}], expected one of [ine, in, g, if]"
            )),
        }
    }

    fn effect(&self) -> Result<AfterEffect, SimilarityError> {
        match self.word("after_effect") {
            "b" => Ok(AfterEffect::Bernoulli),
            "l" => Ok(AfterEffect::Laplace),
            "no" => {
                refused("After effect [no] isn't supported anymore, please use another effect.")
            }
            other => refused(format!(
                "Unsupported AfterEffect [{other}], expected one of [b, l]"
            )),
        }
    }

    fn normalization(&self) -> Result<Normalization, SimilarityError> {
        match self.word("normalization") {
            "no" => Ok(Normalization::Nothing),
            "h1" => Ok(Normalization::Even {
                c: self.at_least_zero("normalization.h1.c", "c", 1.0)?,
            }),
            "h2" => Ok(Normalization::Thinning {
                c: self.at_least_zero("normalization.h2.c", "c", 1.0)?,
            }),
            "h3" => Ok(Normalization::Smoothed {
                mu: self.at_least_zero("normalization.h3.c", "mu", 800.0)?,
            }),
            "z" => {
                let z = self.number("normalization.z.z", 0.3)?;
                if z > 0.0 && z < 0.5 {
                    return Ok(Normalization::Zipf { z });
                }
                refused(format!(
                    "illegal z value: {z:?}, must be in the range (0 .. 0.5)"
                ))
            }
            other => refused(format!("Unsupported Normalization [{other}]")),
        }
    }

    fn measure(&self) -> Result<Measure, SimilarityError> {
        match self.word("independence_measure") {
            "standardized" => Ok(Measure::Standardized),
            "saturated" => Ok(Measure::Saturated),
            "chisquared" => Ok(Measure::ChiSquared),
            other => refused(format!(
                "Unsupported IndependenceMeasure [{other}], expected one of [standardized, saturated, chisquared]"
            )),
        }
    }

    fn distribution(&self) -> Result<Distribution, SimilarityError> {
        match self.word("distribution") {
            "ll" => Ok(Distribution::LogLogistic),
            "spl" => Ok(Distribution::PowerLaw),
            other => refused(format!("Unsupported Distribution [{other}]")),
        }
    }

    fn rarity(&self) -> Result<Rarity, SimilarityError> {
        match self.word("lambda") {
            "df" => Ok(Rarity::Documents),
            "ttf" => Ok(Rarity::Occurrences),
            other => refused(format!("Unsupported Lambda [{other}]")),
        }
    }

    /// A parameter that is one of a few words; in messages, none is `null`.
    fn word(&self, key: &str) -> &str {
        self.0.get(key).copied().unwrap_or("null")
    }

    fn number(&self, key: &str, usual: f32) -> Result<f32, SimilarityError> {
        match self.0.get(key) {
            None => Ok(usual),
            Some(text) => text
                .trim()
                .parse()
                .map_err(|_| SimilarityError::NotANumber {
                    name: key.to_string(),
                    value: (*text).to_string(),
                }),
        }
    }

    fn at_least_zero(&self, key: &str, shown: &str, usual: f32) -> Result<f32, SimilarityError> {
        let number = self.number(key, usual)?;
        if number.is_finite() && number >= 0.0 {
            return Ok(number);
        }
        refused(format!(
            "illegal {shown} value: {number:?}, must be a non-negative finite value"
        ))
    }
}
