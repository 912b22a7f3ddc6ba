//! The calls of Windows that no safe crate has: files relative to an open folder, what they are, how they are renamed and
//! removed, their rights and streams, and which program holds them.
//!
//! Each function makes one call, or a few that belong together, and says what it does in the words of the system. What is
//! made of them is the Windows disk in `crates/workspace`. Elsewhere this crate is empty.
//!
//! A name is always one component in an open folder, and is given to the system as it is: the rules by which Windows makes
//! other names of it (devices, trailing dots, streams) are those of paths, and no path comes here. Links of every kind are
//! opened as themselves and never followed.

#![cfg(windows)]

mod status;

mod open;

mod about;
mod holders;
mod job;
mod keep;
mod list;
mod rename;

pub use about::{About, about, is_link};
pub use holders::{holders, path_of};
pub use job::{Job, keep_standard_handles, terminate};
pub use keep::keep;
pub use list::{Listed, list, spelling};
pub use open::{Access, create_file, make_folder, open, open_folder, reopen, reopen_to_add};
pub use rename::{flush_folder, remove, rename_new};
pub use status::{is_held, is_unsupported};
