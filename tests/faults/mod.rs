//! Many edits at once, few file handles, metadata, files that cannot be exchanged, and the portable disk.

mod concurrency;
mod few_handles;
mod in_place;
mod metadata;
mod portable;
