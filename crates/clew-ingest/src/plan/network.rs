//! Networks that the addresses of events are held against: as they are written, `10.0.0.0/8`, or by the names that Beats have
//! for some of them, `private`.

use std::net::IpAddr;

use serde_json::Value as Json;

/// Some networks.
#[derive(Debug)]
pub(super) struct Networks(Vec<Network>);

#[derive(Debug)]
enum Network {
    /// In one of these.
    Within(Vec<Prefix>),
    /// In none of these.
    Outside(Vec<Prefix>),
}

/// The first bits of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Prefix {
    address: IpAddr,
    bits: u32,
}

const LOOPBACK: [&str; 2] = ["127.0.0.0/8", "::1/128"];
const UNSPECIFIED: [&str; 2] = ["0.0.0.0/32", "::/128"];
const BROADCAST: [&str; 1] = ["255.255.255.255/32"];
const MULTICAST: [&str; 2] = ["224.0.0.0/4", "ff00::/8"];
const INTERFACE_LOCAL_MULTICAST: [&str; 1] = ["ff01::/16"];
const LINK_LOCAL_MULTICAST: [&str; 2] = ["224.0.0.0/24", "ff02::/16"];
const LINK_LOCAL_UNICAST: [&str; 2] = ["169.254.0.0/16", "fe80::/10"];
/// RFC 1918 and RFC 4193.
const PRIVATE: [&str; 4] = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"];

impl Networks {
    /// Reads one of them, or a list; the one that is none is told.
    pub(super) fn parse(written: &Json) -> Result<Self, String> {
        let one = |written: &Json| {
            let text = written.as_str();
            let network = text.and_then(Network::parse);
            network.ok_or_else(|| format!("{written} is no network"))
        };
        let networks = match written {
            Json::Array(items) => items.iter().map(one).collect::<Result<_, _>>()?,
            written => vec![one(written)?],
        };
        Ok(Networks(networks))
    }

    /// Whether a text is an address in one of them.
    pub(super) fn have(&self, text: &str) -> bool {
        let Ok(address) = text.parse::<IpAddr>() else {
            return false;
        };
        let address = address.to_canonical();
        self.0.iter().any(|network| network.has(address))
    }
}

impl Network {
    fn parse(written: &str) -> Option<Network> {
        let within = |lists: &[&[&str]]| Some(Network::Within(prefixes(lists)));
        match written {
            "loopback" => within(&[&LOOPBACK]),
            "unspecified" => within(&[&UNSPECIFIED]),
            "multicast" => within(&[&MULTICAST]),
            "interface_local_multicast" => within(&[&INTERFACE_LOCAL_MULTICAST]),
            "link_local_multicast" => within(&[&LINK_LOCAL_MULTICAST]),
            "link_local_unicast" => within(&[&LINK_LOCAL_UNICAST]),
            "private" => within(&[&PRIVATE]),
            "unicast" | "global_unicast" => Some(Network::Outside(prefixes(&[
                &BROADCAST,
                &UNSPECIFIED,
                &LOOPBACK,
                &MULTICAST,
                &LINK_LOCAL_UNICAST,
            ]))),
            "public" => Some(Network::Outside(prefixes(&[
                &BROADCAST,
                &UNSPECIFIED,
                &LOOPBACK,
                &INTERFACE_LOCAL_MULTICAST,
                &LINK_LOCAL_MULTICAST,
                &LINK_LOCAL_UNICAST,
                &PRIVATE,
            ]))),
            written => Some(Network::Within(vec![Prefix::parse(written)?])),
        }
    }

    fn has(&self, address: IpAddr) -> bool {
        match self {
            Network::Within(prefixes) => prefixes.iter().any(|prefix| prefix.has(address)),
            Network::Outside(prefixes) => !prefixes.iter().any(|prefix| prefix.has(address)),
        }
    }
}

fn prefixes(lists: &[&[&str]]) -> Vec<Prefix> {
    let written = lists.iter().flat_map(|list| list.iter());
    written.filter_map(|one| Prefix::parse(one)).collect()
}

impl Prefix {
    fn parse(written: &str) -> Option<Prefix> {
        let (address, bits) = written.split_once('/')?;
        let address: IpAddr = address.parse().ok()?;
        let bits: u32 = bits.parse().ok()?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        (bits <= most).then_some(Prefix { address, bits })
    }

    fn has(self, address: IpAddr) -> bool {
        // What is left of either once the bits behind the prefix are gone; nothing if there are no others.
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let rest = 32 - self.bits;
                own.to_bits().checked_shr(rest) == other.to_bits().checked_shr(rest)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let rest = 128 - self.bits;
                own.to_bits().checked_shr(rest) == other.to_bits().checked_shr(rest)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn addresses_are_in_networks_by_prefix_and_by_name() {
        for (networks, address, expected) in [
            (json!("10.0.0.0/8"), "10.255.0.1", true),
            (json!("10.0.0.0/8"), "11.0.0.1", false),
            (json!("10.0.0.0/8"), "::ffff:10.0.0.1", true),
            (json!("0.0.0.0/0"), "11.0.0.1", true),
            (json!("0.0.0.0/0"), "::1", false),
            (json!("2001:db8::/33"), "2001:db8:8000::1", false),
            (json!(["192.0.2.7/32", "private"]), "192.0.2.7", true),
            (json!(["192.0.2.7/32", "private"]), "fd00::1", true),
            (json!("private"), "172.32.0.1", false),
            (json!("public"), "8.8.8.8", true),
            (json!("public"), "192.168.1.1", false),
            (json!("loopback"), "::1", true),
            (json!("unicast"), "255.255.255.255", false),
            (json!("multicast"), "224.1.2.3", true),
            (json!("public"), "no address", false),
        ] {
            let found = Networks::parse(&networks).unwrap().have(address);
            assert_eq!(found, expected, "{address} in {networks}");
        }
        for wrong in [json!("intranet"), json!(7), json!(["10.0.0.0/33"])] {
            assert!(Networks::parse(&wrong).is_err(), "{wrong}");
        }
        // Every prefix that has a name is one.
        let named = [&LOOPBACK[..], &UNSPECIFIED, &BROADCAST, &MULTICAST];
        let more = [&INTERFACE_LOCAL_MULTICAST[..], &LINK_LOCAL_MULTICAST];
        let most = [&LINK_LOCAL_UNICAST[..], &PRIVATE];
        for list in named.iter().chain(&more).chain(&most) {
            assert_eq!(prefixes(&[list]).len(), list.len(), "{list:?}");
        }
    }
}
