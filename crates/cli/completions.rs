//! `emend completions`: prints a shell script that completes commands and their arguments.

use clap_complete::Shell;

use crate::exit::{Ended, Exit};
use crate::output::Output;

#[derive(clap::Args)]
#[command(after_help = "For bash: emend completions bash > ~/.local/share/bash-completion/completions/emend")]
pub(crate) struct Arguments {
    /// The shell.
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments, mut command: clap::Command, output: Output) -> Ended {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "emend", &mut script);
    output.show(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
