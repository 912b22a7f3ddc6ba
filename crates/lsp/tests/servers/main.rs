//! Well-behaved and misbehaving servers. Each test starts the language server of testkit, which reports an error in
//! each line with `BAD`, and checks the reports of edits.

#![cfg(unix)]

mod scene;

mod diagnostics;
mod failures;
mod lifetime;
mod questions;

/// Runs the language server of testkit in this test binary, as `emend_testkit::language_server` describes.
#[test]
fn serves_as_the_fake_language_server() {
    emend_testkit::language_server::serve_if_started_as_server();
}
