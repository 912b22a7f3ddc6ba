//! The stages of an edit, in order. Each takes the result of the one before by value and returns the next type, so that
//! no stage is skipped or repeated:
//!
//! | Stage | From | To |
//! |---|---|---|
//! | plan | a [`PlanSource`](source::PlanSource) | `CheckedPlan` |
//! | format | `CheckedPlan` | [`FormattedPlan`](format::FormattedPlan) |
//! | judge | `FormattedPlan` | [`JudgedPlan`](judge::JudgedPlan) |
//! | run hooks | `JudgedPlan` | [`HookedPlan`](run_hooks::HookedPlan) |
//! | look again | `HookedPlan` and the lock | [`CurrentPlan`](look_again::CurrentPlan) |
//! | permit | `CurrentPlan` | [`PermittedPlan`](permit::PermittedPlan) |
//! | write | `PermittedPlan` | [`WrittenEdit`](write::WrittenEdit) |
//! | record, remember, tell | `WrittenEdit` | `Report` |
//!
//! An edit begins with a request ([`plan_request`]), an undo ([`plan_undo`]) or a preview ([`kept_preview`]). A
//! request is planned under the locks of its files, which are released before hooks run and taken again afterwards. From
//! `CurrentPlan` on a plan holds the locks under which its files are unchanged; they are released after the observers are
//! notified.
//!
//! A refused plan comes back with the reason ([`Refused`](source::Refused)), for sources that keep it.

pub(crate) mod source;

pub(crate) mod plan_request;
pub(crate) mod plan_undo;

pub(crate) mod format;

pub(crate) mod judge;

pub(crate) mod run_hooks;

pub(crate) mod look_again;

pub(crate) mod kept_preview;

pub(crate) mod permit;

pub(crate) mod record;
pub(crate) mod write;
