//! The nearest rows of a stream.

use crate::rank::Ranked;

/// What keeps the best of a stream of rows.
pub(crate) trait Keep {
    /// Only rows below this can still be among the best.
    fn limit(&self) -> Ranked;
    /// Takes in a row that lies below the limit.
    fn push(&mut self, one: Ranked);
}

/// The best `k` of a stream: collects up to a few times `k`, then throws the worse part away, which
/// costs less per candidate than keeping them in order.
pub(crate) struct Top {
    k: usize,
    kept: Vec<Ranked>,
    /// Only candidates below this can still be among the best.
    limit: Ranked,
}

impl Top {
    pub(crate) fn new(k: usize) -> Self {
        // Room for no hit at all would leave no limit to compare with.
        assert!(k > 0);
        Top {
            k,
            kept: Vec::new(),
            limit: Ranked::WORST,
        }
    }

    pub(crate) fn finish(mut self) -> Vec<Ranked> {
        self.kept.sort_unstable();
        self.kept.truncate(self.k);
        self.kept
    }

    /// The best `k`, in no order.
    pub(crate) fn into_kept(mut self) -> Vec<Ranked> {
        if self.kept.len() > self.k {
            self.kept.select_nth_unstable(self.k - 1);
            self.kept.truncate(self.k);
        }
        self.kept
    }

    /// Takes over what another has kept.
    pub(crate) fn absorb(&mut self, other: Top) {
        for one in other.kept {
            if one < self.limit {
                self.push(one);
            }
        }
    }
}

impl Keep for Top {
    #[inline]
    fn limit(&self) -> Ranked {
        self.limit
    }

    fn push(&mut self, one: Ranked) {
        self.kept.push(one);
        if self.kept.len() >= self.k.saturating_mul(2).saturating_add(16) {
            let (_, last, _) = self.kept.select_nth_unstable(self.k - 1);
            self.limit = *last;
            self.kept.truncate(self.k);
        }
    }
}
