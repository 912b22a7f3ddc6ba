//! Which of several servers serves a tenant. An engine that all of them reach keeps a lease for each tenant: the server
//! that holds it serves the tenant, and others hand its requests on to that server's address.
//!
//! The lease decides where requests go, not whether an edit is whole: files, their locks, the journal and the history are on
//! the disk that all servers share, and an edit is as safe there with two servers as with two processes on one machine. What
//! the lease keeps in one place is what lives in the memory of a process: sessions, previews, streams.
//!
//! The engine also keeps streams of what happens, for programs that read there ([`Streams`]).
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//! use emend_replicas::{Holder, Leases, Memory, Placed};
//!
//! let engine = Arc::new(Memory::default());
//! let server = |address: &str, run: &str| {
//!     Leases::new(engine.clone(), Holder::new(address, run), Duration::from_secs(10))
//! };
//! let (one, other) = (server("10.0.0.11:8765", "1"), server("10.0.0.12:8765", "2"));
//! assert_eq!(one.place("red"), Placed::Here);
//! assert_eq!(other.place("red"), Placed::At(Holder::new("10.0.0.11:8765", "1")));
//! one.keep_only(&Default::default());
//! assert_eq!(other.place("red"), Placed::Here);
//! ```

mod engine;
mod leases;
mod memory;
#[cfg(feature = "redis")]
mod redis_connection;
#[cfg(feature = "redis")]
mod redis_engine;
#[cfg(feature = "redis")]
mod redis_streams;
mod streams;

pub use engine::{Engine, EngineError, Holder, Taken};
pub use leases::{Leases, Placed};
pub use memory::Memory;
#[cfg(feature = "redis")]
pub use redis_connection::RedisSettings;
#[cfg(feature = "redis")]
pub use redis_engine::Redis;
#[cfg(feature = "redis")]
pub use redis_streams::RedisStreams;
pub use streams::{Entry, EntryId, Last, Streams};
