//! The digest of a plan: a hash of what happens to each file, and in which root.

use std::ffi::OsString;

use crate::files::commit::{Job, Like};

/// The proof that exactly these bytes become exactly those in this root: two plans with the same digest do the same.
/// Neither the client nor the tool goes into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanDigest(blake3::Hash);

impl PlanDigest {
    /// Computes the digest of a plan's jobs in the root of this identity. `undoes` is the edit whose kept files give
    /// some of them their metadata.
    pub(crate) fn of(root: &str, jobs: &[Job<'_>], undoes: Option<&str>) -> Self {
        let mut fields = Fields::default();
        fields.add(b"emend plan 1");
        fields.add(root.as_bytes());
        fields.add(&(jobs.len() as u64).to_le_bytes());
        for job in jobs {
            fields.add_path(&job.path.place.names);
            let base = job.base.map(|(path, snapshot)| (path, snapshot.text.version().hex()));
            fields.add_option(base.as_ref().map(|(_, version)| version.as_bytes()));
            // The old path of a move; otherwise the same path again.
            fields.add_path(base.as_ref().map_or(&[], |(path, _)| &path.place.names));
            fields.add_option(job.after.map(|after| after.hex()).as_deref().map(str::as_bytes));
            fields.add_option(
                job.plan.executable.map(|executable| [u8::from(executable)]).as_ref().map(|e| &e[..]),
            );
            match job.like {
                None => fields.add(b"like nothing"),
                Some(Like::Path(path)) => {
                    fields.add(b"like");
                    fields.add_path(&path.place.names);
                }
                Some(Like::File(_)) => {
                    fields.add(b"like kept");
                    fields.add_option(undoes.map(str::as_bytes));
                }
            }
            fields.add(&[u8::from(job.in_place)]);
        }
        Self(fields.0.finalize())
    }

    /// Returns the digest in hex.
    #[must_use]
    pub fn hex(&self) -> String {
        self.0.to_hex().as_str().to_owned()
    }

    /// Parses a digest in hex.
    #[must_use]
    pub fn from_hex(hex: &str) -> Option<Self> {
        blake3::Hash::from_hex(hex).ok().map(Self)
    }
}

/// A hash over fields, each with its length in front, so that the end of one cannot pass for the start of the next.
#[derive(Default)]
struct Fields(blake3::Hasher);

impl Fields {
    fn add(&mut self, field: &[u8]) {
        self.0.update(&(field.len() as u64).to_le_bytes()).update(field);
    }

    fn add_option(&mut self, field: Option<&[u8]>) {
        self.add(&[u8::from(field.is_some())]);
        self.add(field.unwrap_or_default());
    }

    fn add_path(&mut self, names: &[OsString]) {
        self.add(&(names.len() as u64).to_le_bytes());
        names.iter().for_each(|name| self.add(name.as_encoded_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_field_runs_into_the_next() {
        let hash = |fields: &[&[&str]]| {
            let mut all = Fields::default();
            for names in fields {
                all.add_path(&names.iter().map(OsString::from).collect::<Vec<_>>());
            }
            PlanDigest(all.0.finalize())
        };
        assert_ne!(hash(&[&["a", "b"]]), hash(&[&["ab"]]));
        assert_ne!(hash(&[&["a"], &["b"]]), hash(&[&["a", "b"]]));
        assert_ne!(hash(&[&["a"], &[]]), hash(&[&[], &["a"]]));
        let digest = hash(&[&["a"]]);
        assert_eq!(PlanDigest::from_hex(&digest.hex()), Some(digest));
        assert_eq!(PlanDigest::from_hex("a"), None);
    }
}
