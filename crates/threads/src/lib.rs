//! Threading tools: locks that stay usable after a panic ([`Mutex`], [`Condvar`]), and background jobs
//! ([`Background`]).

mod lock;

mod background;

pub use background::{Background, Waiting};
pub use lock::{Condvar, Mutex};
