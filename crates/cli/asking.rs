//! Whether a command that takes edits back asks before, only shows what it would do, or does it.

use crate::exit::Stop;
use crate::output::Output;

#[derive(clap::Args, Clone, Copy)]
pub(crate) struct AskingFlags {
    /// Do not ask; needed to take back the newest edit where nobody can be asked. Refused where a newer one was taken back
    /// by hand. An edit of what needs your approval is asked about all the same, or refused as approval-needed.
    #[arg(long, short)]
    pub(crate) yes: bool,

    /// Only show what would change.
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
}

impl AskingFlags {
    /// Whether the person is asked.
    pub(crate) fn asks(self, output: Output) -> bool {
        !self.yes && !self.dry_run && output.can_ask()
    }

    /// Refuses to choose for a script, which does not see what it would get.
    pub(crate) fn check_named(self, is_named: bool, output: Output) -> Result<(), Stop> {
        if is_named || self.yes || self.dry_run || self.asks(output) {
            return Ok(());
        }
        Err(Stop::usage("name the edit to take back ('emend log' lists them), or say --yes for the newest"))
    }
}
