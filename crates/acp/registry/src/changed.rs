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
    /// The digest of what came, or would come. None if it has none.
    pub digest_now: Option<String>,
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
        let is_same_source = self.source_now == self.source_before;
        match (is_same_source, digest_now) {
            (true, Some(digest)) => write!(f, "{now} has changed: its digest is {digest}, but")?,
            (true, None) => write!(f, "{now} has changed: it comes without a digest, but")?,
            (false, Some(digest)) => {
                write!(f, "version {version} has changed: {now} has the digest {digest}, but")?
            }
            (false, None) => write!(f, "version {version} has changed: {now} comes without a digest, but")?,
        }
        match is_same_source {
            true => write!(f, " version {version} was installed with {digest_before}")?,
            false => write!(f, " it was installed from {before} with {digest_before}")?,
        }
        let file = self.file.display().to_string();
        write!(f, "; if the publisher says that this is right, remove {}", Printable::one_line(&file))
    }
}
