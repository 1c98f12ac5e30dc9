//! Where a part stands in a text.

/// A range of bytes of a text, which begins and ends between characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    start: u32,
    end: u32,
}

/// The longest text that is taken apart.
pub(crate) const TEXT_BYTES_MAX: usize = u32::MAX as usize;
/// The longest line of an event: what steps make of it has room behind it.
pub(crate) const LINE_BYTES_MAX: usize = 256 << 20;

impl Span {
    /// The range from one byte to another; both are below [`TEXT_BYTES_MAX`], as whoever takes texts apart sees to.
    #[inline]
    pub(crate) fn new(start: usize, end: usize) -> Self {
        debug_assert!(start <= end && end <= TEXT_BYTES_MAX);
        #[allow(
            clippy::cast_possible_truncation,
            reason = "texts that are longer are refused before they are taken apart"
        )]
        Span {
            start: start as u32,
            end: end as u32,
        }
    }

    /// The same part, where the text begins so much later.
    #[inline]
    pub(crate) fn after(self, bytes: usize) -> Self {
        Span::new(self.start() + bytes, self.end() + bytes)
    }

    #[inline]
    pub(crate) fn start(self) -> usize {
        self.start as usize
    }

    #[inline]
    pub(crate) fn end(self) -> usize {
        self.end as usize
    }

    #[inline]
    pub(crate) fn len(self) -> usize {
        self.end() - self.start()
    }

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.start == self.end
    }

    #[inline]
    pub(crate) fn range(self) -> std::ops::Range<usize> {
        self.start()..self.end()
    }

    /// The part itself; nothing where the text is another one.
    #[inline]
    pub(crate) fn of(self, text: &str) -> &str {
        text.get(self.start()..self.end()).unwrap_or_default()
    }
}
