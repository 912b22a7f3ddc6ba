//! Which call made which edit, so that a call that is sent again is made once.
//!
//! The log is the memory; [`CallIndex`] is what a process has read of it.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use super::reconstruct;
use super::record::{Log, Record, time_of};
use crate::disk::Disk;
use crate::files::call::{CallDigest, CallIdentity, REMEMBERED};
use crate::files::vault::{self, Vault};

/// The number of calls that a process knows, and of keys.
const KEPT_CALLS: usize = 10_000;

/// What an index says of a call.
#[derive(Debug)]
pub(crate) enum Earlier {
    /// Nobody has made it.
    None,
    /// This edit came of the same call.
    Edit(Arc<Record>),
    /// Its key was used for another call, which made this edit.
    KeyOfAnother(String),
}

/// The calls that the log of a vault knows, as far as this process has read it. Whoever asks holds the root's lock.
#[derive(Debug, Default)]
pub(crate) struct CallIndex {
    /// Which log was read, and up to where.
    read: Option<(u64, u64)>,
    /// From the digest of a call to the newest edit that came of it.
    calls: HashMap<CallDigest, Arc<Record>>,
    /// From the digest of a key to the edit that came of its call.
    keys: HashMap<CallDigest, Arc<Record>>,
}

impl CallIndex {
    /// Finds the edit that came of this call. A call without a key is forgotten after a while.
    pub(crate) fn find(&self, call: CallIdentity, now: SystemTime) -> Earlier {
        let is_young =
            |made: &&Arc<Record>| now.duration_since(time_of(&made.id)).unwrap_or_default() <= REMEMBERED;
        let edit = |made: &Arc<Record>| Earlier::Edit(Arc::clone(made));
        match (call.key, call.call) {
            (Some(key), called) => match self.keys.get(&key) {
                Some(made) if made.call == called || called.is_none() => edit(made),
                Some(made) => Earlier::KeyOfAnother(made.id.clone()),
                // Where only a transaction tells of the edit, it tells of one digest.
                None => self.calls.get(&key).map_or(Earlier::None, edit),
            },
            (None, Some(call)) => self.calls.get(&call).filter(is_young).map_or(Earlier::None, edit),
            (None, None) => Earlier::None,
        }
    }

    /// Reads the new records of the log.
    pub(crate) fn refresh(&mut self, disk: &dyn Disk, vault: &Vault) -> io::Result<()> {
        let now = vault.log_stat(disk)?.map(|stat| (stat.inode, stat.size));
        if self.read.is_some() && self.read == now {
            return Ok(());
        }
        let known = self.read.zip(now).filter(|((log, end), (now, size))| log == now && end <= size);
        let unread = match (known, now) {
            (Some(((_, end), (_, size))), _) => size - end,
            (None, now) => {
                *self = Self::default();
                self.add_unlogged(disk, vault)?;
                now.map_or(0, |(_, size)| size)
            }
        };
        if unread > 0 {
            let log = Log::read_last(disk, vault, unread)?;
            log.records(vault).into_iter().for_each(|logged| self.add(logged.record));
        }
        self.read = now;
        Ok(())
    }

    /// Takes note that this process has put a shorter log in place of the one that was read to its end, and forgets the
    /// calls that can no longer be sent again, or are too many.
    pub(crate) fn log_was_pruned(
        &mut self,
        disk: &dyn Disk,
        vault: &Vault,
        now: SystemTime,
    ) -> io::Result<()> {
        self.read = vault.log_stat(disk)?.map(|stat| (stat.inode, stat.size));
        let is_young =
            |made: &Record| now.duration_since(time_of(&made.id)).unwrap_or_default() <= REMEMBERED;
        self.calls.retain(|_, made| is_young(made));
        for known in [&mut self.calls, &mut self.keys] {
            if known.len() > KEPT_CALLS {
                let mut ids: Vec<String> = known.values().map(|made| made.id.clone()).collect();
                ids.sort_unstable();
                let oldest = ids.swap_remove(ids.len() - KEPT_CALLS);
                known.retain(|_, made| made.id >= oldest);
            }
        }
        Ok(())
    }

    /// Adds the edits of which only a transaction tells: their records were lost with the power.
    fn add_unlogged(&mut self, disk: &dyn Disk, vault: &Vault) -> io::Result<()> {
        let log = Log::read(disk, vault)?;
        let logged: BTreeSet<String> =
            log.records(vault).into_iter().map(|logged| logged.record.id).collect();
        for name in disk.names(&vault.kept)? {
            let id = vault::id_of(&name);
            if !logged.contains(&id)
                && let Some(record) = reconstruct(disk, vault, &id, &name.to_string_lossy())
            {
                self.add(record);
            }
        }
        Ok(())
    }

    fn add(&mut self, record: Record) {
        let record = Arc::new(record);
        if let Some(call) = record.call {
            self.calls.insert(call, Arc::clone(&record));
        }
        if let Some(key) = record.key {
            self.keys.insert(key, record);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn id(age: Duration) -> String {
        let made = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap() - age;
        format!("{:011x}00000000", made.as_millis())
    }

    fn index(call: CallIdentity, age: Duration) -> CallIndex {
        let mut index = CallIndex::default();
        let record = Record::without(&id(age), Vec::new());
        index.add(Record { call: call.call, key: call.key, ..record });
        index
    }

    fn call(arguments: &str, key: Option<&str>) -> CallIdentity {
        CallIdentity::new("ann", "str_replace", arguments, key)
    }

    #[test]
    fn the_same_call_is_known_again_for_a_while() {
        let now = SystemTime::now();
        let made = index(call("{}", None), Duration::from_secs(60));
        assert!(matches!(made.find(call("{}", None), now), Earlier::Edit(_)));
        assert!(matches!(made.find(call("{ }", None), now), Earlier::None));
        assert!(matches!(made.find(CallIdentity::new("ben", "str_replace", "{}", None), now), Earlier::None));
        assert!(matches!(made.find(CallIdentity::new("ann", "undo_edit", "{}", None), now), Earlier::None));
        assert!(matches!(made.find(call("{}", None).with_content("x"), now), Earlier::None));
        assert!(matches!(made.find(CallIdentity::default(), now), Earlier::None));
        let old = index(call("{}", None), REMEMBERED + Duration::from_secs(1));
        assert!(matches!(old.find(call("{}", None), now), Earlier::None));
    }

    #[test]
    fn a_key_is_known_again_at_any_time_and_belongs_to_one_call() {
        let now = SystemTime::now();
        let made = index(call("{}", Some("k")), REMEMBERED * 2);
        assert!(matches!(made.find(call("{}", Some("k")), now), Earlier::Edit(_)));
        assert!(matches!(made.find(call("{ }", Some("k")), now), Earlier::KeyOfAnother(_)));
        assert!(matches!(made.find(call("{}", Some("other")), now), Earlier::None));
        let by_key = call("{}", None).by_key_alone();
        let unkeyed = index(call("{}", None), Duration::ZERO);
        assert!(matches!(unkeyed.find(by_key, now), Earlier::None));
    }
}
