//! An index of the log by call: it finds the edit of a call that is sent again.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use super::reconstruct;
use super::record::{Log, PlacesInLog, Record, is_recent};
use crate::disk::Disk;
use crate::files::call::{CallDigest, CallIdentity};
use crate::files::vault::{self, Vault};

/// The number of calls that a process knows, and of keys.
const KEPT_CALLS: usize = 10_000;

/// The result of looking up a call.
#[derive(Debug)]
pub(crate) enum Earlier {
    /// No edit came of it.
    None,
    /// The same call made this edit.
    Edit(Box<EarlierEdit>),
    /// Its key was used for another call, which made this edit.
    KeyOfAnother(String),
}

/// An edit that came of the same call.
#[derive(Debug)]
pub(crate) struct EarlierEdit {
    pub(crate) record: Record,
    /// Where the log has it, if that is known.
    pub(crate) place: Option<Range<u64>>,
}

/// An edit by whose call it may be found. There are thousands of them, and hardly one is ever asked for: so the record is kept as
/// it is written, in a third of the room of the value.
#[derive(Debug)]
struct Known {
    id: Box<str>,
    call: Option<CallDigest>,
    record: Box<[u8]>,
}

impl Known {
    fn of(record: &Record) -> io::Result<Self> {
        Ok(Self { id: record.id.as_str().into(), call: record.call, record: record.written()?.into() })
    }
}

/// The calls in the log of a vault, as far as this process has read it. The caller must have the root locked, at least in
/// part, so that nobody puts another log in its place.
#[derive(Debug, Default)]
pub(crate) struct CallIndex {
    /// The inode of the log that was read, and the end of the last record that was complete.
    read: Option<(u64, u64)>,
    /// From the digest of a call to the newest edit that came of it.
    calls: HashMap<CallDigest, Arc<Known>>,
    /// From the digest of a key to the edit that came of its call.
    keys: HashMap<CallDigest, Arc<Known>>,
    /// Where the log has these edits.
    places: PlacesInLog,
}

impl CallIndex {
    /// Finds the edit that came of this call. A call without a key is forgotten after a while.
    pub(crate) fn find(&self, call: CallIdentity, now: SystemTime) -> io::Result<Earlier> {
        let made = match (call.key, call.call) {
            (Some(key), called) => match self.keys.get(&key) {
                Some(made) if called.is_none_or(|called| made.call == Some(called)) => Some(made),
                Some(made) => return Ok(Earlier::KeyOfAnother(made.id.to_string())),
                // Where only a transaction tells of the edit, it tells of one digest.
                None => self.calls.get(&key),
            },
            (None, Some(call)) => self.calls.get(&call).filter(|made| is_recent(&made.id, now)),
            (None, None) => None,
        };
        let Some(made) = made else { return Ok(Earlier::None) };
        let (record, place) = (Record::read(&made.record)?, self.places.get(&made.id).cloned());
        Ok(Earlier::Edit(Box::new(EarlierEdit { record, place })))
    }

    /// Reads the new records of the log.
    pub(crate) fn refresh(&mut self, disk: &dyn Disk, vault: &Vault) -> io::Result<()> {
        let now = end_of_log(disk, vault)?;
        if self.read.is_some() && self.read == now {
            return Ok(());
        }
        let (start, log) = match (self.read, now) {
            (Some((log, end)), Some((now, size))) if log == now && end <= size => {
                (end, Log::read_from(disk, vault, end)?)
            }
            _ => {
                *self = Self::default();
                let log = Log::read(disk, vault)?;
                self.add_unlogged(disk, vault, &log)?;
                (0, log)
            }
        };
        let records = log.records(vault);
        for logged in &records {
            self.add(&logged.record, Some(log.place(logged, start)))?;
        }
        // Another edit may be writing its record.
        self.read = now.map(|(inode, _)| (inode, start + log.complete(&records)));
        Ok(())
    }

    /// Adds a record of this many bytes that this process has just written, so that it need not be read. If others wrote
    /// before it, the next refresh reads theirs and it.
    pub(crate) fn add_written(
        &mut self,
        disk: &dyn Disk,
        vault: &Vault,
        record: &Record,
        length: u64,
    ) -> io::Result<()> {
        let now = end_of_log(disk, vault)?;
        if let Some((_, end)) = self.read
            && now == self.read.map(|(log, end)| (log, end + length))
        {
            // An empty line is written first.
            self.add(record, Some(end + 1..end + length))?;
            self.read = now;
        }
        Ok(())
    }

    /// Takes note that this process has put a shorter log in place of the one that was read to its end, and forgets the
    /// calls that can no longer be sent again, or are too many.
    pub(crate) fn log_was_pruned(
        &mut self,
        disk: &dyn Disk,
        vault: &Vault,
        places: Option<PlacesInLog>,
        now: SystemTime,
    ) -> io::Result<()> {
        if let Some(places) = places {
            self.places = places;
        }
        // Nobody else writes to it now.
        self.read = end_of_log(disk, vault)?;
        self.calls.retain(|_, made| is_recent(&made.id, now));
        for known in [&mut self.calls, &mut self.keys] {
            if known.len() > KEPT_CALLS {
                let mut ids: Vec<Box<str>> = known.values().map(|made| made.id.clone()).collect();
                ids.sort_unstable();
                let oldest = ids.swap_remove(ids.len() - KEPT_CALLS);
                known.retain(|_, made| made.id >= oldest);
            }
        }
        Ok(())
    }

    /// Adds the edits of which only a transaction tells: their records were lost with the power.
    fn add_unlogged(&mut self, disk: &dyn Disk, vault: &Vault, log: &Log) -> io::Result<()> {
        let logged: BTreeSet<String> =
            log.records(vault).into_iter().map(|logged| logged.record.id).collect();
        for name in disk.names(&vault.kept)? {
            let id = vault::id_of(&name);
            if !logged.contains(&id)
                && let Some(record) = reconstruct(disk, vault, &id, &name.to_string_lossy())
            {
                self.add(&record, None)?;
            }
        }
        Ok(())
    }

    fn add(&mut self, record: &Record, place: Option<Range<u64>>) -> io::Result<()> {
        if record.call.is_none() && record.key.is_none() {
            return Ok(());
        }
        if let Some(place) = place {
            self.places.insert(record.id.as_str().into(), place);
        }
        let known = Arc::new(Known::of(record)?);
        if let Some(call) = record.call {
            self.calls.insert(call, Arc::clone(&known));
        }
        if let Some(key) = record.key {
            self.keys.insert(key, known);
        }
        Ok(())
    }
}

/// Returns the inode and the size of the log, if there is one.
fn end_of_log(disk: &dyn Disk, vault: &Vault) -> io::Result<Option<(u64, u64)>> {
    Ok(vault.log_stat(disk)?.map(|stat| (stat.inode, stat.size)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::files::call::REMEMBERED;
    use crate::files::history::record::tests::vault;
    use crate::files::history::record::{Details, prune};

    fn id(age: Duration) -> String {
        let made = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap() - age;
        format!("{:011x}00000000", made.as_millis())
    }

    fn index(call: CallIdentity, age: Duration) -> CallIndex {
        let mut index = CallIndex::default();
        let record = Record::without(&id(age), Vec::new());
        index.add(&Record { call: call.call, key: call.key, ..record }, None).unwrap();
        index
    }

    fn call(arguments: &str, key: Option<&str>) -> CallIdentity {
        CallIdentity::new("ann", "str_replace", arguments, key)
    }

    #[test]
    fn the_same_call_is_known_again_for_a_while() {
        let now = SystemTime::now();
        let made = index(call("{}", None), Duration::from_secs(60));
        assert!(matches!(made.find(call("{}", None), now).unwrap(), Earlier::Edit(_)));
        assert!(matches!(made.find(call("{ }", None), now).unwrap(), Earlier::None));
        assert!(matches!(
            made.find(CallIdentity::new("ben", "str_replace", "{}", None), now).unwrap(),
            Earlier::None
        ));
        assert!(matches!(
            made.find(CallIdentity::new("ann", "undo_edit", "{}", None), now).unwrap(),
            Earlier::None
        ));
        assert!(matches!(made.find(call("{}", None).with_content("x"), now).unwrap(), Earlier::None));
        assert!(matches!(made.find(CallIdentity::default(), now).unwrap(), Earlier::None));
        let old = index(call("{}", None), REMEMBERED + Duration::from_secs(1));
        assert!(matches!(old.find(call("{}", None), now).unwrap(), Earlier::None));
    }

    #[test]
    fn what_this_process_writes_is_known_and_what_others_write_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let (disk, vault) = vault(folder.path());
        let write = |arguments: &str| {
            let record =
                Record { call: call(arguments, None).call, ..Record::without(&id(Duration::ZERO), vec![]) };
            let length = record.write(&*disk, &vault, &Details::default()).unwrap();
            (record, length)
        };
        let mut index = CallIndex::default();
        write("before");
        index.refresh(&*disk, &vault).unwrap();
        let knows = |index: &CallIndex, arguments| {
            matches!(index.find(call(arguments, None), SystemTime::now()).unwrap(), Earlier::Edit(_))
        };
        let (own, length) = write("own");
        index.add_written(&*disk, &vault, &own, length).unwrap();
        assert!(knows(&index, "before") && knows(&index, "own"));
        write("another's");
        let (own, length) = write("own later");
        index.add_written(&*disk, &vault, &own, length).unwrap();
        assert!(!knows(&index, "own later"), "the end is not where this process left it");
        index.refresh(&*disk, &vault).unwrap();
        assert!(knows(&index, "another's") && knows(&index, "own later"));
    }

    #[test]
    fn the_log_has_each_edit_where_its_call_says_also_after_others_were_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (disk, vault) = vault(folder.path());
        let mut index = CallIndex::default();
        let write = |number: usize, is_own: bool, index: &mut CallIndex| {
            let mut record = Record::without(&format!("{}{number:04}", id(Duration::ZERO)), vec![]);
            record.call = call(&number.to_string(), None).call;
            let details = Details::new(&number.to_string(), String::new());
            let length = record.write(&*disk, &vault, &details).unwrap();
            match is_own {
                true => index.add_written(&*disk, &vault, &record, length).unwrap(),
                false => index.refresh(&*disk, &vault).unwrap(),
            }
        };
        let request = |number: usize, index: &CallIndex| {
            let found = index.find(call(&number.to_string(), None), SystemTime::now()).unwrap();
            let Earlier::Edit(made) = found else { panic!("{number} is not known") };
            let log = Log::read_one(&*disk, &vault, made.place.unwrap()).unwrap();
            let records = log.records(&vault);
            assert_eq!((records.len(), &records[0].record.id), (1, &made.record.id));
            records[0].details(&vault).request
        };
        (0..1500).for_each(|number| write(number, number % 7 != 0, &mut index));
        let all_are_found = |index: &CallIndex, from: usize| {
            (from..1500).for_each(|number| assert_eq!(request(number, index).unwrap(), number.to_string()));
        };
        all_are_found(&index, 0);
        let places = prune(&*disk, &vault).unwrap();
        index.log_was_pruned(&*disk, &vault, places, SystemTime::now()).unwrap();
        all_are_found(&index, 500);
        assert_eq!(request(499, &index), None, "only its head is kept");
        assert!(prune(&*disk, &vault).unwrap().is_some(), "its head counts");
    }

    #[test]
    fn a_key_is_known_again_at_any_time_and_belongs_to_one_call() {
        let now = SystemTime::now();
        let made = index(call("{}", Some("k")), REMEMBERED * 2);
        assert!(matches!(made.find(call("{}", Some("k")), now).unwrap(), Earlier::Edit(_)));
        assert!(matches!(made.find(call("{ }", Some("k")), now).unwrap(), Earlier::KeyOfAnother(_)));
        assert!(matches!(made.find(call("{}", Some("other")), now).unwrap(), Earlier::None));
        let by_key = call("{}", None).by_key_alone();
        let unkeyed = index(call("{}", None), Duration::ZERO);
        assert!(matches!(unkeyed.find(by_key, now).unwrap(), Earlier::None));
    }
}
