//! The header of an image, as bytes.

/// Bytes of the header of a dense column.
pub(crate) const HEADER_BYTES: usize = 448;

/// Kind, offset and size of every section, in the order of the table.
pub(crate) fn sections(image: &[u8]) -> Vec<(u32, usize, usize)> {
    let number = |at: usize| u64::from_le_bytes(image[at..at + 8].try_into().unwrap());
    let slots = usize::from(image[30]);
    (0..slots)
        .map(|slot| 64 + 24 * slot)
        .map(|at| {
            let kind = u32::from_le_bytes(image[at..at + 4].try_into().unwrap());
            let [start, len] = [8, 16].map(|field| usize::try_from(number(at + field)).unwrap());
            (kind, start, len)
        })
        .collect()
}

/// Writes the checksum of a header of so many bytes anew, so that damage gets past it and meets the other checks.
pub(crate) fn seal(image: &mut [u8], header_bytes: usize) {
    if let Some(header) = image.get_mut(..header_bytes) {
        header[12..16].fill(0);
        let checksum = crc32c::crc32c(header);
        header[12..16].copy_from_slice(&checksum.to_le_bytes());
    }
}
