//! Limits that stand in for the lowest and the highest score that happened to be found.

/// Limits of the queries' scores; each list is empty or has one for each query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bounds {
    /// Where each query's scores begin.
    pub lower: Vec<Bound>,
    /// Where they end.
    pub upper: Vec<Bound>,
}

/// A limit of one query's scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// What it does.
    pub mode: BoundMode,
    /// The limit.
    pub score: f32,
}

/// What a limit does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BoundMode {
    /// It replaces the score found at the end for all scores inside it.
    #[default]
    Apply,
    /// The same, and scores beyond it are as if they lay on it.
    Clip,
    /// Nothing.
    Ignore,
}

impl Bound {
    /// The lowest score to count from for `score`, when `min` and `max` were found.
    pub(super) fn lowest(self, score: f32, min: f32, max: f32) -> f32 {
        match self.mode {
            BoundMode::Apply if max > self.score && score > self.score => self.score,
            BoundMode::Clip if max >= self.score => self.score,
            _ => min,
        }
    }

    /// The highest score to count to for `score`, when `min` and `max` were found.
    pub(super) fn highest(self, score: f32, min: f32, max: f32) -> f32 {
        match self.mode {
            BoundMode::Apply if min < self.score && score < self.score => self.score,
            BoundMode::Clip if min <= self.score => self.score,
            _ => max,
        }
    }

    pub(super) fn clips(self) -> bool {
        self.mode == BoundMode::Clip
    }

    fn described(self) -> String {
        let mode = match self.mode {
            BoundMode::Apply => "apply",
            BoundMode::Clip => "clip",
            BoundMode::Ignore => "ignore",
        };
        format!("({mode}, {:?})", self.score)
    }
}

/// What is said of the limits of one side; nothing when there are none.
pub(super) fn described(side: &str, bounds: &[Bound]) -> String {
    if bounds.is_empty() {
        return String::new();
    }
    let all: Vec<String> = bounds.iter().map(|bound| bound.described()).collect();
    format!(", {side} bounds [{}]", all.join(", "))
}
