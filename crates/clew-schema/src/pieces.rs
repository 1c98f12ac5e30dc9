//! Bytes that are longer than a value of a column: cut into numbered pieces, which are values of their own, and joined
//! again.
//!
//! Deliberately absent: what the bytes are. A field that has pieces writes no whole values that begin as they do.

/// Bytes of the longest value of a column, which keeps the beginnings of longer ones alone.
const VALUE_BYTES_MAX: usize = 60_000;
/// What a piece begins with; its number in 16 bits comes behind it.
const PIECE: u8 = 1;
/// Bytes before what a piece has of the whole.
const HEAD_BYTES: usize = 3;

/// The pieces of bytes that are too long for one value; `None` when they are not. Whoever makes the bytes bounds them
/// far below the 65,535 pieces that are numbered.
pub(crate) fn pieces(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    if bytes.len() < VALUE_BYTES_MAX {
        return None;
    }
    let numbered = (0..u16::MAX).zip(bytes.chunks(VALUE_BYTES_MAX));
    let pieces = numbered.map(|(number, piece)| {
        let [high, low] = number.to_be_bytes();
        let mut value = Vec::with_capacity(HEAD_BYTES + piece.len());
        value.extend_from_slice(&[PIECE, high, low]);
        value.extend_from_slice(piece);
        value
    });
    Some(pieces.collect())
}

/// Whether a value is a piece.
pub fn is_piece(value: &[u8]) -> bool {
    value.starts_with(&[PIECE])
}

/// What a piece has of the whole.
pub(crate) fn in_piece(value: &[u8]) -> Option<&[u8]> {
    value.get(HEAD_BYTES..).filter(|_| is_piece(value))
}

/// What the pieces of a document are together, in whatever order they come.
pub fn joined_pieces(mut pieces: Vec<Vec<u8>>) -> Vec<u8> {
    // Their numbers stand in front.
    pieces.sort_unstable();
    let pieces = pieces.iter().filter_map(|piece| in_piece(piece));
    pieces.flatten().copied().collect()
}

/// The values that a text becomes in a column: itself, or its pieces.
///
/// ```
/// use clew_schema::{is_piece, joined_pieces, text_values};
///
/// assert_eq!(text_values("{}"), [b"{}"]);
/// let long = "x".repeat(150_000);
/// let mut values = text_values(&long);
/// assert!(values.len() == 3 && values.iter().all(|value| is_piece(value)));
/// values.reverse();
/// assert_eq!(joined_pieces(values), long.as_bytes());
/// ```
pub fn text_values(text: &str) -> Vec<Vec<u8>> {
    pieces(text.as_bytes()).unwrap_or_else(|| vec![text.as_bytes().to_vec()])
}
