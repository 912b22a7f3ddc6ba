//! A connection to Redis or Valkey, which is made when it is needed, and again when it was closed.

use std::time::Duration;

use emend_threads::Mutex;
use redis::{Client, Connection, ConnectionAddr, ConnectionInfo, ErrorKind, IntoConnectionInfo, RedisError};

use crate::engine::EngineError;

/// The time for a connection, and for an answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where the engine is, and how it is spoken to.
#[derive(Clone, Debug)]
pub struct RedisSettings {
    /// Its address, such as `redis://10.0.0.5:6379/0`, or with `rediss` for TLS.
    pub url: String,
    /// The password, which is not in the address, for everybody reads that in the settings.
    pub password: Option<String>,
    /// What stands before the names of all keys.
    pub prefix: String,
}

/// A connection to the engine. Who calls waits for whoever calls already, so each use has one of its own.
pub(crate) struct RedisConnection {
    client: Client,
    prefix: String,
    connection: Mutex<Option<Connection>>,
}

impl RedisConnection {
    /// Creates a connection without speaking to the engine yet. The error says what is wrong with the settings.
    pub(crate) fn new(settings: &RedisSettings) -> Result<Self, String> {
        let info: ConnectionInfo =
            settings.url.as_str().into_connection_info().map_err(|error| error.to_string())?;
        if matches!(info.addr(), ConnectionAddr::TcpTls { insecure: true, .. }) {
            return Err("its certificate must be checked".into());
        }
        let mut access = info.redis_settings().clone();
        if let Some(password) = &settings.password {
            access = access.set_password(password);
        }
        let client = Client::open(info.set_redis_settings(access)).map_err(|error| error.to_string())?;
        Ok(Self { client, prefix: settings.prefix.clone(), connection: Mutex::new(None) })
    }

    /// Returns the name of a key.
    pub(crate) fn key(&self, kind: &str, name: &str) -> String {
        format!("{}:{kind}:{name}", self.prefix)
    }

    /// Makes a call that does no harm if it is made twice, on the connection that is there or on a new one.
    pub(crate) fn ask<T>(
        &self,
        call: impl Fn(&mut Connection) -> Result<T, RedisError>,
    ) -> Result<T, EngineError> {
        let mut kept = self.connection.lock();
        let is_new = kept.is_none();
        match self.try_to_ask(&mut kept, &call) {
            // It may have been closed long ago.
            Err(error) if !is_new && error.kind() == ErrorKind::Io => self.try_to_ask(&mut kept, &call),
            asked => asked,
        }
        .map_err(|error| match error.kind() {
            ErrorKind::Io => EngineError::Silent(error.to_string()),
            _ => EngineError::Strange(error.to_string()),
        })
    }

    fn try_to_ask<T>(
        &self,
        kept: &mut Option<Connection>,
        call: impl Fn(&mut Connection) -> Result<T, RedisError>,
    ) -> Result<T, RedisError> {
        let mut connection = match kept.take() {
            Some(connection) => connection,
            None => {
                let connection = self.client.get_connection_with_timeout(PATIENCE)?;
                connection.set_read_timeout(Some(PATIENCE))?;
                connection.set_write_timeout(Some(PATIENCE))?;
                connection
            }
        };
        let answer = call(&mut connection)?;
        *kept = Some(connection);
        Ok(answer)
    }
}
