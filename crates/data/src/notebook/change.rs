//! Changes of cells, and what comes of several of them.

use std::collections::BTreeSet;

use super::draft::Draft;
use super::outputs::has_outputs;
use super::sequence::applied;
use super::{Already, CellAddress, CellFault, CellKind, CellPlace, Notebook, field};
use crate::pieces::Splice;

/// A change of cells. An address is that of a cell as the changes before this one have left them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellChange {
    /// The source of a cell becomes this text. Outputs and the execution count stay, though they are of the old source, as they
    /// do in Jupyter until the cell runs; `ClearOutputs` takes them away.
    Source {
        /// The cell.
        cell: CellAddress,
        /// The whole source, with `\n` between lines.
        text: String,
    },
    /// A cell is new.
    Insert {
        /// Where it goes.
        place: CellPlace,
        /// What it holds.
        kind: CellKind,
        /// Its source.
        text: String,
    },
    /// A cell goes.
    Delete {
        /// The cell.
        cell: CellAddress,
    },
    /// A cell goes elsewhere, with its very bytes.
    Move {
        /// The cell.
        cell: CellAddress,
        /// Where it goes.
        to: CellPlace,
    },
    /// A cell becomes one of another kind. Outputs and the execution count go with the code, since nbformat has them there alone.
    Kind {
        /// The cell.
        cell: CellAddress,
        /// What it holds then.
        kind: CellKind,
    },
    /// What a code cell has put out goes, and its execution count with it.
    ClearOutputs {
        /// The cell; `None` for all.
        cell: Option<CellAddress>,
    },
}

impl Notebook<'_> {
    /// Makes changes, each of the cells that those before it have left, and returns what they come to: splices of the text that
    /// was read, in their order. The error is that of the change of this position.
    pub fn change(&self, changes: &[CellChange]) -> Result<Vec<Splice>, (usize, CellFault)> {
        let mut drafts: Vec<Draft> = self.cells.iter().map(Draft::from_cell).collect();
        let mut ids: BTreeSet<String> = drafts.iter().filter_map(|draft| draft.id.clone()).collect();
        for (at, change) in changes.iter().enumerate() {
            match self.make(&mut drafts, &mut ids, change) {
                // What there is beside it is a change all the same.
                Err(CellFault::Same(Already::Outputs)) if changes.len() > 1 => {}
                made => made.map_err(|fault| (at, fault))?,
            }
        }
        let splices = self.splices(&drafts);
        // It must have just these cells, and no other byte may have changed.
        let new = applied(self.text, 0..self.text.len(), &splices);
        match self.is_proven(&drafts, &new) {
            true => Ok(splices),
            false => Err((changes.len().saturating_sub(1), CellFault::Breaks)),
        }
    }

    fn make(
        &self,
        drafts: &mut Vec<Draft>,
        ids: &mut BTreeSet<String>,
        change: &CellChange,
    ) -> Result<(), CellFault> {
        match change {
            CellChange::Source { cell, text } => {
                let at = position(drafts, cell)?;
                let draft = &mut drafts[at];
                if draft.source == *text {
                    return Err(CellFault::Same(Already::Source));
                }
                draft.source.clone_from(text);
            }
            CellChange::Insert { place, kind, text } => {
                let at = gap(drafts, place)?;
                let id = self.has_ids.then(|| new_id(ids, at, text));
                ids.extend(id.clone());
                let source = text.clone();
                drafts.insert(at, Draft { origin: None, id, kind: *kind, source, is_cleared: false });
            }
            CellChange::Delete { cell } => {
                drafts.remove(position(drafts, cell)?);
            }
            CellChange::Move { cell, to } => {
                let from = position(drafts, cell)?;
                let to = place_of_moved(drafts, from, to)?;
                if to == from {
                    return Err(CellFault::Same(Already::Place));
                }
                let draft = drafts.remove(from);
                drafts.insert(to, draft);
            }
            CellChange::Kind { cell, kind } => {
                let at = position(drafts, cell)?;
                let draft = &mut drafts[at];
                if draft.kind == *kind {
                    return Err(CellFault::Same(Already::Kind));
                }
                if *kind == CellKind::Code && self.has_attachments(draft) {
                    return Err(CellFault::Attachments);
                }
                draft.is_cleared |= draft.kind == CellKind::Code;
                draft.kind = *kind;
            }
            CellChange::ClearOutputs { cell: Some(cell) } => {
                let at = position(drafts, cell)?;
                if !self.clear(&mut drafts[at]) {
                    return Err(CellFault::Same(Already::Outputs));
                }
            }
            CellChange::ClearOutputs { cell: None } => {
                let cleared = drafts.iter_mut().filter_map(|draft| self.clear(draft).then_some(())).count();
                if cleared == 0 {
                    return Err(CellFault::Same(Already::Outputs));
                }
            }
        }
        Ok(())
    }

    /// Takes away what a cell has put out; `false` if there is nothing.
    fn clear(&self, draft: &mut Draft) -> bool {
        let Some(origin) = draft.origin else { return false };
        let clears =
            draft.kind == CellKind::Code && !draft.is_cleared && has_outputs(self.list.child(origin));
        draft.is_cleared |= clears;
        clears
    }

    fn has_attachments(&self, draft: &Draft) -> bool {
        draft.origin.is_some_and(|origin| self.cell_has_attachments(origin))
    }

    /// Returns whether the cell at this position holds files that its source shows.
    #[must_use]
    pub fn cell_has_attachments(&self, position: usize) -> bool {
        field(self.list.child(position), "attachments").is_some_and(|attachments| attachments.len() > 0)
    }
}

fn position(drafts: &[Draft], address: &CellAddress) -> Result<usize, CellFault> {
    let ids: Vec<Option<&str>> = drafts.iter().map(|draft| draft.id.as_deref()).collect();
    super::position(address, &ids)
}

/// Returns before which cell a place is.
fn gap(drafts: &[Draft], place: &CellPlace) -> Result<usize, CellFault> {
    match place {
        CellPlace::Before(cell) => position(drafts, cell),
        CellPlace::After(cell) => position(drafts, cell).map(|at| at + 1),
        CellPlace::At(at) if *at <= drafts.len() => Ok(*at),
        CellPlace::At(at) => Err(CellFault::NoPlace { position: *at, count: drafts.len() }),
    }
}

/// Returns the position that a cell has when it has moved.
fn place_of_moved(drafts: &[Draft], from: usize, place: &CellPlace) -> Result<usize, CellFault> {
    match place {
        CellPlace::At(at) if *at < drafts.len() => Ok(*at),
        CellPlace::At(at) => Err(CellFault::NoPlace { position: *at, count: drafts.len() - 1 }),
        // Those behind it are one further ahead when it has gone.
        beside => gap(drafts, beside).map(|at| if at > from { at - 1 } else { at }),
    }
}

/// Makes an id that no cell has. The same change of the same notebook always makes the same one, so that a call that is sent
/// again comes to the same text.
fn new_id(ids: &BTreeSet<String>, position: usize, text: &str) -> String {
    let hash = |seed: u64, bytes: &[u8]| {
        // FNV-1a: it need not be safe, for a clash is seen.
        bytes.iter().fold(seed, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
    };
    let of_text = hash(hash(0xcbf2_9ce4_8422_2325, text.as_bytes()), &position.to_le_bytes());
    let mut id = String::new();
    // One more than there are ids, so that one is free.
    for counter in 0..=ids.len() {
        let hash = hash(of_text, &counter.to_le_bytes());
        id = format!("{:08x}", (hash ^ (hash >> 32)) & 0xffff_ffff);
        if !ids.contains(&id) {
            break;
        }
    }
    id
}
