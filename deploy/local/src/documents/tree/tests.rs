use expect_test::{Expect, expect};

use super::{DEPTH, parse};

fn check(text: &str, expected: &Expect) {
    let (documents, found) = parse(text);
    let documents = documents.iter().map(|document| format!("{}\n", document.json()));
    let found = found.iter().map(|found| format!("{}:{}: {}: {}\n", found.at.line, found.at.column, found.path, found.what));
    expected.assert_eq(&documents.chain(found).collect::<String>());
}

#[test]
fn documents_are_read_and_empty_ones_left_out() {
    check(
        "---\n# nothing\n---\na: [1, two, {b: true}]\n---\n\"c\": |\n  text\n  more\n...\n",
        &expect![[r#"
        {"a":[1,"two",{"b":true}]}
        {"c":"text\nmore\n"}
    "#]],
    );
    check("", &expect![[""]]);
}

#[test]
fn what_is_wrong_has_its_place_and_the_rest_is_read() {
    check(
        "a: 1\nb:\n  - c: 1\n    c: 2\n  - yes\na: 3\n",
        &expect![[r#"
            {"a":1,"b":[{"c":1},null]}
            4:5: b[0].c: is there twice; first in line 3
            5:5: b[1]: kubectl reads this as true: put it in quotes if text is meant
            6:1: a: is there twice; first in line 1
        "#]],
    );
    check(
        "[1]: x\n1: y\nnull: z\nok: 1\n",
        &expect![[r#"
            {"ok":1}
            1:1: : a key has to be text: put it in quotes
            2:1: : a key has to be text: put it in quotes
            2:4: : kubectl reads this as true: put it in quotes if text is meant
            3:1: : a key has to be text: put it in quotes
        "#]],
    );
    check(
        "base: &b {a: 1}\nother:\n  <<: *b\n  c: 1\n",
        &expect![[r#"
        {"base":{"a":1},"other":{"c":1}}
        3:3: other: merge keys are not read: write the keys out
    "#]],
    );
    check(
        "a: !!binary aGk=\nb: !mine [1]\n",
        &expect![[r#"
        {"a":"aGk=","b":[1]}
        1:4: a: tags are not read: take tag:yaml.org,2002:!binary away
        2:4: b: tags are not read: take !mine away
    "#]],
    );
}

#[test]
fn a_text_that_is_no_yaml_says_where() {
    check(
        "a: 1\n\tb: 2\n",
        &expect![[r#"
        1:4: a: not YAML: while scanning a plain scalar, found a tab
    "#]],
    );
    check(
        "a:\n\t- 1\n",
        &expect![[r#"
        2:2: a: not YAML: tabs disallowed within this context (block indentation)
    "#]],
    );
    check(
        "a: [1, 2\nb: 3\n",
        &expect![[r#"
        2:2: a[1]: not YAML: illegal placement of ':' indicator
    "#]],
    );
    check(
        "a: 'open\n",
        &expect![[r#"
        1:4: a: not YAML: while scanning a quoted scalar, found unexpected end of stream
    "#]],
    );
    check(
        "a: b: c\n",
        &expect![[r#"
        1:5: : not YAML: mapping values are not allowed in this context
    "#]],
    );
    check(
        "ok: 1\n---\na: *nowhere\n",
        &expect![[r#"
        {"ok":1}
        3:4: a: not YAML: while parsing node, found unknown anchor
    "#]],
    );
    check(
        "a: &a [*a]\n",
        &expect![[r#"
            1:8: a[0]: not YAML: an alias of nothing that is complete in this document
        "#]],
    );
}

#[test]
fn aliases_are_what_they_stand_for() {
    check(
        "a: &a {x: 1}\nb: *a\nc: [*a, *a]\n",
        &expect![[r#"
        {"a":{"x":1},"b":{"x":1},"c":[{"x":1},{"x":1}]}
    "#]],
    );
    check(
        "a: &a 1\n---\nb: *a\n",
        &expect![[r#"
            {"a":1}
            3:4: b: not YAML: an alias of nothing that is complete in this document
        "#]],
    );
}

#[test]
fn bombs_are_refused() {
    let mut laughs = "l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let below = format!("*l{}", level - 1);
        laughs.extend([format!("l{level}: &l{level} [{}]\n", [below.as_str(); 10].join(", "))]);
    }
    let last = |text: &str| parse(text).1.last().map(|found| found.what.to_string()).unwrap_or_default();
    expect!["more than 100000 values, counting what aliases stand for"].assert_eq(&last(&laughs));
    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(1 << 20), "*a, ".repeat(1000));
    expect!["more than 100000 values, counting what aliases stand for"].assert_eq(&last(&long));
    let deep = "[".repeat(1_000_000);
    expect!["not YAML: recursion limit exceeded"].assert_eq(&last(&deep));
    let many = "[],".repeat(200_000);
    expect!["more than 100000 values, counting what aliases stand for"].assert_eq(&last(&format!("[{many}]")));
    let chain =
        (1..40).fold("a0: &a0 [[[[[[]]]]]]\n".to_owned(), |text, level| format!("{text}a{level}: &a{level} [[[[[*a{}]]]]]\n", level - 1));
    expect!["nested more than 64 deep"].assert_eq(&last(&chain));
    let keys = (0..30_000).map(|key| format!("k{key}: 1\n")).collect::<Vec<_>>().concat();
    assert_eq!(parse(&keys).0.len(), 1);
    assert_eq!(parse(&format!("{}{}", "[".repeat(DEPTH), "]".repeat(DEPTH))).1, []);
}
