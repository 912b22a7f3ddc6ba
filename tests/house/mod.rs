//! The project itself: its documents, what it is installed from, and the rules that its code keeps.

mod documents;
mod examples;
mod packaging;
mod tidy;
