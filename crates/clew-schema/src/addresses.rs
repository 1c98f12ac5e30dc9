//! Addresses of the internet as one kind of number: those of version 4 are told as version 6 maps them, so that both have one
//! order.

use std::net::{IpAddr, Ipv6Addr};

/// An address of either version; nothing of what is none. The zone of one of version 6, as in `fe80::1%eth0`, tells which
/// network of a machine it is of, and is left out.
pub fn parse_address(text: &str) -> Option<Ipv6Addr> {
    let address = match text.split_once('%') {
        Some((address, zone)) if address.contains(':') && !zone.is_empty() => address,
        _ => text,
    };
    address.parse().ok().map(mapped)
}

/// The first and the last address of a network, as in `10.0.0.0/8`; nothing of what is none.
pub fn parse_network(text: &str) -> Option<(Ipv6Addr, Ipv6Addr)> {
    let (base, length) = text.split_once('/')?;
    let base: IpAddr = base.parse().ok()?;
    let length: u32 = length.parse().ok()?;
    let (width, offset) = if base.is_ipv4() { (32, 96) } else { (128, 0) };
    if length > width {
        return None;
    }
    let host = u128::MAX.checked_shr(length + offset).unwrap_or(0);
    let bits = mapped(base).to_bits();
    Some((
        Ipv6Addr::from_bits(bits & !host),
        Ipv6Addr::from_bits(bits | host),
    ))
}

fn mapped(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_left_out() {
        assert_eq!(parse_address("fe80::1%eth0"), parse_address("fe80::1"));
        assert!(parse_address("fe80::1").is_some());
        for text in ["1.2.3.4%eth0", "fe80::1%", "%eth0", "x%eth0"] {
            assert_eq!(parse_address(text), None, "{text}");
        }
    }

    #[test]
    fn networks_have_their_first_and_last_address() {
        let ends = |text| parse_network(text).map(|(a, b)| format!("{a} {b}"));
        let check = |text, expected: Option<&str>| assert_eq!(ends(text).as_deref(), expected);
        check("10.1.2.3/8", Some("::ffff:10.0.0.0 ::ffff:10.255.255.255"));
        check("10.1.2.3/32", Some("::ffff:10.1.2.3 ::ffff:10.1.2.3"));
        check("10.1.2.3/0", Some("::ffff:0.0.0.0 ::ffff:255.255.255.255"));
        check("2001:db8::/126", Some("2001:db8:: 2001:db8::3"));
        check("::/0", Some(":: ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"));
        for none in [
            "10.1.2.3",
            "10.1.2.3/33",
            "::/129",
            "10.1.2/8",
            "10.1.2.3/x",
            "/8",
        ] {
            check(none, None);
        }
    }

    #[test]
    fn both_versions_have_one_order() {
        assert!(parse_address("10.0.0.1") < parse_address("2001:db8::"));
        assert_eq!(parse_address("10.0.0.1"), parse_address("::ffff:10.0.0.1"));
        assert_eq!(parse_address("10.0.0"), None);
    }
}
