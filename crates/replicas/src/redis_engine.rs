//! Leases in Redis or Valkey: a key for each tenant that expires by itself, changed by scripts, which the engine runs as one
//! step.

use std::time::Duration;

use redis::Script;

use crate::engine::{Engine, EngineError, Holder, Taken};
use crate::redis_connection::{RedisConnection, RedisSettings};

/// Takes the lease KEYS[1] for the holder ARGV[1] for ARGV[2] milliseconds, if nobody has it and the engine has run for
/// ARGV[3] seconds, or if the holder has it. Returns who has it then, and whether somebody had it before.
const TAKE: &str = "\
local held = redis.call('GET', KEYS[1]) \
if held and held ~= ARGV[1] then return {held, 1} end \
if not held and tonumber(ARGV[3]) > 0 then \
  local uptime = string.match(redis.call('INFO', 'server'), 'uptime_in_seconds:(%d+)') \
  if not uptime or tonumber(uptime) < tonumber(ARGV[3]) then return false end \
end \
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) \
return {ARGV[1], held and 1 or 0}";

/// Removes the lease KEYS[1], if the holder ARGV[1] has it.
const GIVE_BACK: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end \
return 0";

/// An engine that is Redis or Valkey.
pub struct Redis {
    connection: RedisConnection,
    take: Script,
    give_back: Script,
}

impl Redis {
    /// Creates an engine without speaking to it yet. The error says what is wrong with the settings.
    pub fn new(settings: &RedisSettings) -> Result<Self, String> {
        let (take, give_back) = (Script::new(TAKE), Script::new(GIVE_BACK));
        Ok(Self { connection: RedisConnection::new(settings)?, take, give_back })
    }

    fn key(&self, tenant: &str) -> String {
        self.connection.key("lease", tenant)
    }
}

impl Engine for Redis {
    fn take(
        &self,
        tenant: &str,
        holder: &Holder,
        time: Duration,
        settled: Duration,
    ) -> Result<Taken, EngineError> {
        let (key, mine) = (self.key(tenant), holder.to_string());
        let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let held: Option<(String, bool)> = self.connection.ask(|connection| {
            let mut call = self.take.key(&key);
            call.arg(&mine).arg(time).arg(settled.as_secs()).invoke(connection)
        })?;
        match held {
            None => Ok(Taken::TooSoon),
            Some((held, was_held)) if held == mine => Ok(Taken::Mine { is_new: !was_held }),
            Some((held, _)) => Holder::parse(&held)
                .map(Taken::Others)
                .ok_or_else(|| EngineError::Strange(format!("{key} has '{held}', which is no server"))),
        }
    }

    fn give_back(&self, tenant: &str, holder: &Holder) -> Result<(), EngineError> {
        let (key, mine) = (self.key(tenant), holder.to_string());
        self.connection.ask(|connection| self.give_back.key(&key).arg(&mine).invoke::<()>(connection))
    }
}
