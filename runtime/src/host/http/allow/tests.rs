use std::net::IpAddr;

use super::{Allow, Invalid, Reach, normal};

fn permits(entry: &str, host: &str, port: u16) -> Option<Reach> {
    Allow::parse(&[entry.to_owned()]).unwrap().permits(host, port, 443)
}

#[test]
fn names_are_exact() {
    assert_eq!(permits("api.example.org", "api.example.org", 443), Some(Reach::Public));
    assert_eq!(permits("API.example.org.", "api.EXAMPLE.org", 443), Some(Reach::Public));
    assert_eq!(permits("api.example.org", "api.example.org.", 443), Some(Reach::Public));
    assert_eq!(permits("example.org", "api.example.org", 443), None);
    assert_eq!(permits("example.org", "example.org.evil.net", 443), None);
    assert_eq!(permits("example.org", "notexample.org", 443), None);
}

#[test]
fn a_suffix_is_below_and_not_the_name_itself() {
    assert_eq!(permits("*.example.org", "a.example.org", 443), Some(Reach::Public));
    assert_eq!(permits("*.example.org", "a.b.example.org", 443), Some(Reach::Public));
    assert_eq!(permits("*.example.org", "example.org", 443), None);
    assert_eq!(permits("*.example.org", "notexample.org", 443), None);
    assert_eq!(permits("*.example.org", ".example.org", 443), None);
}

#[test]
fn a_port_is_the_schemes_unless_the_entry_names_one() {
    assert_eq!(permits("example.org", "example.org", 8443), None);
    assert_eq!(permits("example.org:8443", "example.org", 8443), Some(Reach::Public));
    assert_eq!(permits("example.org:8443", "example.org", 443), None);
    assert_eq!(permits("*.example.org:8443", "a.example.org", 8443), Some(Reach::Public));
}

#[test]
fn addresses_are_reached_only_where_they_are_named() {
    let address: IpAddr = "127.0.0.1".parse().unwrap();
    assert_eq!(permits("127.0.0.1:9", "127.0.0.1", 9), Some(Reach::Exactly(address)));
    assert_eq!(permits("127.0.0.1:9", "127.0.0.2", 9), None);
    assert_eq!(permits("127.0.0.1:9", "localhost", 9), None);
    assert_eq!(permits("[::1]:9", "[::1]", 9), Some(Reach::Exactly("::1".parse().unwrap())));
    assert_eq!(permits("[::1]", "[0:0:0:0:0:0:0:1]", 443), Some(Reach::Exactly("::1".parse().unwrap())));
    // An address in IPv6's clothes is the same address.
    assert_eq!(permits("127.0.0.1", "[::ffff:127.0.0.1]", 443), Some(Reach::Exactly(address)));
}

#[test]
fn hosts_that_only_look_like_names_are_none() {
    for host in ["127.1", "2130706433", "0x7f.1", "1.0x7f", "a..b", "", ".", "a b", "a/b", "a%2eb", "user@example.org", "[::1"] {
        assert_eq!(normal(host), None, "{host}");
    }
}

#[test]
fn what_is_no_entry_is_refused_with_its_text() {
    for entry in [
        "",
        "*",
        "*.",
        "a.*.b",
        "*a.b",
        "http://example.org",
        "example.org/",
        "example.org:",
        "example.org:0",
        "example.org:65536",
        "example.org:x",
        "example.org:+1",
        "[::1",
        "127.1",
        "*.127.0.0.1",
        "exa mple.org",
        "ex\u{e4}mple.org",
        "a:1:2",
    ] {
        assert_eq!(Allow::parse(&[entry.to_owned()]).err(), Some(Invalid { entry: entry.to_owned() }), "{entry}");
    }
}

#[test]
fn what_a_name_may_turn_out_to_be() {
    let admits = |entry: &str, host: &str, address: &str| permits(entry, host, 443).expect("permitted").admits(address.parse().unwrap());
    assert!(admits("example.org", "example.org", "93.184.216.34"));
    for address in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "0.0.0.0", "fd00::1", "::ffff:10.0.0.1"] {
        assert!(!admits("example.org", "example.org", address), "{address}");
        assert!(!admits("*.example.org", "a.example.org", address), "{address}");
    }
    for name in ["search", "search.tools.svc", "search.tools.svc.cluster.local", "printer.internal"] {
        assert!(admits(name, name, "10.96.0.7"), "{name}");
        assert!(admits(name, name, "fd00::7"), "{name}");
        for address in ["127.0.0.1", "169.254.169.254", "fd00:ec2::254", "100.100.100.200", "fe80::1"] {
            assert!(!admits(name, name, address), "{name} {address}");
        }
    }
    assert!(admits("localhost", "localhost", "127.0.0.1"));
    assert!(!admits("localhost", "localhost", "10.0.0.1"));
}
