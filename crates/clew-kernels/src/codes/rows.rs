//! The loops over picked rows, the same for every instruction set: expanded beside each row kernel,
//! so that the kernel is inlined and one call through the table covers a whole hop.

/// Defines `$picked` over the row kernel `$row`; a row is `$bytes` bytes, which may depend on the
/// query.
macro_rules! code_rows {
    ($row:ident, $picked:ident, $item:ty $(, #[$attribute:meta])?) => {
        $(#[$attribute])?
        #[allow(clippy::cast_precision_loss, reason = "24 bits of a sum order candidates well enough")]
        pub(crate) fn $picked(query: &[i8], rows: &[$item], pitch: usize, picks: &[u32], out: &mut [f32]) {
            // Every pick has its own answer.
            assert_eq!(picks.len(), out.len());
            for (&pick, slot) in picks.iter().zip(out) {
                let start = pick as usize * pitch;
                *slot = $row(query, &rows[start..start + pitch]) as f32;
            }
        }
    };
}

/// Defines `$picked`, the scores of codes, over the row kernel `$row`.
macro_rules! score_rows {
    ($row:ident, $picked:ident $(, #[$attribute:meta])?) => {
        $(#[$attribute])?
        #[allow(
            clippy::cast_precision_loss,
            reason = "24 bits of a sum order candidates well enough"
        )]
        pub(crate) fn $picked(
            query: &crate::codes::CodeQuery<'_>,
            rows: &crate::codes::CodeRows<'_>,
            picks: &[u32],
            out: &mut [f32],
        ) {
            // Every pick has its own answer.
            assert_eq!(picks.len(), out.len());
            for (&pick, slot) in picks.iter().zip(out) {
                let [add, scale] = rows.factors[pick as usize];
                let start = pick as usize * rows.pitch;
                let sum = $row(query.numbers, &rows.codes[start..start + rows.pitch]) as f32;
                *slot = query.base + add + scale * (query.step * sum - query.offset);
            }
        }
    };
}

/// A query cut into the parts that each quarter of a byte is multiplied with.
pub(super) fn quarters(query: &[i8], width: usize) -> [&[i8]; 4] {
    // A part of the dimensions would otherwise be multiplied with another's number.
    assert_eq!(query.len(), 4 * width);
    let (low, high) = query.split_at(2 * width);
    let ((first, second), (third, fourth)) = (low.split_at(width), high.split_at(width));
    [first, second, third, fourth]
}
