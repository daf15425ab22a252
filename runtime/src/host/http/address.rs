//! Which addresses are public, which belong to the surrounding network, and which nobody is let at. No IO.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Addresses at which clouds tell a machine its secrets, and which are not link-local: no grant by name reaches them.
const METADATA: [IpAddr; 3] = [
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
];

/// Whether the address is one of the open internet.
pub(super) fn is_public(address: IpAddr) -> bool {
    !METADATA.contains(&address)
        && match address {
            IpAddr::V4(address) => is_public_v4(address),
            IpAddr::V6(address) => is_public_v6(address),
        }
}

/// Whether the address is one that a surrounding network uses. Loopback and link-local ones are not.
pub(super) fn is_inside(address: IpAddr) -> bool {
    !METADATA.contains(&address)
        && match address {
            IpAddr::V4(address) => address.is_private() || is_shared(address),
            IpAddr::V6(address) => address.is_unique_local(),
        }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    !(first == 0
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || is_shared(address)
        // Assigned to protocols; the old 6to4 relays; benchmarks; reserved, with broadcast.
        || (first, second, third) == (192, 0, 0)
        || (first, second, third) == (192, 88, 99)
        || first == 198 && second & 0xfe == 18
        || first >= 240)
}

/// Between providers and their customers; some clusters number their pods from it.
fn is_shared(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    first == 100 && second & 0xc0 == 64
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(inner) = address.to_ipv4_mapped() {
        return is_public_v4(inner);
    }
    let [first, second, third, fourth, fifth, sixth, seventh, eighth] = address.segments();
    let embedded = |high: u16, low: u16| {
        let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match (first, second) {
        // Translated to IPv4, and tunnelled in it: as public as the address inside.
        (0x64, 0xff9b) => (third, fourth, fifth, sixth) == (0, 0, 0, 0) && embedded(seventh, eighth),
        (0x2002, _) => embedded(second, third),
        // Protocol assignments with Teredo and benchmarks, and the two ranges for documentation.
        (0x2001, 0..=0x1ff | 0xdb8) | (0x3fff, 0..=0xfff) => false,
        _ => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests;
