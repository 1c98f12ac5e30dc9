//! Settings of librdkafka: the collector's own, which its promises rest on, and those that a configuration adds.

use rdkafka::ClientConfig;

use super::KafkaServers;

/// Settings that a configuration has keys for, or that promises rest on.
const OWN: [&str; 16] = [
    "bootstrap.servers",
    "metadata.broker.list",
    "group.id",
    "auto.offset.reset",
    "enable.auto.commit",
    "auto.commit.enable",
    "enable.auto.offset.store",
    "enable.partition.eof",
    "enable.idempotence",
    "acks",
    "request.required.acks",
    "compression.type",
    "compression.codec",
    "message.timeout.ms",
    "delivery.timeout.ms",
    "transactional.id",
];

/// All settings of a client.
///
/// # Errors
/// The property that a configuration may not set.
pub(crate) fn config(servers: &KafkaServers, own: &[(&str, &str)]) -> Result<ClientConfig, String> {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", &servers.brokers);
    for (name, value) in &servers.properties {
        if OWN.contains(&name.as_str()) {
            return Err(format!(
                "[properties] cannot have [{name}], which the collector sets"
            ));
        }
        config.set(name, value);
    }
    for (name, value) in own {
        config.set(*name, *value);
    }
    Ok(config)
}
