//! Turns the finds of a walk by codes into hits: the best of them are measured exactly, as many as
//! the codes' error calls for.

use crate::VectorError;
use crate::column::Integrity;
use crate::rank::Ranked;
use crate::rows::{Probe, RowProbe};

/// Rows measured before it is asked again whether more could matter.
const STEP_ROWS: usize = 8;

/// What hits are measured by.
pub(crate) struct Rerank<'a> {
    pub(crate) probe: &'a RowProbe<'a>,
    pub(crate) integrity: &'a Integrity<'a>,
    /// A row is left out when its estimate lies this far behind the `k`-th exact hit.
    pub(crate) margin: f32,
}

impl Rerank<'_> {
    /// Fills `exact` with the `k` nearest of the ordered `found`, by exact distance, and answers how
    /// many were measured.
    pub(crate) fn run(
        &self,
        found: impl Iterator<Item = Ranked>,
        k: usize,
        exact: &mut Vec<Ranked>,
    ) -> Result<u64, VectorError> {
        exact.clear();
        let mut found = found.peekable();
        let mut measured = 0;
        while let Some(next) = found.peek() {
            if measured >= k {
                // Sorted so far, cut to the best k.
                let worst = exact[k - 1].distance();
                if next.distance() > worst + self.margin {
                    break;
                }
            }
            let wanted = if measured == 0 { k } else { STEP_ROWS };
            measured += self.measure(found.by_ref().take(wanted), exact)?;
            exact.sort_unstable();
            exact.truncate(k);
        }
        Ok(measured as u64)
    }

    fn measure(
        &self,
        found: impl Iterator<Item = Ranked>,
        exact: &mut Vec<Ranked>,
    ) -> Result<usize, VectorError> {
        let start = exact.len();
        for one in found {
            self.integrity.touch_vector(one.row())?;
            self.probe.prefetch(one.row());
            exact.push(one);
        }
        for one in &mut exact[start..] {
            let mut distance = [0.0];
            self.probe.measure(&[one.row()], &mut distance);
            *one = Ranked::new(distance[0], one.row());
        }
        Ok(exact.len() - start)
    }
}
