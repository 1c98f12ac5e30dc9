//! How two vectors are compared, and what score a distance becomes.

use serde::{Deserialize, Serialize};

/// How two vectors are compared.
///
/// A smaller distance is always better: squared Euclidean distance, `1 - cos`, or the negated inner
/// product; of bits, Hamming or Jaccard distance, or the share of slots that differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Space {
    /// Squared Euclidean distance.
    L2,
    /// One minus the cosine of the angle, from 0 to 2.
    Cosine,
    /// The inner product, negated.
    InnerProduct,
    /// Number of bits that differ; of [`crate::Element::Bit`] only.
    Hamming,
    /// One minus the share of the set bits that both have; of [`crate::Element::Bit`] only. Two vectors
    /// without a set bit are at distance 0.
    Jaccard,
    /// One minus the share of slots of 8 bits that are equal; of [`crate::Element::Bit`] only. Where slots are the least
    /// hashes of sets, it estimates the Jaccard distance of the sets (Broder, "On the resemblance and containment of
    /// documents", 1997). No graph is built of it: most pairs have nothing in common, and none is nearer than another.
    MinHash8,
    /// The same with slots of 32 bits.
    MinHash32,
    /// The same with slots of 64 bits.
    MinHash64,
}

impl Space {
    /// Every space.
    pub const ALL: [Space; 8] = [
        Space::L2,
        Space::Cosine,
        Space::InnerProduct,
        Space::Hamming,
        Space::Jaccard,
        Space::MinHash8,
        Space::MinHash32,
        Space::MinHash64,
    ];

    /// True for spaces of bits.
    pub fn is_binary(self) -> bool {
        self.slot_bits().is_some() || matches!(self, Space::Hamming | Space::Jaccard)
    }

    /// Bits of a slot, where slots are compared as wholes.
    pub fn slot_bits(self) -> Option<usize> {
        match self {
            Space::MinHash8 => Some(8),
            Space::MinHash32 => Some(32),
            Space::MinHash64 => Some(64),
            Space::L2 | Space::Cosine | Space::InnerProduct | Space::Hamming | Space::Jaccard => {
                None
            }
        }
    }

    /// Whether OpenSearch has such a space.
    pub fn is_in_opensearch(self) -> bool {
        self != Space::Jaccard && self.slot_bits().is_none()
    }

    /// The space that OpenSearch, or Milvus, calls `name`; some are Milvus' alone.
    pub fn from_opensearch(name: &str) -> Option<Space> {
        match name {
            "l2" | "L2" => Some(Space::L2),
            "cosinesimil" | "cosine" | "COSINE" => Some(Space::Cosine),
            "innerproduct" | "ip" | "IP" => Some(Space::InnerProduct),
            "hamming" | "HAMMING" => Some(Space::Hamming),
            "JACCARD" => Some(Space::Jaccard),
            "MHJACCARD8" => Some(Space::MinHash8),
            "MHJACCARD" => Some(Space::MinHash32),
            "MHJACCARD64" => Some(Space::MinHash64),
            _ => None,
        }
    }

    /// OpenSearch's name of this space.
    pub fn name(self) -> &'static str {
        match self {
            Space::L2 => "l2",
            Space::Cosine => "cosinesimil",
            Space::InnerProduct => "innerproduct",
            Space::Hamming => "hamming",
            Space::Jaccard => "JACCARD",
            Space::MinHash8 => "MHJACCARD8",
            Space::MinHash32 => "MHJACCARD",
            Space::MinHash64 => "MHJACCARD64",
        }
    }

    /// OpenSearch's score of a distance: positive, larger is better.
    pub fn score(self, distance: f32) -> f32 {
        match self {
            Space::L2
            | Space::Hamming
            | Space::Jaccard
            | Space::MinHash8
            | Space::MinHash32
            | Space::MinHash64 => 1.0 / (1.0 + distance),
            Space::Cosine => (2.0 - distance) / 2.0,
            Space::InnerProduct if distance <= 0.0 => 1.0 - distance,
            Space::InnerProduct => 1.0 / (1.0 + distance),
        }
    }

    /// The distance whose score is `score`: the inverse of [`Space::score`], within rounding. Infinite
    /// for scores that every distance exceeds.
    pub fn distance(self, score: f32) -> f32 {
        match self {
            _ if score <= 0.0 => f32::INFINITY,
            Space::L2
            | Space::Hamming
            | Space::Jaccard
            | Space::MinHash8
            | Space::MinHash32
            | Space::MinHash64 => 1.0 / score - 1.0,
            Space::Cosine => 2.0 - 2.0 * score,
            Space::InnerProduct if score >= 1.0 => 1.0 - score,
            Space::InnerProduct => 1.0 / score - 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_those_of_opensearch() {
        let rows = [
            (Space::L2, 0.0, 1.0),
            (Space::L2, 3.0, 0.25),
            (Space::Cosine, 0.0, 1.0),
            (Space::Cosine, 1.0, 0.5),
            (Space::Cosine, 2.0, 0.0),
            (Space::InnerProduct, -4.0, 5.0),
            (Space::InnerProduct, 0.0, 1.0),
            (Space::InnerProduct, 1.0, 0.5),
            (Space::Hamming, 3.0, 0.25),
            (Space::Jaccard, 1.0, 0.5),
            (Space::MinHash32, 1.0, 0.5),
        ];
        for (space, distance, score) in rows {
            assert_eq!(space.score(distance), score, "{space:?} at {distance}");
            if score > 0.0 {
                assert_eq!(space.distance(score), distance, "{space:?} at {score}");
            }
        }
    }

    #[test]
    fn every_space_is_found_by_its_own_name() {
        for space in Space::ALL {
            assert_eq!(Space::from_opensearch(space.name()), Some(space));
        }
        assert_eq!(Space::from_opensearch("l1"), None);
    }
}
