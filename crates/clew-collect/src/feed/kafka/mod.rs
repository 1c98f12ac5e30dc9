//! Messages of topics, where the build has Kafka.

#[cfg(feature = "kafka")]
mod consumer;
#[cfg(feature = "kafka")]
mod messages;

#[cfg(feature = "kafka")]
pub(super) use consumer::start;

/// Nothing is read where Kafka is left out.
#[cfg(not(feature = "kafka"))]
pub(super) fn start(
    _: &crate::kafka::KafkaFeed,
    _: super::Sender,
) -> std::io::Result<std::thread::JoinHandle<()>> {
    let kind = std::io::ErrorKind::Unsupported;
    Err(std::io::Error::new(kind, crate::kafka::BUILT_WITHOUT))
}
