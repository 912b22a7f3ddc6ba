//! The order of the stages of an edit, from any source.

use std::sync::Arc;

use crate::problem::{Kind, Problem};

use super::Workspace;
use crate::edits::approval::{self, NotCommitted};
use crate::edits::checked_plan::CheckedPlan;
use crate::edits::context::EditContext;
use crate::edits::hooks::Turn;
use crate::edits::repeats::check_not_repeated;
use crate::edits::stages::look_again::{CurrentPlan, NotCurrent};
use crate::edits::stages::permit::PermittedPlan;
use crate::edits::stages::run_hooks::HookedPlan;
use crate::edits::stages::source::{PlanSource, Refused};
use crate::edits::vault_access::{LockedRoot, Reach};
use crate::files::effort::{Effort, NotDone};
use crate::files::file_locks::FileKey;
use crate::files::report::Report;
use crate::files::roots::Roots;
use crate::spans;

/// The number of times an edit is planned if others keep changing its files while hooks run.
const TRIES: usize = 20;

impl Workspace {
    /// Makes an edit: plan, format, judge, ask, look again, permit, commit. If hooks must run, it releases the lock
    /// before them and checks each file again under a new lock; otherwise one lock covers everything.
    pub(super) fn make(
        &self,
        source: &mut impl PlanSource,
        context: &EditContext<'_>,
    ) -> Result<Report, NotCommitted> {
        let root = Arc::clone(source.root());
        let mut reach = self.reach_of(source, context);
        let (mut turn, mut moved) = (None, 0);
        while moved < TRIES {
            let lock = || self.vaults.lock(&root, &reach, context.effort.patience(self.patience));
            context.check_wanted()?;
            let first = lock()?;
            check_not_repeated(&self.roots, &self.vaults, &root, context)?;
            let mut plan = source.plan(&first)?;
            if !first.covers(&plan) {
                // A path leads to another file than it did when the locks were chosen.
                source.take_back(plan);
                reach = Reach::Whole;
                moved += 1;
                continue;
            }
            let mut locked = Some(first);
            if self.hooks.would_run_before(&plan) {
                locked = None;
                let Some(good) = self.await_turn(&mut turn, plan, source, context)? else { continue };
                plan = good;
            }
            let formatted = plan.format(&self.hooks, context)?;
            let judged = formatted.judge().map_err(|refused| source.give_up(refused))?;
            let asked = judged.run_hooks(&self.hooks, context).map_err(|refused| source.give_up(refused))?;
            let current = match locked {
                Some(locked) => Some(asked.still_under(locked)),
                None => look_again(asked, lock(), source, &self.roots, context)?,
            };
            let Some(current) = current else {
                moved += 1;
                continue;
            };
            if !current.lock.covers(&current.plan) {
                source.take_back(current.plan);
                reach = Reach::Whole;
                moved += 1;
                continue;
            }
            let permitted = current.permit(&self.vaults, context);
            return self.commit(permitted.map_err(|refused| source.give_up(refused))?, context);
        }
        Err(Problem::new(Kind::Overtaken { times: TRIES }).into())
    }

    /// Returns what is to be locked for an edit: its files, and the call, so that of two copies of a call one waits for the
    /// other.
    fn reach_of(&self, source: &impl PlanSource, context: &EditContext<'_>) -> Reach {
        if source.root().policy.terms().write_in_place {
            // A file that is written in place may have other names, and is half old and half new meanwhile.
            return Reach::Whole;
        }
        match source.reach() {
            Reach::Files(mut keys) => {
                keys.extend(context.origin.call.carried().map(FileKey::of_call));
                Reach::Files(keys)
            }
            Reach::Whole => Reach::Whole,
        }
    }

    /// Waits for the turn of an edit with hooks among other edits of the same files. `None` means that others went
    /// first and may have changed the files, so the edit must be planned again.
    fn await_turn<'a>(
        &'a self,
        turn: &mut Option<Turn<'a>>,
        plan: CheckedPlan,
        source: &mut impl PlanSource,
        context: &EditContext<'_>,
    ) -> Result<Option<CheckedPlan>, NotCommitted> {
        if let Err(why) = check_waiting(&plan, context) {
            return Err(source.give_up(Refused::new(plan, why)));
        }
        if turn.is_none() {
            let names = plan.files.keys().cloned().collect();
            let own = turn.insert(self.hooks.turns.wait(names, self.patience, context.cancelled));
            if own.has_waited {
                source.take_back(plan);
                return Ok(None);
            }
        }
        Ok(Some(plan))
    }

    /// Commits a plan, updates the client's readings and notifies the observers. From here on it cannot be cancelled.
    fn commit(
        &self,
        permitted: PermittedPlan<'_>,
        context: &EditContext<'_>,
    ) -> Result<Report, NotCommitted> {
        let span = spans::commit(permitted.files());
        let report = spans::within(&span, |span| {
            let written = permitted.write(&self.vaults, &self.guard, &self.running_commits, context, span)?;
            let recorded = written.warn(context).record(&self.vaults, context);
            if let Some(root) = recorded.crowded_root() {
                self.tidying.push(|waiting| waiting.push_back(root));
            }
            Ok::<_, Problem>(recorded.remember(context).tell(&self.observers))
        });
        Ok(report?)
    }
}

/// Refuses a plan that must not wait for hooks, and one that nobody could approve, before any hook runs.
fn check_waiting(plan: &CheckedPlan, context: &EditContext<'_>) -> Result<(), NotCommitted> {
    if context.effort == Effort::Quick {
        return Err(NotCommitted::NotQuick);
    }
    approval::refuse_unless_allowable(plan)?;
    Ok(())
}

/// Checks every file again under a new lock. `None` means that one has changed and that the edit may be planned again.
fn look_again<'a>(
    asked: HookedPlan,
    lock: Result<LockedRoot<'a>, NotDone>,
    source: &mut impl PlanSource,
    roots: &Roots,
    context: &EditContext<'_>,
) -> Result<Option<CurrentPlan<'a>>, NotCommitted> {
    let lock = match lock {
        Ok(lock) => lock,
        Err(why) => return Err(source.give_up(Refused::new(asked.plan, why))),
    };
    match asked.look_again(lock, roots, context) {
        Ok(current) => Ok(Some(current)),
        Err(NotCurrent::Moved(why)) => Ok(source.check_replanning(why).map(|()| None)?),
        Err(NotCurrent::Refused(why)) => Err(why.into()),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use emend_threads::Mutex;
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::Path;
    use std::time::{Duration, Instant};

    use crate::problem::Code;
    use emend_edit::patch::{Patch, TextChange};

    use super::*;
    use crate::disk;
    use crate::edits::approval::Approval;
    use crate::edits::preview::Preview;
    use crate::edits::request::Request;
    use crate::edits::stages::plan_request::RequestSource;
    use crate::files::history::Origin;
    use crate::files::roots::{Root, RootSpec};
    use crate::policy::programs::{Hook, Programs};
    use crate::policy::{Mode, Policy, Settings};

    /// A request that counts how often it was planned.
    struct Counted<'a> {
        request: RequestSource<'a>,
        plans: usize,
    }

    impl PlanSource for Counted<'_> {
        fn root(&self) -> &Arc<Root> {
            self.request.root()
        }

        fn plan(&mut self, under: &LockedRoot<'_>) -> Result<CheckedPlan, NotDone<Vec<Problem>>> {
            self.plans += 1;
            self.request.plan(under)
        }
    }

    /// Returns a workspace with a file `a.txt`, whose hook `before` is a shell script asked before each edit.
    fn workspace(folder: &Path, before: Option<&str>, mode: Mode) -> Workspace {
        fs::create_dir(folder.join("ws")).unwrap();
        fs::write(folder.join("ws/a.txt"), "one\ntwo\nthree\n").unwrap();
        let root = RootSpec { name: None, path: folder.join("ws") };
        let policy = Policy::new(&Settings { mode: Some(mode), ..Settings::default() }).unwrap();
        let hook = |script: &str| Hook {
            name: "asked".into(),
            command: ["/bin/sh", "-c", script].map(String::from).into(),
            files: Vec::new(),
            timeout: None,
            required: false,
        };
        let programs = Programs { before: before.map(hook).into_iter().collect(), ..Programs::default() };
        let state = Some(folder.join("state"));
        let workspace = Workspace::open_with_policy(disk::for_this_machine(), &[root], state, &policy);
        workspace.unwrap().with_hooks(&programs).unwrap()
    }

    fn patch() -> Patch {
        let change =
            |old: &str, new: &str| TextChange { old: old.into(), new: new.into(), ..TextChange::default() };
        Patch::replace("a.txt", vec![change("one", "ONE"), change("three", "THREE")]).unwrap()
    }

    fn text(folder: &Path) -> String {
        fs::read_to_string(folder.join("ws/a.txt")).unwrap()
    }

    /// Calls `act` with a request of one change and a context without haste.
    fn with_request<T>(act: impl FnOnce(&Request<'_>, &EditContext<'_>) -> T) -> T {
        let (readings, origin) = (Mutex::default(), Origin::default());
        let request = Request { patch: &patch(), versions: &BTreeMap::new() };
        act(&request, &EditContext::patient(&readings, &origin))
    }

    fn preview(workspace: &Workspace) -> Preview {
        with_request(|request, context| workspace.preview(request, context)).unwrap()
    }

    #[test]
    fn an_edit_whose_file_moves_on_while_a_hook_runs_is_planned_anew() {
        let folder = tempfile::tempdir().unwrap();
        let once = "test -e ../asked || { touch ../asked; echo four >> a.txt; }";
        for (script, plans) in [(Some(once), 2), (Some("true"), 1), (None, 1)] {
            let folder = folder.path().join(format!("{plans}{}", script.is_some()));
            fs::create_dir(&folder).unwrap();
            let workspace = workspace(&folder, script, Mode::Auto);
            let made = with_request(|request, context| {
                let (roots, vaults, root) = (&workspace.roots, &workspace.vaults, &workspace.roots.all()[0]);
                let request = RequestSource { roots, vaults, root, request, context };
                let mut source = Counted { request, plans: 0 };
                workspace.make(&mut source, context).unwrap();
                source.plans
            });
            assert_eq!(made, plans, "{script:?}");
            let added = if plans == 2 { "four\n" } else { "" };
            assert_eq!(text(&folder), format!("ONE\ntwo\nTHREE\n{added}"));
        }
    }

    #[test]
    fn an_edit_whose_file_never_stays_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = workspace(folder.path(), Some("echo more >> a.txt"), Mode::Auto);
        let made = with_request(|request, context| workspace.edit(request, context));
        assert_eq!(made.unwrap_err().into_problems()[0].code(), Code::Busy);
        assert!(text(folder.path()).ends_with(&"more\n".repeat(TRIES)));
    }

    #[test]
    fn an_edit_that_waits_too_long_is_refused_as_busy() {
        let folder = tempfile::tempdir().unwrap();
        let mut workspace = workspace(folder.path(), None, Mode::Auto);
        assert_eq!(workspace.patience, Duration::from_secs(10));
        workspace.patience = Duration::from_millis(1);
        let held = workspace.vaults.lock(&workspace.roots.all()[0], &Reach::Whole, Duration::ZERO).unwrap();
        let made = with_request(|request, context| workspace.edit(request, context));
        assert_eq!(made.unwrap_err().into_problems()[0].code(), Code::Busy);
        assert_eq!(text(folder.path()), "one\ntwo\nthree\n");
        drop(held);
        with_request(|request, context| workspace.edit(request, context)).unwrap();
        assert_eq!(text(folder.path()), "ONE\ntwo\nTHREE\n");
    }

    #[test]
    fn nothing_is_locked_while_a_hook_runs() {
        let folder = tempfile::tempdir().unwrap();
        let script = "touch ../asked; until test -e ../go; do sleep 0.01; done";
        let workspace = workspace(folder.path(), Some(script), Mode::Auto);
        std::thread::scope(|scope| {
            let made = scope.spawn(|| with_request(|request, context| workspace.edit(request, context)));
            let until = Instant::now() + Duration::from_secs(60);
            while !folder.path().join("asked").exists() {
                assert!(Instant::now() < until, "the hook is not run");
                std::thread::yield_now();
            }
            assert!(workspace.vaults.lock(&workspace.roots.all()[0], &Reach::Whole, Duration::ZERO).is_ok());
            fs::write(folder.path().join("go"), "").unwrap();
            made.join().unwrap().unwrap();
        });
    }

    #[test]
    fn no_hook_is_asked_about_an_edit_that_is_to_be_quick() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = workspace(folder.path(), Some("touch ../asked"), Mode::Auto);
        let made = with_request(|request, context| {
            workspace.edit(request, &EditContext { effort: Effort::Quick, ..*context })
        });
        assert!(matches!(made, Err(NotCommitted::NotQuick)));
        assert!(!folder.path().join("asked").exists());
    }

    #[test]
    fn a_preview_comes_back_whole_until_a_person_has_allowed_it() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = workspace(folder.path(), None, Mode::Ask);
        let kept = preview(&workspace);
        let whole = kept.report().diff();
        let apply = |kept, hunks, approval: Option<&Approval>| {
            with_request(|_, context| workspace.apply(kept, hunks, &EditContext { approval, ..*context }))
        };
        let Err((NotCommitted::AwaitingApproval(held), Some(kept))) = apply(kept, Some(&[1][..]), None)
        else {
            panic!("a person is to be asked")
        };
        assert_ne!(held.report().diff(), whole);
        assert_eq!(kept.report().diff(), whole);
        let approval = Approval::of_person(held.digest());
        apply(*kept, Some(&[1]), Some(&approval)).unwrap();
        assert_eq!(text(folder.path()), "ONE\ntwo\nthree\n");
    }

    #[test]
    fn a_preview_that_a_hook_refuses_comes_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = workspace(folder.path(), Some("test -e ../yes"), Mode::Auto);
        let mut kept = preview(&workspace);
        for _ in 0..2 {
            let applied = with_request(|_, context| workspace.apply(kept, None, context));
            let Err((why, Some(again))) = applied else { panic!("it was to be refused") };
            assert_eq!(why.into_problems()[0].code(), Code::HookRefused);
            assert!(again.report().fired.is_empty());
            kept = *again;
        }
        fs::write(folder.path().join("yes"), "").unwrap();
        let report = with_request(|_, context| workspace.apply(kept, None, context)).unwrap();
        assert_eq!(report.fired, ["before:asked"]);
    }

    #[test]
    fn a_preview_is_not_planned_anew() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = workspace(folder.path(), Some("echo more >> a.txt"), Mode::Auto);
        let kept = preview(&workspace);
        let Err((why, None)) = with_request(|_, context| workspace.apply(kept, None, context)) else {
            panic!("its file is another")
        };
        assert_eq!(why.into_problems()[0].code(), Code::StalePreview);
        assert_eq!(text(folder.path()), "one\ntwo\nthree\nmore\n");
    }
}
