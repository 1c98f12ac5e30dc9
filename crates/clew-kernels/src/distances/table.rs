//! Makes tables of plain function pointers from functions that need CPU features.

/// A table of distances from the functions of `$module`.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! detected_distances {
    ($($module:ident)::+) => {
        $crate::Distances {
            // SAFETY: the caller of this macro has just detected the features of this module.
            dot: |a, b| unsafe { $($module)::+::dot(a, b) },
            // SAFETY: as above.
            l2: |a, b| unsafe { $($module)::+::l2(a, b) },
            // SAFETY: as above.
            dot_rows: |query, rows, out| unsafe { $($module)::+::dot_rows(query, rows, out) },
            // SAFETY: as above.
            l2_rows: |query, rows, out| unsafe { $($module)::+::l2_rows(query, rows, out) },
            dot_picked: |query, rows, picks, out| {
                // SAFETY: as above.
                unsafe { $($module)::+::dot_picked(query, rows, picks, out) }
            },
            l2_picked: |query, rows, picks, out| {
                // SAFETY: as above.
                unsafe { $($module)::+::l2_picked(query, rows, picks, out) }
            },
        }
    };
}

/// A table of distances of bits from the functions of `$module`.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! detected_bits {
    ($($module:ident)::+) => {
        $crate::BitDistances {
            // SAFETY: the caller of this macro has just detected the features of this module.
            hamming: |a, b| unsafe { $($module)::+::hamming(a, b) },
            // SAFETY: as above.
            jaccard: |a, b| unsafe { $($module)::+::jaccard(a, b) },
            // SAFETY: as above.
            hamming_rows: |query, rows, out| unsafe { $($module)::+::hamming_rows(query, rows, out) },
            // SAFETY: as above.
            jaccard_rows: |query, rows, out| unsafe { $($module)::+::jaccard_rows(query, rows, out) },
            hamming_picked: |query, rows, picks, out| {
                // SAFETY: as above.
                unsafe { $($module)::+::hamming_picked(query, rows, picks, out) }
            },
            jaccard_picked: |query, rows, picks, out| {
                // SAFETY: as above.
                unsafe { $($module)::+::jaccard_picked(query, rows, picks, out) }
            },
        }
    };
}

/// The distances of `$module` for every stored type.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! detected_types {
    ($module:ident, $bits:expr) => {
        $crate::distances::DistanceTable {
            f32: detected_distances!(crate::distances::$module::float32),
            f16: detected_distances!(crate::distances::$module::float16),
            bf16: detected_distances!(crate::distances::$module::bfloat16),
            i8: detected_distances!(crate::distances::$module::int8),
            bits: $bits,
        }
    };
}
