//! What an error of librdkafka means for an event.

use rdkafka::types::RDKafkaErrorCode as Code;

/// What becomes of an event that was not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is sent again.
    Again,
    /// It will never be taken; the status says of it what HTTP's would.
    Rejected(u16),
    /// Nothing will be taken: who we are, or what we want, is refused.
    Refused,
}

impl Fate {
    /// What an error means; where the topic is a template it may be one that nobody will make.
    pub(super) fn of(code: Code, topic_is_made: bool) -> Self {
        match code {
            Code::MessageSizeTooLarge | Code::InvalidMessageSize => Fate::Rejected(413),
            Code::InvalidRecord | Code::InvalidTimestamp => Fate::Rejected(400),
            Code::InvalidTopic | Code::PolicyViolation => Fate::Rejected(400),
            Code::UnknownTopic | Code::UnknownTopicOrPartition if topic_is_made => {
                Fate::Rejected(404)
            }
            Code::TopicAuthorizationFailed
            | Code::ClusterAuthorizationFailed
            | Code::SaslAuthenticationFailed
            | Code::Authentication
            | Code::InvalidRequiredAcks
            | Code::NotImplemented => Fate::Refused,
            _ => Fate::Again,
        }
    }
}

/// Whether Kafka has topics of such names.
pub(super) fn is_topic(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=249).contains(&name.len()) && name != "." && name != ".." && name.bytes().all(is_letter)
}
