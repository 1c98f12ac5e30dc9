//! What streams are called: by name where they have one, by number otherwise.

use std::collections::BTreeMap;

use clew_log_grpc::proto;

use super::place::Reading;
use super::remote::Client;

/// Streams as they are listed, wherever they come from.
pub(crate) fn list(place: &mut Reading) -> anyhow::Result<Vec<proto::StreamInfo>> {
    match place {
        Reading::Local(reader) => {
            let streams = reader.streams();
            Ok(streams.iter().map(clew_log_grpc::stream_info).collect())
        }
        Reading::Remote(remote) => {
            let ask =
                async |client: &mut Client| client.list_streams(proto::ListStreamsRequest {}).await;
            Ok(remote.call(ask)?.streams)
        }
    }
}

/// The names by number; `None` for a stream that is known to have none.
#[derive(Debug, Default)]
pub(crate) struct Names(BTreeMap<u32, Option<String>>);

impl Names {
    pub(crate) fn new(streams: Vec<proto::StreamInfo>) -> Self {
        let streams = streams.into_iter();
        Names(streams.map(|info| (info.number, info.name)).collect())
    }

    /// The names after a look for one stream's, which may have been deleted meanwhile.
    pub(crate) fn after_a_look_for(number: u32, streams: Vec<proto::StreamInfo>) -> Self {
        let mut names = Names::new(streams);
        names.0.entry(number).or_default();
        names
    }

    /// The name of a stream, unless it has none or was deleted.
    pub(crate) fn get(&self, number: u32) -> Option<&str> {
        self.0.get(&number)?.as_deref()
    }

    /// Whether it is known what the stream is called.
    pub(crate) fn know(&self, number: u32) -> bool {
        self.0.contains_key(&number)
    }
}
