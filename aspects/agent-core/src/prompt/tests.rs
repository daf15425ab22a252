//! What the system prompt says of a mode and of skills.

use expect_test::{Expect, expect};
use thetis_sdk::agent::config::{Mode, Model};

use super::*;

fn settings(title: &str, read_only: bool, instructions: &str) -> Settings {
    Settings {
        mode: Mode { name: "plan".to_owned(), title: title.to_owned(), read_only, instructions: instructions.to_owned() },
        model: Model { name: "m".to_owned(), context_tokens: 1000 },
        max_steps: 25,
    }
}

fn check(settings: &Settings, skills: &[Skill], expected: &Expect) {
    let parts = parts(settings, skills);
    assert_eq!(parts[0], IDENTITY);
    expected.assert_eq(&parts[1..].join("\n---\n"));
}

#[test]
fn a_mode_without_instructions_is_named() {
    check(&settings("Agent", false, "  \n"), &[], &expect!["# Mode: Agent"]);
}

#[test]
fn a_read_only_mode_says_so_and_skills_follow() {
    let skill = Skill {
        name: "git".to_owned(),
        title: String::new(),
        description: "Commits.".to_owned(),
        instructions: "Small ones.\n".to_owned(),
    };
    check(
        &settings("", true, "Plan first."),
        &[skill],
        &expect![[r"
        # Mode: plan

        This mode is read-only: tools that change anything are withheld. Say what you would change instead.

        Plan first.
        ---
        # Skill: git

        Commits.

        Small ones."]],
    );
}
