//! The error of a version that is another file than before.

use std::fmt;
use std::path::PathBuf;

use agentwire_jsonrpc::Printable;

/// Another file than before is given for a version. `Display` writes it for a person, with what to do.
#[derive(Debug)]
#[non_exhaustive]
pub struct ChangedVersion {
    /// The version.
    pub version: String,
    /// The package or URL of the plan.
    pub source_now: String,
    /// The digest of what came, or would come.
    pub digest_now: String,
    /// The package or URL that the version was installed from.
    pub source_before: String,
    /// The digest that it had.
    pub digest_before: String,
    /// The file that remembers digests.
    pub file: PathBuf,
}

impl fmt::Display for ChangedVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, digest_now, digest_before, .. } = self;
        let (now, before) = (Printable::one_line(&self.source_now), Printable::one_line(&self.source_before));
        match self.source_now == self.source_before {
            true => write!(
                f,
                "{now} has changed: its digest is {digest_now}, but version {version} was installed with {digest_before}"
            )?,
            false => write!(
                f,
                "version {version} has changed: {now} has the digest {digest_now}, but it was installed from {before} with \
                 {digest_before}"
            )?,
        }
        let file = self.file.display().to_string();
        write!(f, "; if the publisher says that this is right, remove {}", Printable::one_line(&file))
    }
}
