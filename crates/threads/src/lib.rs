//! What threads share: locks that a panic leaves usable ([`Mutex`], [`Condvar`]), and work that is done in the background
//! ([`Background`]).

mod lock;

mod background;

pub use background::{Background, Waiting};
pub use lock::{Condvar, Mutex};
