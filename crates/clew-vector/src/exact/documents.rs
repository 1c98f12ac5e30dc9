//! Exact search where documents have several rows: the nearest row of each document counts.
//!
//! Rows are visited in order, and those of a document lie together. So it is enough to remember one
//! document's best row, and to hand it on when the next document begins.

use crate::VectorError;
use crate::column::Integrity;
use crate::exact::{Keep, Top, measure_rows};
use crate::filter::RowFilter;
use crate::rank::Ranked;
use crate::rows::RowProbe;

/// The nearest rows of the `k` nearest documents, in order, and the number of distances that took;
/// `docs` names the document of each row. Costs what [`super::search`] does.
pub(crate) fn search_documents(
    rows: (&RowProbe<'_>, &Integrity<'_>),
    filter: Option<&RowFilter<'_>>,
    (k, docs): (usize, &[u32]),
) -> Result<(Vec<Ranked>, u64), VectorError> {
    let mut top = TopDocuments {
        docs,
        top: Top::new(k),
        current: None,
    };
    let measured = measure_rows(rows, filter, &mut top)?;
    top.hand_on();
    Ok((top.top.finish(), measured))
}

struct TopDocuments<'a> {
    docs: &'a [u32],
    top: Top,
    /// The document whose rows are being visited, and its best row so far.
    current: Option<(u32, Ranked)>,
}

impl TopDocuments<'_> {
    fn hand_on(&mut self) {
        if let Some((_, best)) = self.current.take()
            && best < self.top.limit()
        {
            self.top.push(best);
        }
    }
}

impl Keep for TopDocuments<'_> {
    fn limit(&self) -> Ranked {
        self.top.limit()
    }

    fn push(&mut self, one: Ranked) {
        let doc = self.docs.get(one.row() as usize).copied();
        let doc = doc.unwrap_or(one.row());
        match &mut self.current {
            Some((current, best)) if *current == doc => *best = one.min(*best),
            _ => {
                self.hand_on();
                self.current = Some((doc, one));
            }
        }
    }
}
