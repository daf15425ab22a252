use super::{is_inside, is_public};

fn public(address: &str) -> bool {
    is_public(address.parse().unwrap())
}

#[test]
fn the_open_internet_is_public() {
    for address in ["1.1.1.1", "93.184.216.34", "100.63.0.1", "198.17.0.1", "2606:4700::1111", "64:ff9b::1.1.1.1", "2002:0101:0101::"] {
        assert!(public(address), "{address}");
    }
}

#[test]
fn everything_special_is_not() {
    for address in [
        "0.0.0.0",
        "0.1.2.3",
        "10.1.2.3",
        "100.64.0.1",
        "100.127.255.255",
        "100.100.100.200",
        "127.0.0.1",
        "127.255.0.1",
        "168.63.129.16",
        "169.254.169.254",
        "172.16.0.1",
        "192.0.0.1",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.1",
        "198.18.0.1",
        "198.19.255.255",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:127.0.0.1",
        "::127.0.0.1",
        "64:ff9b::10.0.0.1",
        "64:ff9b:1::1",
        "2001::1",
        "2001:db8::1",
        "2002:7f00:0001::",
        "2002:0a00:0001::",
        "3fff::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fec0::1",
        "ff02::1",
    ] {
        assert!(!public(address), "{address}");
    }
}

#[test]
fn the_surrounding_network_has_no_metadata_in_it() {
    let inside = |address: &str| is_inside(address.parse().unwrap());
    for address in ["10.96.0.1", "172.20.0.1", "192.168.1.1", "100.64.0.1", "fd12::1"] {
        assert!(inside(address), "{address}");
    }
    for address in ["1.1.1.1", "127.0.0.1", "169.254.169.254", "100.100.100.200", "fd00:ec2::254", "fe80::1", "::1"] {
        assert!(!inside(address), "{address}");
    }
}
