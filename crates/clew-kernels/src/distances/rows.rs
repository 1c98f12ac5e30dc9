//! The loops over rows, the same for every instruction set: expanded beside each pair kernel, so
//! that the kernel is inlined and one call through the table covers a whole block.
//!
//! Measuring four rows at once, to share the loads of the query, was tried and is not worth it where rows
//! come from memory, which takes longer than either. The centres of lists do not: their products have a loop of their own.

/// Defines `$rows` (a block of consecutive rows) and `$picked` (rows chosen by number) over `$pair`.
macro_rules! row_loops {
    (
        ($query:ty, $item:ty), $pair:ident, $rows:ident, $picked:ident $(, #[$attribute:meta])?
    ) => {
        $(#[$attribute])?
        pub(crate) fn $rows(query: &[$query], rows: &[$item], out: &mut [f32]) {
            // A block that is not whole rows would silently score a shifted vector.
            assert_eq!(rows.len(), query.len() * out.len());
            if query.is_empty() {
                return out.fill($pair(query, rows));
            }
            for (row, slot) in rows.chunks_exact(query.len()).zip(out) {
                *slot = $pair(query, row);
            }
        }

        picked_loop!(($query, $item), $pair, $picked $(, #[$attribute])?);
    };
}

/// Defines `$picked` alone.
macro_rules! picked_loop {
    (($query:ty, $item:ty), $pair:ident, $picked:ident $(, #[$attribute:meta])?) => {
        $(#[$attribute])?
        pub(crate) fn $picked(query: &[$query], rows: &[$item], picks: &[u32], out: &mut [f32]) {
            // Every pick has its own answer.
            assert_eq!(picks.len(), out.len());
            for (&pick, slot) in picks.iter().zip(out) {
                let start = pick as usize * query.len();
                *slot = $pair(query, &rows[start..start + query.len()]);
            }
        }
    };
}
