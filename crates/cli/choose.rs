//! `emend apply -i`: asks about each hunk of a patch, with the answers of `git add -p`.

use emend_server::local::{Choice, ProposedPatch};

use crate::exit::Stop;
use crate::output::Output;

const ANSWERS: &str = "y - apply this hunk\nn - do not apply it\na - apply it and all later ones of this file\n\
                       d - apply neither it nor any later one of this file\nq - apply neither it nor any later one\n";

/// Asks the person which hunks are applied. Returns all of their numbers, and whether that is everything.
pub(crate) fn hunks(
    mut proposed: ProposedPatch,
    output: Output,
) -> Result<(ProposedPatch, Vec<usize>, bool), Stop> {
    let choices = proposed.choices();
    let count = choices.len();
    let mut chosen: Vec<usize> = Vec::new();
    // The answer that holds for the rest of a file.
    let mut rest: Option<(String, bool)> = None;
    let mut is_everything = true;
    for (at, Choice { file, hunks }) in choices.iter().enumerate() {
        let decided = rest.as_ref().filter(|(of, _)| of == file).map(|(_, takes)| *takes);
        let takes = match decided {
            Some(takes) => takes,
            None => {
                let (part, whole) = proposed.part(hunks)?;
                proposed = whole;
                output.show(&output.diff(&part.diff()))?;
                match ask(&format!("({}/{count}) Apply this hunk [y,n,a,d,q,?]? ", at + 1), output)? {
                    Answer::Hunk(takes) => takes,
                    Answer::File(takes) => {
                        rest = Some((file.clone(), takes));
                        takes
                    }
                    Answer::Quit => {
                        is_everything = false;
                        break;
                    }
                }
            }
        };
        if takes {
            chosen.extend(hunks);
        }
        is_everything &= takes;
    }
    Ok((proposed, chosen, is_everything))
}

/// The person's answer to one hunk: whether it is taken, or all of the file from here on.
enum Answer {
    Hunk(bool),
    File(bool),
    Quit,
}

fn ask(question: &str, output: Output) -> Result<Answer, Stop> {
    loop {
        return Ok(match output.ask_for_answer(question)?.as_deref() {
            Some("y" | "yes") => Answer::Hunk(true),
            Some("n" | "no") => Answer::Hunk(false),
            Some("a") => Answer::File(true),
            Some("d") => Answer::File(false),
            // The end of the input decides on nothing more.
            Some("q") | None => Answer::Quit,
            Some(_) => {
                output.show(ANSWERS)?;
                continue;
            }
        });
    }
}
