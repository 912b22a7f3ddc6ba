//! Streams in Redis or Valkey, changed by a script, which the engine runs as one step.

use redis::Script;

use crate::engine::EngineError;
use crate::redis_connection::{RedisConnection, RedisSettings};
use crate::streams::{Entry, EntryId, Last, Streams};

/// The field of an entry that has its text.
const FIELD: &str = "event";

/// Has both scripts know the id of the last entry that was ever appended to the stream KEYS[1], or an empty one: the engine
/// takes ids above that alone, and a reader may have deleted the entry.
macro_rules! with_newest {
    ($script:literal) => {
        concat!(
            "\
local newest = '' \
if redis.call('EXISTS', KEYS[1]) == 1 then \
  local about = redis.call('XINFO', 'STREAM', KEYS[1]) \
  for at = 1, #about, 2 do if about[at] == 'last-generated-id' then newest = about[at + 1] end end \
  if newest == '0-0' then newest = '' end \
end ",
            $script
        )
    };
}

/// Returns the id of the last entry that was appended to the stream KEYS[1], and its text unless it was deleted; ARGV[1] is
/// the field of the text.
const LAST: &str = with_newest!(
    "\
if newest == '' then return false end \
local last = redis.call('XRANGE', KEYS[1], newest, newest)[1] \
if not last then return {newest, false} end \
for at = 1, #last[2], 2 do if last[2][at] == ARGV[1] then return {newest, last[2][at + 1]} end end \
return {newest, ''}"
);

/// Appends to the stream KEYS[1] if the last entry that was appended has the id ARGV[1], which is empty if there was none:
/// about ARGV[2] entries are kept, ARGV[3] is the field of the text, and behind it are the ids and texts. Returns whether it
/// had that id.
const APPEND: &str = with_newest!(
    "\
if newest ~= ARGV[1] then return 0 end \
for at = 4, #ARGV, 2 do \
  redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], ARGV[at], ARGV[3], ARGV[at + 1]) \
end \
return 1"
);

/// Streams that Redis or Valkey keeps.
pub struct RedisStreams {
    connection: RedisConnection,
    last: Script,
    append: Script,
}

impl RedisStreams {
    /// Creates them, with a connection of their own, without speaking to the engine yet. The error says what is wrong with
    /// the settings.
    pub fn new(settings: &RedisSettings) -> Result<Self, String> {
        let (last, append) = (Script::new(LAST), Script::new(APPEND));
        Ok(Self { connection: RedisConnection::new(settings)?, last, append })
    }

    fn key(&self, stream: &str) -> String {
        self.connection.key("events", stream)
    }
}

impl Streams for RedisStreams {
    fn last(&self, stream: &str) -> Result<Option<Last>, EngineError> {
        let key = self.key(stream);
        let found: Option<(String, Option<Vec<u8>>)> =
            self.connection.ask(|connection| self.last.key(&key).arg(FIELD).invoke(connection))?;
        found
            .map(|(id, text)| {
                let strange = || EngineError::Strange(format!("{key} has an entry '{id}', which is no id"));
                let id = EntryId::parse(&id).ok_or_else(strange)?;
                // What is no text is no line of ours, and then it says nothing.
                Ok(Last { id, text: text.map(|text| String::from_utf8(text).unwrap_or_default()) })
            })
            .transpose()
    }

    fn append(
        &self,
        stream: &str,
        after: Option<EntryId>,
        entries: &[Entry],
        kept: u64,
    ) -> Result<bool, EngineError> {
        let key = self.key(stream);
        let after = after.map(|id| id.to_string()).unwrap_or_default();
        self.connection.ask(|connection| {
            let mut call = self.append.key(&key);
            call.arg(&after).arg(kept).arg(FIELD);
            for Entry { id, text } in entries {
                call.arg(id.to_string()).arg(text);
            }
            call.invoke(connection)
        })
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::memory::Memory;
    use std::path::{Path, PathBuf};
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    /// A Redis of this test's own, which listens at a socket.
    struct Server {
        child: Child,
        folder: PathBuf,
    }

    impl Server {
        fn start() -> Option<Self> {
            let folder = std::env::temp_dir().join(format!("emend-streams-{}", std::process::id()));
            std::fs::create_dir_all(&folder).unwrap();
            let mut command = Command::new("redis-server");
            command.args(["--port", "0", "--save", "", "--unixsocket", "socket"]).current_dir(&folder);
            let Ok(child) = command.stdout(Stdio::null()).spawn() else {
                println!("there is no redis-server here: streams in it are not tested");
                std::fs::remove_dir(&folder).unwrap();
                return None;
            };
            Some(Self { child, folder })
        }

        fn streams(&self) -> RedisStreams {
            let socket: &Path = &self.folder.join("socket");
            let url = format!("redis+unix://{}", socket.display());
            let streams =
                RedisStreams::new(&RedisSettings { url, password: None, prefix: "x".into() }).unwrap();
            let until = Instant::now() + Duration::from_secs(30);
            while streams.last("none").is_err() {
                assert!(Instant::now() < until, "it does not listen");
                std::thread::yield_now();
            }
            streams
        }
    }

    impl Drop for Server {
        fn drop(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }

    fn entry(number: u64) -> Entry {
        Entry { id: EntryId { run: 7, number }, text: format!("line {number}") }
    }

    /// Holds for every engine. `delete_from` deletes the entries from this number on.
    fn what_is_deleted_is_behind_what_comes_next(streams: &dyn Streams, delete_from: &dyn Fn(u64)) {
        let ids = |number| Some(entry(number).id);
        let last = || streams.last("red").unwrap().map(|last| (last.id.number, last.text));
        assert_eq!(last(), None);
        assert!(!streams.append("red", ids(1), &[], 10).unwrap());
        assert!(streams.append("red", None, &[], 10).unwrap());
        assert!(streams.append("red", None, &[entry(1), entry(2), entry(3)], 10).unwrap());
        assert_eq!(last(), Some((3, Some("line 3".into()))));
        assert!(!streams.append("red", ids(2), &[entry(4)], 10).unwrap());
        for from in [3, 1] {
            delete_from(from);
            assert_eq!(last(), Some((3, None)));
            assert!(!streams.append("red", None, &[], 10).unwrap());
            assert!(!streams.append("red", ids(2), &[], 10).unwrap());
            assert!(streams.append("red", ids(3), &[], 10).unwrap());
        }
        assert!(streams.append("red", ids(3), &[entry(4)], 10).unwrap());
        assert_eq!(last(), Some((4, Some("line 4".into()))));
        assert!(matches!(streams.append("red", ids(4), &[entry(4)], 10), Err(EngineError::Strange(_))));
    }

    #[test]
    fn what_a_reader_deletes_was_there_all_the_same() {
        let memory = Memory::default();
        let delete_from = |from| memory.delete_but("red", |entry| entry.id.number < from);
        what_is_deleted_is_behind_what_comes_next(&memory, &delete_from);

        let Some(server) = Server::start() else { return };
        let streams = server.streams();
        let delete_from = |from| {
            streams
                .connection
                .ask(|connection| {
                    let ids = (from..=3).map(|number| entry(number).id.to_string()).collect::<Vec<_>>();
                    redis::cmd("XDEL").arg("x:events:red").arg(ids).query::<()>(connection)
                })
                .unwrap();
        };
        what_is_deleted_is_behind_what_comes_next(&streams, &delete_from);
        // An entry of somebody else's has no text of ours.
        let foreign = |connection: &mut redis::Connection| {
            redis::cmd("XADD").arg(&["x:events:red", "9-9", "other", "x"]).query::<()>(connection)
        };
        streams.connection.ask(foreign).unwrap();
        let last = Last { id: EntryId { run: 9, number: 9 }, text: Some(String::new()) };
        assert_eq!(streams.last("red").unwrap(), Some(last));
    }
}
