//! The loops over rows, the same for every instruction set: expanded beside each kernel, so that the
//! kernel is inlined and one call through the table covers a whole block. Rows are taken in groups:
//! a kernel loads each part of the query once for a whole group.

/// Defines `$pair` (one row), `$rows` (a block of consecutive rows) and `$picked` (rows chosen by
/// number) over `$many`, which measures any number of rows at once; here `$group` of them.
macro_rules! row_loops {
    (
        $many:ident, $group:expr, ($query:ty, $item:ty), $pair:ident, $rows:ident, $picked:ident
        $(, #[$attribute:meta])?
    ) => {
        $(#[$attribute])?
        pub(crate) fn $pair(query: &[$query], row: &[$item]) -> f32 {
            let [distance] = $many(query, [row]);
            distance
        }

        $(#[$attribute])?
        pub(crate) fn $rows(query: &[$query], rows: &[$item], out: &mut [f32]) {
            // A block that is not whole rows would silently score a shifted vector.
            assert_eq!(rows.len(), query.len() * out.len());
            let width = query.len();
            let (groups, rest) = out.as_chunks_mut::<{ $group }>();
            let mut start = 0;
            for slots in groups {
                *slots = $many(query, std::array::from_fn(|at| &rows[start + at * width..][..width]));
                start += $group * width;
            }
            for slot in rest {
                [*slot] = $many(query, [&rows[start..][..width]]);
                start += width;
            }
        }

        $(#[$attribute])?
        pub(crate) fn $picked(query: &[$query], rows: &[$item], picks: &[u32], out: &mut [f32]) {
            // Every pick has its own answer.
            assert_eq!(picks.len(), out.len());
            let row = |pick: u32| &rows[pick as usize * query.len()..][..query.len()];
            let (groups, rest) = out.as_chunks_mut::<{ $group }>();
            let (group_picks, rest_picks) = picks.as_chunks::<{ $group }>();
            for (picks, slots) in group_picks.iter().zip(groups) {
                *slots = $many(query, picks.map(row));
            }
            for (&pick, slot) in rest_picks.iter().zip(rest) {
                [*slot] = $many(query, [row(pick)]);
            }
        }
    };
}
