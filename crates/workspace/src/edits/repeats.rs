//! The check that the same call has not made an edit already, before anything is planned.
//!
//! [`call`](crate::files::call) says how a call is known again, [`history::calls`](crate::files::history::calls) has the
//! calls of the log, and [`history::standing`](crate::files::history::standing), with `Repeat`, decides whether an edit still
//! stands. In the server, `running_calls` holds a call back while the same one runs.

use std::sync::Arc;

use emend_edit::standing::Standing;

use crate::edits::approval::NotCommitted;
use crate::edits::context::EditContext;
use crate::edits::vault_access::VaultAccess;
use crate::files::effort::Effort;
use crate::files::history::calls::Earlier;
use crate::files::roots::{Root, Roots};
use crate::problem::{Kind, Problem};

/// Goes on unless the same call has made an edit already. If that still stands, it is what there is to tell; if nobody can
/// say whether it does, the call is refused, since it might edit twice. The call is locked.
pub(crate) fn check_not_repeated(
    roots: &Roots,
    vaults: &VaultAccess,
    root: &Arc<Root>,
    context: &EditContext<'_>,
) -> Result<(), NotCommitted> {
    let (made, has_key) = match vaults.earlier_edit(root, context.origin.call)? {
        Earlier::None => return Ok(()),
        Earlier::KeyOfAnother(edit) => return Err(Problem::new(Kind::KeyOfAnother { edit }).into()),
        Earlier::Edit(made) => (made, context.origin.call.has_key()),
    };
    if context.effort == Effort::Quick {
        return Err(NotCommitted::NotQuick);
    }
    let record = &made.record;
    let mut history = vaults.history_of_one(roots, root, &made)?;
    let mut judged = history.judge(roots, record)?;
    let mut is_certain = match judged.standing {
        Standing::Stands => judged.is_untouched,
        Standing::IsGone => true,
        Standing::Unclear => false,
    };
    if !is_certain
        && let Some(newest) = vaults.end_of_history(roots, root).filter(|newest| newest.has(&record.id))
    {
        // Now with all that was made since.
        judged = newest.judge(roots, record)?;
        is_certain = judged.standing != Standing::Unclear;
        history = newest;
    }
    if !is_certain && let Some(all) = vaults.history(roots, root)? {
        // Now with all that was ever displaced.
        judged = all.judge(roots, record)?;
        history = all;
    }
    match judged.standing {
        Standing::Stands => {
            Err(NotCommitted::Repeated(Box::new(history.repeat(record, judged, context.origin))))
        }
        // Whoever sends the same key never means it a second time.
        Standing::IsGone if !has_key => Ok(()),
        Standing::IsGone | Standing::Unclear => {
            let problem = Problem::new(Kind::MaybeRepeated { edit: record.id.clone(), has_key });
            Err(Problem { path: judged.unclear, ..problem }.into())
        }
    }
}
