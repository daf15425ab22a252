//! Which hosts a guest may reach: the grammar of a grant's entries and what they permit. No IO.

use std::net::IpAddr;

use super::address;

/// The hosts that a grant names.
#[derive(Debug, Default)]
pub struct Allow {
    entries: Vec<Entry>,
}

/// An entry that is not one of `name`, `*.suffix` or an address, each with an optional port.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a host that can be allowed: {entry:?} (a name, `*.` and a suffix, or an address; a port may follow)")]
pub struct Invalid {
    /// As it was written.
    pub entry: String,
}

#[derive(Debug, PartialEq, Eq)]
struct Entry {
    host: Host,
    port: Option<u16>,
}

#[derive(Debug, PartialEq, Eq)]
enum Host {
    Name(String),
    Below(String),
    Address(IpAddr),
}

/// A host that a grant permits, and which addresses it may turn out to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// This address, which the grant names itself.
    Exactly(IpAddr),
    /// The machine that the guest runs on.
    Loopback,
    /// Public addresses and those of the surrounding network: the name is one that no public zone can hold.
    Inside,
    /// Public addresses.
    Public,
}

impl Allow {
    /// The entries of a grant.
    pub fn parse(entries: &[String]) -> Result<Self, Invalid> {
        let entries = entries.iter().map(|entry| Entry::parse(entry).ok_or_else(|| Invalid { entry: entry.clone() }));
        Ok(Self { entries: entries.collect::<Result<_, _>>()? })
    }

    /// Whether a request may go to this host and port; `default_port` is its scheme's, which an entry without a port means.
    pub(super) fn permits(&self, host: &str, port: u16, default_port: u16) -> Option<Reach> {
        let host = normal(host)?;
        let address = literal(&host);
        let permitted = self.entries.iter().any(|entry| {
            entry.port.unwrap_or(default_port) == port
                && match &entry.host {
                    Host::Name(name) => *name == host,
                    Host::Below(suffix) => address.is_none() && is_below(&host, suffix),
                    Host::Address(allowed) => address == Some(*allowed),
                }
        });
        permitted.then(|| match address {
            Some(address) => Reach::Exactly(address),
            None if host == "localhost" => Reach::Loopback,
            None if is_inside(&host) => Reach::Inside,
            None => Reach::Public,
        })
    }
}

impl Reach {
    /// Whether a connection may go to `address`, which the name resolved to.
    pub(super) fn admits(self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        match self {
            Self::Exactly(allowed) => address == allowed,
            Self::Loopback => address.is_loopback(),
            Self::Inside => address::is_public(address) || address::is_inside(address),
            Self::Public => address::is_public(address),
        }
    }
}

impl Entry {
    fn parse(text: &str) -> Option<Self> {
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') && !host.contains(':') || host.ends_with(']') => (host, Some(port)),
            _ => (text, None),
        };
        let port = match port {
            Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => Some(port.parse().ok().filter(|port| *port > 0)?),
            Some(_) => return None,
            None => None,
        };
        let host = if let Some(suffix) = host.strip_prefix("*.") {
            Host::Below(normal(suffix).filter(|suffix| literal(suffix).is_none())?)
        } else {
            let host = normal(host)?;
            literal(&host).map_or(Host::Name(host), Host::Address)
        };
        Some(Self { host, port })
    }
}

/// The host in the one form that is compared: lower case, no final dot, an IPv6 address without its brackets.
fn normal(host: &str) -> Option<String> {
    let host = host.to_ascii_lowercase();
    if let Some(inner) = host.strip_prefix('[') {
        let address: std::net::Ipv6Addr = inner.strip_suffix(']')?.parse().ok()?;
        return Some(address.to_string());
    }
    let host = host.strip_suffix('.').unwrap_or(&host);
    if literal(host).is_some() {
        return Some(host.to_owned());
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let labels_are_plain = host.split('.').all(|label| (1..=63).contains(&label.len()) && label.bytes().all(plain));
    // A last label of digits makes some resolvers read an address out of what looks like a name.
    let last = host.rsplit('.').next().unwrap_or(host);
    let numeric = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x");
    (host.len() <= 253 && labels_are_plain && !numeric).then(|| host.to_owned())
}

fn literal(host: &str) -> Option<IpAddr> {
    host.parse().ok().map(|address: IpAddr| address.to_canonical())
}

fn is_below(host: &str, suffix: &str) -> bool {
    host.strip_suffix(suffix).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
}

/// Names that no public zone holds, so that whoever grants one means a machine nearby: a single label, a Kubernetes
/// service, and the names that are set aside for private use.
fn is_inside(host: &str) -> bool {
    !host.contains('.') || ["svc", "cluster.local", "internal", "home.arpa"].iter().any(|suffix| is_below(host, suffix))
}

#[cfg(test)]
mod tests;
