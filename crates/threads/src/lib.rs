//! Threading tools: locks that stay usable after a panic ([`Mutex`], [`Condvar`]), waiting in line ([`Queues`]), and
//! background jobs ([`Background`]).

mod lock;

mod background;
mod queues;

pub use background::{Background, Waiting};
pub use lock::{Condvar, Mutex};
pub use queues::{Queues, Turn};
