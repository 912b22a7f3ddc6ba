//! A command that does not see what the person who runs the tests, or their machine, has set for Emend.

use std::path::Path;
use std::process::Command;

/// What the environment may say to Emend and to what it shows in colour (`CI` too: there a dumb terminal gets colours).
const VARIABLES: [&str; 11] = [
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "CODEX_HOME",
    "EMEND_CONFIG",
    "EMEND_LOG",
    "EMEND_STATE_DIR",
    "EMEND_TOKENS",
    "NO_COLOR",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
];

/// Returns a command that starts this program without the variables that would change what it does.
#[must_use]
pub fn command(program: impl AsRef<Path>) -> Command {
    let mut command = Command::new(program.as_ref());
    for name in VARIABLES {
        command.env_remove(name);
    }
    command
}
