//! The stages of an edit, in their order. Each takes the one before it by value and yields the next, so that none is left
//! out and none is done twice:
//!
//! | Stage | From | To |
//! |---|---|---|
//! | plan | a [`PlanSource`](source::PlanSource) | `CheckedPlan` |
//! | format | `CheckedPlan` | [`FormattedPlan`](format::FormattedPlan) |
//! | judge | `FormattedPlan` | [`JudgedPlan`](judge::JudgedPlan) |
//! | ask | `JudgedPlan` | [`AskedPlan`](ask::AskedPlan) |
//! | look again | `AskedPlan` and the lock | [`CurrentPlan`](look_again::CurrentPlan) |
//! | permit | `CurrentPlan` | [`PermittedPlan`](permit::PermittedPlan) |
//! | write | `PermittedPlan` | [`WrittenEdit`](write::WrittenEdit) |
//! | record, remember, tell | `WrittenEdit` | `Report` |
//!
//! An edit begins with a request ([`plan_request`]), with an edit that is taken back ([`plan_undo`]), or with a preview that
//! is applied ([`kept_preview`]). Up to `AskedPlan` nothing need be locked. From `CurrentPlan` on a plan has the lock under
//! which its files are what it was made for; it is let go of once the observers have been told.
//!
//! A plan that is refused on its way comes back with the reason ([`Refused`](source::Refused)), for those who keep it.

pub(crate) mod source;

pub(crate) mod plan_request;
pub(crate) mod plan_undo;

pub(crate) mod format;

pub(crate) mod judge;

pub(crate) mod ask;

pub(crate) mod look_again;

pub(crate) mod kept_preview;

pub(crate) mod permit;

pub(crate) mod record;
pub(crate) mod write;
