//! The tools: a file for each, and for what several share.

mod answers;
mod apart;
mod apply_patch;
mod diagnostics;
mod dialects;
#[cfg(all(unix, feature = "apply-model"))]
mod draft_edit;
mod edit_files;
mod find_symbol;
mod fixes;
mod history;
mod insertions;
mod list_files;
mod many_files;
mod move_delete;
mod moved_lines;
mod notebooks;
mod outline;
mod preview;
#[cfg(all(unix, feature = "apply-model"))]
mod proposed_sketch;
mod reading;
mod refused_hunks;
mod rename_symbol;
mod repeated;
mod replace_in_files;
mod replace_lines;
mod search_text;
mod set_value;
mod sketch;
mod stale;
pub(crate) mod str_replace;
mod symbols;
mod syntax_guard;
mod write_file;
