//! What a declaration comes to: its schema, what it takes, and what is said about what it does not take.

use expect_test::{Expect, expect};

use super::*;

crate::arguments! {
    /// What to keep.
    struct Arguments {
        /// The "list",
        /// whole.
        todos: Vec<Todo>,
        limit as "maxItems": Option<u32>,
        headers: Option<std::collections::BTreeMap<String, String>>,
    }
}

crate::arguments! {
    struct Todo {
        content: String,
        status: Status,
    }
}

crate::arguments! {
    /// How far it is.
    enum Status { Pending = "pending", InProgress = "in_progress" }
}

#[test]
fn the_schema_says_what_the_declaration_says() {
    let schema: serde_json::Value = serde_json::from_str(&Arguments::schema("")).unwrap();
    let expected = expect![[r#"
        {
          "additionalProperties": false,
          "description": "What to keep.",
          "properties": {
            "headers": {
              "additionalProperties": {
                "type": "string"
              },
              "type": "object"
            },
            "maxItems": {
              "minimum": 0,
              "type": "integer"
            },
            "todos": {
              "description": "The \"list\", whole.",
              "items": {
                "additionalProperties": false,
                "properties": {
                  "content": {
                    "type": "string"
                  },
                  "status": {
                    "description": "How far it is.",
                    "enum": [
                      "pending",
                      "in_progress"
                    ],
                    "type": "string"
                  }
                },
                "required": [
                  "content",
                  "status"
                ],
                "type": "object"
              },
              "type": "array"
            }
          },
          "required": [
            "todos"
          ],
          "type": "object"
        }"#]];
    expected.assert_eq(&serde_json::to_string_pretty(&schema).unwrap());
}

#[test]
fn arguments_that_fit() {
    let arguments: Arguments = parse(r#"{"maxItems": 3, "headers": null, "todos": [{"content": "a", "status": "in_progress"}]}"#).unwrap();
    let todos = vec![Todo { content: "a".to_owned(), status: Status::InProgress }];
    assert_eq!(arguments, Arguments { todos, limit: Some(3), headers: None });
}

fn check(arguments: &str, expected: &Expect) {
    let error = parse::<Arguments>(arguments).unwrap_err();
    let (error, schema) = error.split_once(" They have to match this JSON Schema: ").unwrap();
    assert_eq!(schema, Arguments::schema(""));
    expected.assert_eq(error);
}

#[test]
fn errors_name_what_is_wrong() {
    check("", &expect!["The arguments do not fit: missing field `todos` at line 1 column 2."]);
    check("[]", &expect!["The arguments do not fit: not a JSON object."]);
    check(
        r#"{"todos": [], "todo": 1}"#,
        &expect!["The arguments do not fit: unknown field `todo`, expected one of `todos`, `maxItems`, `headers` at line 1 column 20."],
    );
    check(
        r#"{"todos": [{"content": "a", "status": "done"}]}"#,
        &expect!["The arguments do not fit: unknown variant `done`, expected `pending` or `in_progress` at line 1 column 44."],
    );
    check(r#"{"todos": "#, &expect!["The arguments do not fit: EOF while parsing a value at line 1 column 10."]);
}
