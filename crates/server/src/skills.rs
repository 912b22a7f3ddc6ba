//! The only skill, which teaches a model to do much with few calls. Skills are an extension of the protocol (SEP-2640):
//! clients list them with `skills/list` and read them as resources.

use rmcp::ErrorData;
use rmcp::model::{Resource, Skill, SkillFrontmatter, SkillResource, SkillResources};

use emend_workspace::Mode;

use crate::uri::SKILL;

/// The text of the skill, with its front matter.
const TEXT: &str = include_str!("../skills/emend/SKILL.md");

/// The type of the skill's text.
pub(crate) const MARKDOWN: &str = "text/markdown";

/// Returns whether skills are listed in this mode: where nothing can be edited, there is nothing to teach.
pub(crate) fn are_offered(mode: Mode) -> bool {
    mode != Mode::ReadOnly
}

/// Returns the list of skills.
pub(crate) fn all() -> Vec<Skill> {
    let files = vec![SkillResource::from_bytes(SKILL, TEXT.as_bytes())];
    vec![Skill::new(
        SKILL,
        SkillFrontmatter::new(field("name"), field("description")),
        SkillResources::Files(files),
    )]
}

/// Returns the skill whose text has this URI.
pub(crate) fn get(uri: &str) -> Result<Skill, ErrorData> {
    all().into_iter().find(|skill| skill.uri == uri).ok_or_else(|| {
        ErrorData::invalid_params(format!("There is no skill '{uri}'. There is one: {SKILL}."), None)
    })
}

/// Returns the whole text of the skill.
pub(crate) fn text() -> &'static str {
    TEXT
}

/// Returns the text of the skill without its front matter.
pub(crate) fn lesson() -> &'static str {
    parts().1
}

/// Returns the text of the skill as a resource, for clients that know resources and no skills.
pub(crate) fn resource() -> Resource {
    Resource::new(SKILL, field("name"))
        .with_title("How to edit with Emend")
        .with_description(field("description"))
        .with_mime_type(MARKDOWN)
        .with_size(TEXT.len() as u64)
}

fn field(name: &str) -> &'static str {
    let line = |line: &'static str| line.strip_prefix(name)?.strip_prefix(": ");
    parts().0.lines().find_map(line).unwrap_or_default()
}

/// Returns the front matter and the rest.
fn parts() -> (&'static str, &'static str) {
    let parts = TEXT.strip_prefix("---\n").and_then(|text| text.split_once("\n---\n"));
    parts.unwrap_or(("", TEXT))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use emend_workspace::ListedTools;
    use emend_workspace::problem::Code;
    use serde_json::Value;

    use super::*;
    use crate::tools;

    /// The bytes that a model is asked to read.
    const LONGEST: usize = 4_096;

    #[test]
    fn the_skill_is_short_and_its_front_matter_names_it() {
        assert!(TEXT.len() <= LONGEST, "it has {} bytes", TEXT.len());
        let [skill] = &all()[..] else { panic!("there is one skill") };
        skill.validate().unwrap();
        assert_eq!(skill.name(), "emend");
        assert!((100..1_024).contains(&skill.frontmatter.description.len()));
        assert!(lesson().starts_with("# "));
        let SkillResources::Files(files) = &skill.resources else { panic!("its text never changes") };
        files[0].verify(text().as_bytes()).unwrap();
    }

    /// The names of the arguments in a schema, at any depth.
    fn arguments_of(schema: &Value, names: &mut BTreeSet<String>) {
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            names.insert(name.clone());
            arguments_of(property, names);
        }
        if let Some(items) = schema.get("items") {
            arguments_of(items, names);
        }
    }

    #[test]
    fn what_the_skill_names_is_a_tool_an_argument_or_a_code_and_each_edit_tool_is_named() {
        let mut known: BTreeSet<String> = Code::ALL.iter().map(|code| code.as_str().to_owned()).collect();
        known.extend(["$1", "// ... existing code ..."].map(str::to_owned));
        for tool in tools::all() {
            known.insert(tool.about.name.to_owned());
            arguments_of(&Value::Object((*tool.input).clone()), &mut known);
        }
        let named: BTreeSet<&str> = lesson().split('`').skip(1).step_by(2).collect();
        for name in &named {
            assert!(known.contains(*name), "{name}");
        }
        let listed = tools::all().iter().filter(|tool| tool.is_listed(ListedTools::All, false));
        for tool in listed.filter(|tool| tool.about.effect != tools::Effect::Reads) {
            assert!(named.contains(tool.about.name), "{}", tool.about.name);
        }
    }

    #[test]
    fn an_unknown_skill_is_refused_with_the_one_that_there_is() {
        assert_eq!(get(SKILL).unwrap().uri, SKILL);
        assert!(get("skill://other/SKILL.md").unwrap_err().message.contains(SKILL));
    }
}
