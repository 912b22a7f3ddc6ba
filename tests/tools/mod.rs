//! The tools: a file for each, and for what several share.

mod answers;
mod apply_patch;
mod diagnostics;
mod edit_files;
mod history;
mod insertions;
mod list_files;
mod many_files;
mod move_delete;
mod moved_lines;
mod outline;
mod preview;
mod reading;
mod repeated;
mod replace_in_files;
mod replace_lines;
mod search_text;
mod stale;
pub(crate) mod str_replace;
mod symbols;
mod syntax_guard;
mod write_file;
