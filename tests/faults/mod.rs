//! Many edits at once, few file handles, metadata, files that cannot be exchanged, hostile neighbours, and the portable disk.

mod concurrency;
mod few_handles;
mod hostile;
mod in_place;
mod metadata;
mod portable;
