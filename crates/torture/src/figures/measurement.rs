//! What is measured, and for how long.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use super::peer::Peer;
use super::times::Load;

/// What is measured, and how long.
#[derive(Debug)]
pub(super) struct Measurement {
    /// The measured command.
    pub(super) emend: PathBuf,
    /// Whether the figures only have to show that the measuring works.
    pub(super) is_quick: bool,
    /// The other servers of this machine.
    pub(super) peers: Vec<Peer>,
}

impl Measurement {
    /// The number of edits for a file of this size.
    pub(super) fn rounds(&self, bytes: usize) -> usize {
        match bytes {
            ..=0xffff => self.count(600, 60),
            0x1_0000..=0xff_ffff => self.count(60, 10),
            _ => self.count(11, 3),
        }
    }

    /// The first number, or the second if it must be quick.
    pub(super) fn count(&self, full: usize, quick: usize) -> usize {
        if self.is_quick { quick } else { full }
    }

    /// Runs several kinds of load in turn, each several times for a time that it is given, and joins what it did.
    pub(super) fn loads<const N: usize>(
        &self,
        mut run: impl FnMut(usize, Duration) -> Result<Load>,
    ) -> Result<[Load; N]> {
        let (times, time) = (self.count(5, 1), Duration::from_secs(self.count(2, 1) as u64));
        let mut loads: [Vec<Load>; N] = std::array::from_fn(|_| Vec::new());
        for _ in 0..times {
            for (kind, loads) in loads.iter_mut().enumerate() {
                loads.push(run(kind, time)?);
            }
        }
        Ok(loads.map(Load::joined))
    }
}
