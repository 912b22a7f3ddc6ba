//! Threading tools: locks that stay usable after a panic ([`Mutex`], [`Condvar`]), waiting in line ([`Lines`]), and
//! background jobs ([`Background`]).

mod lock;

mod background;
mod line;

pub use background::{Background, Waiting};
pub use line::{Lines, Turn};
pub use lock::{Condvar, Mutex};
