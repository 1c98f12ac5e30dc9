//! A line as it is handed on: what is read of it and where, before a parser and processors make a document of it. What they make
//! is not known here.

/// One framed line (or stanza) and its place.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) bytes: &'a [u8],
    /// Where it starts in the file.
    pub(crate) offset: u64,
    /// The checksum of the file up to the line's end, where ids are made.
    pub(crate) checksum: u32,
    /// Whether the end was cut off.
    pub(crate) cut: bool,
    /// What a container's program wrote it to.
    pub(crate) stream: Option<&'static str>,
    /// When the container's runtime saw it: the time of a line that says none itself.
    pub(crate) time_ms: Option<i64>,
    /// What a message is beside its text.
    pub(crate) message: Option<Message<'a>>,
}

/// What is known of a line that is a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message<'a> {
    /// The part of its id that names where it is.
    pub(crate) key: u64,
    /// Members of the document's root.
    pub(crate) fields: &'a [u8],
}

impl Line<'_> {
    /// Members of the document's root that are no parser's.
    pub(crate) fn fields(&self) -> &[u8] {
        self.message.map_or(&[][..], |message| message.fields)
    }
}

/// Where lines come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OriginKind {
    File,
    Sender,
    /// A sender without an address, as those of unix sockets and of standard input.
    Unnamed,
}

/// Whether a line's own parser took it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    ByItsParser,
    AsPlain,
    /// By nobody: a processor drops it.
    Dropped,
    /// By nobody: no output's condition holds for it.
    ByNoOutput,
}
