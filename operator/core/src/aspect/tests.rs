use expect_test::expect;

use super::{aspect, is_host};
use crate::resolve::tests::{object, shown};

#[test]
fn an_aspect_is_what_its_object_says() {
    let fetch = object(
        r#"{"metadata": {"name": "fetch"}, "spec": {"kind": "Tool", "source": {"builtin": {"name": "tool-fetch"}},
            "grants": {"egress": ["example.org", "*.example.com:8443"]}, "pin": 3}}"#,
    );
    expect![[r#"
        DeclaredAspect {
            name: "fetch",
            kind: Tool,
            source: Builtin(
                "tool-fetch",
            ),
            grants: Grants {
                notes: false,
                egress: [
                    "example.org",
                    "*.example.com:8443",
                ],
            },
            pin: Some(
                3,
            ),
            self_modification: Branch,
        }"#]]
    .assert_eq(&shown(aspect(&fetch)));
}

#[test]
fn every_mistake_is_told_at_once() {
    let broken = object(
        r#"{"metadata": {"name": "fetch"}, "spec": {"kind": "Tool",
            "source": {"builtin": {"name": "tool-fetch"}, "configMap": {"name": "code"}},
            "grants": {"egress": ["example.org", "example.org:0", "http://example.org", "example.org"]}}}"#,
    );
    expect![[r#"
        Aspect fetch: spec.grants.egress[1]: "example.org:0" is not a host such as example.org, *.example.org or example.org:8443
        Aspect fetch: spec.grants.egress[2]: "http://example.org" is not a host such as example.org, *.example.org or example.org:8443
        Aspect fetch: spec.grants.egress[3]: example.org is there twice
        Aspect fetch: spec.source: give exactly one of builtin, inline, configMap, git"#]]
    .assert_eq(&shown(aspect(&broken)));
}

#[test]
fn hosts() {
    for host in ["a", "a.b", "*.a.b", "a:1", "a.b:65535", "10.0.0.1", "xn--p1ai"] {
        assert!(is_host(host), "{host}");
    }
    for host in ["", "*", "*.", "*a.b", "a.*", "a..b", "-a", "a-", "a:", "a:65536", "a:+1", "a b", "A", "a/b", "[::1]", ".a"] {
        assert!(!is_host(host), "{host}");
    }
}
