//! Downloads and unpacks archives.

mod clock;
mod path;
mod tarball;
mod unpacker;
mod zip;

use std::fs::{self, File};
use std::io::{self, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::digest::{Digest, Sha256};
use crate::error::RegistryError;
use crate::fetch::{FetchError, Fetched, fetch};
use crate::files::blocking;
use crate::limits::Limits;
use crate::plan::Plan;

use self::clock::{Clock, Timed};
use self::path::plain_path;
use self::unpacker::Unpacker;

/// The form of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Zip,
    TarGzip,
    TarBzip2,
    /// The executable itself.
    Raw,
}

/// The form by the name at the end of a URL.
fn format(url: &str) -> Result<Format, String> {
    let path = url.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    let name = path.rsplit('/').next().unwrap_or_default();
    let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    if ends(&[".zip"]) {
        Ok(Format::Zip)
    } else if ends(&[".tar.gz", ".tgz"]) {
        Ok(Format::TarGzip)
    } else if ends(&[".tar.bz2", ".tbz2"]) {
        Ok(Format::TarBzip2)
    } else if ends(&[
        ".tar.xz", ".txz", ".tar.zst", ".7z", ".dmg", ".deb", ".rpm", ".msi", ".pkg", ".gz", ".tar",
    ]) {
        Err(format!("`{name}` is not a zip, tar.gz, tar.bz2 or executable"))
    } else {
        Ok(Format::Raw)
    }
}

/// Downloads the archive of a plan and unpacks it into a folder. Returns the path of the executable in the folder, and the
/// digest of the archive. `check` refuses a digest before anything is unpacked.
pub(crate) async fn install(
    plan: &Plan,
    folder: &Path,
    limits: &Limits,
    check: impl FnOnce(&Digest) -> Result<(), RegistryError>,
) -> Result<(PathBuf, Digest), RegistryError> {
    let deadline = Instant::now() + limits.install;
    let invalid = |why: String| RegistryError::InvalidPackage { what: plan.source.clone(), why };
    let format = format(&plan.source).map_err(invalid)?;
    let executable = plan.executable.as_deref().and_then(plain_path);
    let executable =
        executable.ok_or_else(|| invalid("its executable is not a path in the archive".to_owned()))?;
    let archive = folder.join("archive");
    let digest = download(plan, &archive, limits).await?;
    check(&digest)?;

    let files = folder.join("files");
    fs::create_dir(&files).map_err(RegistryError::file(&files))?;
    let clock = Clock::new(deadline);
    // Dropping this future ends the thread at its next piece.
    let _guard = clock.guard();
    let work = {
        let unpacker = Unpacker::new(files.clone(), limits, clock.clone());
        let (archive, executable) = (archive.clone(), executable.clone());
        move || unpack_as(unpacker, clock, format, &archive, &executable)
    };
    blocking(work).await.map_err(|error| invalid(error.to_string()))?;
    fs::remove_file(&archive).map_err(RegistryError::file(&archive))?;

    let program = files.join(&executable);
    let is_inside = || Some(program.canonicalize().ok()?.starts_with(files.canonicalize().ok()?));
    if !program.is_file() || is_inside() != Some(true) {
        return Err(invalid(format!("it has no file `{}`", executable.display())));
    }
    make_executable(&program).map_err(RegistryError::file(&program))?;
    Ok((Path::new("files").join(executable), digest))
}

/// Unpacks an archive into a folder, as an install does. Its form is that of `name`, such as `agent.tar.gz`; a name of no archive is
/// that of the executable itself.
///
/// # Errors
///
/// When the archive is damaged, leads out of the folder, or exceeds the limits. What was unpacked until then stays in the folder.
pub fn unpack(archive: &Path, name: &str, folder: &Path, limits: &Limits) -> Result<(), RegistryError> {
    let invalid = |why: String| RegistryError::InvalidPackage { what: name.to_owned(), why };
    let format = format(name).map_err(invalid)?;
    let executable =
        plain_path(name).ok_or_else(|| invalid("its name is not a path in a folder".to_owned()))?;
    let clock = Clock::new(Instant::now() + limits.install);
    let unpacker = Unpacker::new(folder.to_owned(), limits, clock.clone());
    unpack_as(unpacker, clock, format, archive, &executable).map_err(|error| invalid(error.to_string()))
}

async fn download(plan: &Plan, archive: &Path, limits: &Limits) -> Result<Digest, RegistryError> {
    let mut file = File::create(archive).map_err(RegistryError::file(archive))?;
    let mut digest = Sha256::new();
    let take = |piece: &[u8]| {
        digest.update(piece);
        file.write_all(piece)
    };
    match fetch(&plan.source, None, limits.archive, limits.install, take).await? {
        Fetched::Whole { .. } => Ok(digest.finish()),
        Fetched::NotModified => Err(FetchError::unexpected(&plan.source, "304 without an ETag").into()),
    }
}

fn unpack_as(
    mut unpacker: Unpacker,
    clock: Clock,
    format: Format,
    archive: &Path,
    executable: &Path,
) -> io::Result<()> {
    let file = File::open(archive)?;
    let timed = |file| BufReader::new(Timed { bytes: file, clock });
    match format {
        Format::Raw => unpacker.file(executable, 0o755, &mut timed(file))?,
        Format::TarGzip => {
            tarball::unpack(&mut unpacker, flate2::read::MultiGzDecoder::new(timed(file)))?;
        }
        Format::TarBzip2 => {
            tarball::unpack(&mut unpacker, bzip2::read::MultiBzDecoder::new(timed(file)))?;
        }
        Format::Zip => zip::unpack(&mut unpacker, file)?,
    }
    unpacker.finish()
}

fn make_executable(program: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(program, fs::Permissions::from_mode(0o755))?;
    }
    let _ = program;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_says_the_form() {
        assert_eq!(format("https://h/a.ZIP?x=1"), Ok(Format::Zip));
        assert_eq!(format("https://h/a-1.0.tar.gz"), Ok(Format::TarGzip));
        assert_eq!(format("https://h/a.tgz#x"), Ok(Format::TarGzip));
        assert_eq!(format("https://h/a.tbz2"), Ok(Format::TarBzip2));
        assert_eq!(format("https://h/agent-linux"), Ok(Format::Raw));
        assert_eq!(
            format("https://h/a.tar.xz").unwrap_err(),
            "`a.tar.xz` is not a zip, tar.gz, tar.bz2 or executable"
        );
    }
}
