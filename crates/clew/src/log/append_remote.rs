//! Appending through a server: batches are sent while the answers of earlier ones come in.

use anyhow::bail;
use bytes::Bytes;
use clew_log::{Compression, Durability};
use clew_log_grpc::proto::append_stream_reply::Outcome;
use clew_log_grpc::tonic::codegen::tokio_stream::wrappers::ReceiverStream;
use clew_log_grpc::{ERROR_KEY, proto};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::append::{Batch, BatchWriter, How};
use super::remote::{Client, Remote, refused};
use super::summary::{Summary, SummaryFormat, print_ack};

/// Batches that wait to be sent.
const WAITING_MAX: usize = 8;

pub(crate) struct RemoteWriter {
    remote: Remote,
    how: How,
    entry_bytes_max: usize,
    batches: mpsc::Sender<proto::AppendRequest>,
    /// The entries of each batch that is handed over, for its answer.
    sizes: mpsc::UnboundedSender<u64>,
    answers: JoinHandle<anyhow::Result<Summary>>,
}

impl RemoteWriter {
    pub(crate) fn open(mut remote: Remote, how: &How) -> anyhow::Result<Self> {
        let position = remote
            .call(async |client: &mut Client| client.position(proto::PositionRequest {}).await)?;
        let stream = how.stream.clone();
        let made = remote.call(async |client: &mut Client| {
            use clew_log_grpc::tonic::Code;
            match client
                .create_stream(proto::CreateStreamRequest {
                    stream: stream.clone(),
                })
                .await
            {
                Err(taken) if taken.code() == Code::AlreadyExists => {
                    client
                        .describe_stream(proto::DescribeStreamRequest { stream })
                        .await
                }
                made => made,
            }
        });
        made?;
        let (batches, waiting) = mpsc::channel(WAITING_MAX);
        let (sizes, handed_over) = mpsc::unbounded_channel();
        let answers = Answers {
            sizes: handed_over,
            acks: how.acks.then_some(how.format),
            summary: Summary::default(),
        };
        let answers = answers.take_in(remote.client.clone(), ReceiverStream::new(waiting));
        Ok(RemoteWriter {
            answers: remote.runtime.spawn(answers),
            remote,
            how: how.clone(),
            entry_bytes_max: usize::try_from(position.entry_bytes_max)?,
            batches,
            sizes,
        })
    }

    fn request(&self, payloads: &[&[u8]], batch: Batch) -> proto::AppendRequest {
        let headers = self.how.headers.iter().map(|(key, value)| proto::Header {
            key: key.clone(),
            value: Bytes::from(value.clone()),
        });
        let headers: Vec<proto::Header> = headers.collect();
        let records = payloads.iter().map(|payload| proto::Record {
            payload: Bytes::copy_from_slice(payload),
            headers: headers.clone(),
        });
        let producer = self.how.producer_id.zip(batch.sequence);
        proto::AppendRequest {
            stream: self.how.stream.clone(),
            records: records.collect(),
            durability: durability(self.how.durability).into(),
            compression: compression(self.how.compression).into(),
            producer: producer.map(|(id, sequence)| proto::Producer { id, sequence }),
            expect_last_llsn: batch.expect_last,
            epoch: self.how.epoch,
            create_stream: false,
        }
    }
}

impl BatchWriter for RemoteWriter {
    fn entry_bytes_max(&self) -> usize {
        self.entry_bytes_max
    }

    fn append(&mut self, payloads: &[&[u8]], batch: Batch) -> anyhow::Result<()> {
        let request = self.request(payloads, batch);
        // Whether anyone still takes it in is seen below.
        let _ = self.sizes.send(payloads.len() as u64);
        if self.batches.blocking_send(request).is_ok() {
            return Ok(());
        }
        // The answers have ended, which they do only early with an error.
        self.remote.runtime.block_on(&mut self.answers)??;
        bail!("the server has ended the call")
    }

    fn finish(self) -> anyhow::Result<Summary> {
        drop(self.batches);
        self.remote.runtime.block_on(self.answers)?
    }
}

/// What becomes of the batches.
struct Answers {
    sizes: mpsc::UnboundedReceiver<u64>,
    acks: Option<SummaryFormat>,
    summary: Summary,
}

impl Answers {
    /// Makes the call and adds up the answers; ends at the first error.
    async fn take_in(
        mut self,
        mut client: Client,
        batches: ReceiverStream<proto::AppendRequest>,
    ) -> anyhow::Result<Summary> {
        let replies = client.append_stream(batches).await.map_err(refused)?;
        let mut replies = replies.into_inner();
        while let Some(reply) = replies.message().await.map_err(refused)? {
            let size = self.sizes.recv().await.unwrap_or(0);
            self.add(reply, size)?;
        }
        Ok(self.summary)
    }

    fn add(&mut self, reply: proto::AppendStreamReply, size: u64) -> anyhow::Result<()> {
        match reply.outcome {
            Some(Outcome::Appended(appended)) => {
                self.summary.add(&appended);
                match self.acks {
                    Some(format) => Ok(print_ack(&appended, format)?),
                    None => Ok(()),
                }
            }
            // Sequences have no gaps, so an old one was taken; only its positions are forgotten.
            Some(Outcome::Error(error))
                if error
                    .details
                    .get(ERROR_KEY)
                    .is_some_and(|word| word == "sequence-too-old") =>
            {
                self.summary.add_forgotten(size);
                Ok(())
            }
            Some(Outcome::Error(error)) => bail!("{}", error.message),
            None => bail!("the server sent a reply of another version"),
        }
    }
}

fn durability(durability: Durability) -> proto::Durability {
    match durability {
        Durability::Memory => proto::Durability::Memory,
        Durability::Os => proto::Durability::Os,
        Durability::Sync => proto::Durability::Sync,
    }
}

fn compression(compression: Compression) -> proto::Compression {
    match compression {
        Compression::None => proto::Compression::None,
        Compression::Lz4 => proto::Compression::Lz4,
        Compression::Zstd => proto::Compression::Zstd,
    }
}
