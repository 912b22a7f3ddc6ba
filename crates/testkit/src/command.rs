//! A command without the Emend settings of the user who runs the tests, or of their machine.

use std::path::Path;
use std::process::Command;

/// The variables that change what Emend does or its colours. (With `CI`, even a dumb terminal gets colours.)
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
