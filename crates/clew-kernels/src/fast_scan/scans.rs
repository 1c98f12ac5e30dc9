//! The loops over blocks, the same for every instruction set that has registers enough for two queries: expanded beside its
//! `sums` and `score`, so that these are inlined, and its `STEP_BYTES`.

/// Defines `scan` and `scan_pair` under `$features`.
macro_rules! scans {
    ($features:literal) => {
        #[inline]
        #[target_feature(enable = $features)]
        fn scan_each<const N: usize>(
            queries: [&FastQuery<'_>; N],
            blocks: &[u8],
            mut outs: [FastScores<'_>; N],
        ) {
            let mut shapes = queries
                .iter()
                .zip(&outs)
                .map(|(query, out)| shape(query, blocks, out));
            let Some((code_bytes, block_bytes)) = shapes.next() else {
                return;
            };
            // A block is cut into codes and factors once for all.
            assert!(shapes.all(|other| other == (code_bytes, block_bytes)));
            let tables = queries.map(|query| query.tables.as_chunks::<STEP_BYTES>().0);
            for (at, block) in blocks.chunks_exact(block_bytes).enumerate() {
                let (codes, factors) = block.split_at(code_bytes);
                let each = queries.iter().zip(sums(tables, codes)).zip(&mut outs);
                for ((query, sums), out) in each {
                    let distances = &mut out.distances.as_chunks_mut::<FAST_ROWS>().0[at];
                    out.near[at] = score(query, sums, factors, distances);
                }
            }
        }

        #[target_feature(enable = $features)]
        pub(crate) fn scan(query: &FastQuery<'_>, blocks: &[u8], out: FastScores<'_>) {
            scan_each([query], blocks, [out]);
        }

        #[target_feature(enable = $features)]
        pub(crate) fn scan_pair(
            queries: [&FastQuery<'_>; 2],
            blocks: &[u8],
            outs: [FastScores<'_>; 2],
        ) {
            scan_each(queries, blocks, outs);
        }
    };
}
