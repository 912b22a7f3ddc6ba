//! The reference of the settings: the table in docs/CONFIGURATION.md.

use super::Settings;
use super::rules::{Flag, Setting};

/// Returns the table of all settings in Markdown, a row for each.
#[must_use]
pub fn reference_table() -> String {
    let mut table = "| In the file | Flag | What it says | Default |\n|---|---|---|---|\n".to_owned();
    for setting in Settings::ALL {
        let (key, about, default) = (setting.key, setting.about(), (setting.default)());
        let flag = setting.flag.map_or_else(String::new, |flag| format!("`{}`", usage(setting, flag)));
        table += &format!("| `{key}` | {flag} | {about} | {default} |\n");
    }
    table
}

/// Returns the usage of a flag: for "true" or "false", with the value that changes the default.
fn usage(setting: &Setting, flag: Flag) -> String {
    let Flag { name, value, alone, .. } = flag;
    match alone {
        None => format!("{name} {value}"),
        Some("true") if (setting.default)() == "`true`" => format!("{name}=false"),
        Some("true") => name.to_owned(),
        Some(_) => format!("{name}={value}"),
    }
}
