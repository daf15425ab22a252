//! Mode objects.

use thetis_core::settings;
use thetis_crds::Mode;

use crate::problem::{Kind, Problem, Problems, What};

/// The mode as turns use it.
pub fn mode(object: &Mode) -> Result<settings::Mode, Vec<Problem>> {
    let name = object.metadata.name.as_deref().unwrap_or_default();
    let mut problems = Problems::new(Kind::Mode, name);
    if let Some(allow) = &object.spec.tools.allow {
        for (at, tool) in allow.iter().enumerate() {
            if allow.iter().take(at).any(|earlier| earlier == tool) {
                problems.add(format!("spec.tools.allow[{at}]"), What::Twice(tool.clone()));
            }
        }
    }
    problems.finish(settings::Mode {
        title: object.spec.title.clone().unwrap_or_else(|| name.to_owned()),
        read_only: object.spec.read_only,
        tools: object.spec.tools.allow.clone(),
        instructions: object.spec.instructions.clone(),
    })
}
