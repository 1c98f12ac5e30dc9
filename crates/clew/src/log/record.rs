//! An entry as it is printed, whether it comes out of a file or from a server.

use clew_log::EntryRef;
use clew_log_grpc::proto;

pub(crate) struct Record<'a> {
    pub(crate) glsn: u64,
    pub(crate) llsn: u64,
    pub(crate) stream: u32,
    pub(crate) time_ms: u64,
    pub(crate) headers: Vec<(&'a str, &'a [u8])>,
    pub(crate) payload: &'a [u8],
}

impl<'a> From<EntryRef<'a>> for Record<'a> {
    fn from(entry: EntryRef<'a>) -> Self {
        Record {
            glsn: entry.glsn.get(),
            llsn: entry.llsn.get(),
            stream: entry.stream.get(),
            time_ms: entry.time_ms,
            headers: entry.headers.collect(),
            payload: entry.payload,
        }
    }
}

impl<'a> From<&'a proto::Entry> for Record<'a> {
    fn from(entry: &'a proto::Entry) -> Self {
        let headers = entry.headers.iter();
        Record {
            glsn: entry.glsn,
            llsn: entry.llsn,
            stream: entry.stream,
            time_ms: entry.time_ms,
            headers: headers
                .map(|header| (header.key.as_str(), &header.value[..]))
                .collect(),
            payload: &entry.payload,
        }
    }
}
