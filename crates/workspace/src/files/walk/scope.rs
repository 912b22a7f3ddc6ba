//! The scope of a listing or search: where to start, and which files count.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use crate::problem::{Kind, Problem};

use crate::files::roots::{Roots, Start};
use crate::policy::wildcards::too_much;

/// The scope of a listing or search, as written.
pub struct WalkScope<'a> {
    /// A folder or a file; `None` means every root.
    pub path: Option<&'a str>,
    /// A glob that the files must match.
    pub glob: Option<&'a str>,
    /// Whether the client has cancelled the request.
    pub cancelled: &'a dyn Fn() -> bool,
}

/// The scope of a listing or search, resolved.
pub(crate) struct Within {
    pub(crate) starts: Vec<Start>,
    /// The folder at which it starts, from the root.
    folder: PathBuf,
    glob: Option<Glob>,
}

impl Within {
    pub(crate) fn new(scope: &WalkScope<'_>, roots: &Roots) -> Result<Self, Problem> {
        let glob = scope.glob.map(Glob::new).transpose()?;
        let Some(written) = scope.path.filter(|path| !path.is_empty()) else {
            let mut starts = Vec::new();
            let mut refused = None;
            for root in roots.all() {
                match roots.check_open(root) {
                    Ok(()) => starts.push(Start::Folder(root.clone(), Vec::new())),
                    Err(problem) => refused = refused.or(Some(problem)),
                }
            }
            // With several roots, the others are still visible. With none, an empty result would be a lie.
            if let Some(problem) = refused.filter(|_| starts.is_empty()) {
                return Err(problem);
            }
            return Ok(Self { starts, folder: PathBuf::new(), glob });
        };
        let start = roots.admit_start(written)?;
        let folder = match &start {
            Start::Folder(_, names) => names.iter().collect(),
            Start::File(_) => PathBuf::new(),
        };
        Ok(Self { starts: vec![start], folder, glob })
    }

    /// Returns whether only files that match a glob count.
    pub(crate) fn has_glob(&self) -> bool {
        self.glob.is_some()
    }

    /// Returns whether the file of this path, from its root, is in the scope.
    pub(crate) fn takes(&self, path: &Path) -> bool {
        // A glob with a folder may be relative to the root or to the folder that the call names.
        let below = path.strip_prefix(&self.folder).unwrap_or(path);
        self.glob.as_ref().is_none_or(|glob| glob.takes(below, path))
    }
}

/// A pattern of names (`*.rs`) or, with a slash, of paths (`src/**/*.rs`); with `!` before it, of all others.
struct Glob {
    matcher: GlobMatcher,
    of_names: bool,
    others: bool,
}

impl Glob {
    fn new(written: &str) -> Result<Self, Problem> {
        let (others, pattern) = match written.strip_prefix('!') {
            Some(pattern) => (true, pattern),
            None => (false, written),
        };
        let wrong = |why: String| {
            let message = format!("{why}; such as *.rs, src/**/*.ts or *.{{js,ts}}");
            Problem::new(Kind::InvalidArgument { name: "glob".into(), message })
        };
        if let Some(why) = too_much(pattern) {
            return Err(wrong(why));
        }
        let of_names = !pattern.contains('/');
        let mut pattern = pattern.trim_start_matches("./").trim_start_matches('/').to_owned();
        if pattern.ends_with('/') {
            pattern.push_str("**");
        }
        let glob = GlobBuilder::new(&pattern).literal_separator(true).build();
        let glob = glob.map_err(|error| wrong(error.kind().to_string()))?;
        Ok(Self { matcher: glob.compile_matcher(), of_names, others })
    }

    fn takes(&self, below: &Path, path: &Path) -> bool {
        let fits = match self.of_names {
            true => path.file_name().is_some_and(|name| self.matcher.is_match(name)),
            false => self.matcher.is_match(below) || self.matcher.is_match(path),
        };
        fits != self.others
    }
}
