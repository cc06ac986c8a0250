//! Checks the certificates that `SSL_CERT_FILE` and `SSL_CERT_DIR` name, before rustls reads them: rustls waits for a
//! pipe, reads a device without end, and skips unreadable files.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

const FILE: &str = "SSL_CERT_FILE";
const FOLDERS: &str = "SSL_CERT_DIR";

/// The longest file of certificates: 16 MiB. The file of a system has about 0.25 MiB.
const FILE_LIMIT: u64 = 16 << 20;

/// The first line of each certificate in a PEM file.
const BEGIN: &[u8] = b"-----BEGIN CERTIFICATE-----";

/// The root certificates that an environment variable names cannot be used, so no server can be trusted.
#[derive(Debug, thiserror::Error)]
#[error("{variable} names {path:?}: {fault}; name {}, or unset {variable}", wanted(.variable))]
#[non_exhaustive]
pub struct CertificateError {
    /// The variable: `SSL_CERT_FILE` or `SSL_CERT_DIR`.
    pub variable: &'static str,
    /// The value of the variable.
    pub path: PathBuf,
    fault: Fault,
}

/// The fault of a file of certificates, or of a folder.
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error("there is no such file")]
    Missing,
    #[error("it is a folder")]
    Folder,
    #[error("it is not a folder")]
    NoFolder,
    #[error("it is not a regular file")]
    Irregular,
    #[error("it is longer than the limit of {FILE_LIMIT} bytes")]
    TooLong,
    #[error("it has no certificate")]
    Empty,
    #[error("it cannot be read: {0}")]
    Unreadable(io::Error),
}

fn wanted(variable: &str) -> &'static str {
    if variable == FILE {
        "a file with root certificates in PEM"
    } else {
        "folders with root certificates in PEM"
    }
}

/// Checks the root certificates that `SSL_CERT_FILE` and `SSL_CERT_DIR` name, on systems where TLS uses them. [`Hyper`] and
/// `Reqwest` do so by themselves.
///
/// It reads the file, and thus may block, but neither waits for a pipe nor reads a device.
///
/// # Errors
///
/// When the file of `SSL_CERT_FILE` is missing, is not a regular file, is longer than 16 MiB, or has no certificate. A folder of
/// `SSL_CERT_DIR` that is missing is an error only if there is no `SSL_CERT_FILE` and no other folder.
///
/// [`Hyper`]: crate::client::Hyper
pub fn check_certificates() -> Result<(), CertificateError> {
    // Other platforms use the certificates of the system, and ignore the variables.
    if cfg!(any(not(unix), target_os = "android", target_vendor = "apple")) {
        return Ok(());
    }
    check(env::var_os(FILE).as_deref(), env::var_os(FOLDERS).as_deref())
}

fn check(file: Option<&OsStr>, folders: Option<&OsStr>) -> Result<(), CertificateError> {
    let failed = |variable, value: &OsStr, fault| CertificateError { variable, path: value.into(), fault };
    match (file, folders) {
        (Some(file), _) => check_file(Path::new(file)).map_err(|fault| failed(FILE, file, fault)),
        (None, Some(folders)) => check_folders(folders).map_err(|fault| failed(FOLDERS, folders, fault)),
        (None, None) => Ok(()),
    }
}

fn check_file(path: &Path) -> Result<(), Fault> {
    let metadata = metadata(path)?;
    if metadata.is_dir() {
        return Err(Fault::Folder);
    }
    // Opening a pipe waits for a writer.
    if !metadata.is_file() {
        return Err(Fault::Irregular);
    }
    let mut text = Vec::new();
    File::open(path)
        .and_then(|file| file.take(FILE_LIMIT + 1).read_to_end(&mut text))
        .map_err(Fault::Unreadable)?;
    if text.len() as u64 > FILE_LIMIT {
        return Err(Fault::TooLong);
    }
    match text.windows(BEGIN.len()).any(|window| window == BEGIN) {
        true => Ok(()),
        false => Err(Fault::Empty),
    }
}

/// Fails if none of them is a folder. An empty value is the same as none.
fn check_folders(folders: &OsStr) -> Result<(), Fault> {
    let checked =
        env::split_paths(folders).filter(|folder| !folder.as_os_str().is_empty()).map(
            |folder| match metadata(&folder)?.is_dir() {
                true => Ok(()),
                false => Err(Fault::NoFolder),
            },
        );
    let mut first = Ok(());
    for result in checked {
        match result {
            Ok(()) => return Ok(()),
            fault => first = first.and(fault),
        }
    }
    first
}

fn metadata(path: &Path) -> Result<fs::Metadata, Fault> {
    fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Fault::Missing,
        _ => Fault::Unreadable(error),
    })
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn unusable_certificates_are_named_with_their_variable() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).into_os_string();
        fs::write(path("empty"), "").unwrap();
        fs::write(path("roots"), "# mine\n-----BEGIN CERTIFICATE-----\n").unwrap();
        File::create(path("long")).unwrap().set_len(FILE_LIMIT + 1).unwrap();
        assert!(Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
        let rows = [
            (path("none"), Err("there is no such file")),
            (OsStr::new("").to_owned(), Err("there is no such file")),
            (folder.path().into(), Err("it is a folder")),
            (path("empty"), Err("it has no certificate")),
            (path("long"), Err("it is longer than the limit of 16777216 bytes")),
            (path("pipe"), Err("it is not a regular file")),
            ("/dev/zero".into(), Err("it is not a regular file")),
            (path("roots"), Ok(())),
        ];
        for (file, expected) in rows {
            let expected = expected.map_err(|fault| {
                format!("SSL_CERT_FILE names {file:?}: {fault}; name a file with root certificates in PEM, or unset SSL_CERT_FILE")
            });
            assert_eq!(check(Some(&file), None).map_err(|error| error.to_string()), expected);
        }
    }

    #[test]
    fn one_of_several_folders_is_enough() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().to_str().unwrap();
        let fault =
            |folders: &str| check(None, Some(folders.as_ref())).err().map(|error| error.fault.to_string());
        assert_eq!(fault(""), None);
        assert_eq!(fault(&format!("/no/such:{place}")), None);
        assert_eq!(fault("/no/such"), Some("there is no such file".into()));
        assert_eq!(fault("/dev/null"), Some("it is not a folder".into()));
        assert!(check(None, None).is_ok());
    }
}
