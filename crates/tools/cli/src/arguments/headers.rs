//! `--header` and `--header-file`: headers for every request to a server at a URL. Values are often secrets, so no error and
//! no `Debug` output has one.

use std::convert::Infallible;
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use agentwire_mcp_hub::HttpTarget;
use anyhow::Result;
use clap::Args;

use crate::arguments::files::read_secret_text;
use crate::failure::Usage;
use crate::output::text::Notes;

/// The longest file of headers: 64 KiB.
const FILE_LIMIT: u64 = 64 << 10;

/// The headers of every request to a URL.
#[derive(Debug, Args)]
pub(crate) struct HeaderArguments {
    /// A header to send to a URL with every request, as in 'Authorization: Bearer …'; may be given again. Other users of
    /// this machine can read it
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<Secret>,
    /// A file with headers to send, one a line, which other users cannot read; may be given again
    #[arg(long = "header-file", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// An access token to send to a URL, in place of one from `login`. Other users of this machine can read it
    // An older name of it in `check` was `--auth`.
    #[arg(long, alias = "auth", value_name = "TOKEN")]
    token: Option<Secret>,
}

impl HeaderArguments {
    /// The headers, with those of the files and of the token.
    pub(crate) fn read(&self) -> Result<Vec<Header>> {
        let mut all = self.headers.iter().map(Header::read).collect::<Result<Vec<_>>>()?;
        for file in &self.files {
            all.extend(Header::read_file(file)?);
        }
        if let Some(Secret(token)) = &self.token {
            all.push(Header { name: "Authorization".into(), value: format!("Bearer {token}") });
        }
        Ok(all)
    }
}

/// The argument of `--header`, not parsed yet.
#[derive(Clone)]
pub(crate) struct Secret(pub(crate) String);

impl FromStr for Secret {
    // Parsed later: clap's errors repeat the argument.
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// A header. Its `Debug` output has only the name.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) name: String,
    pub(crate) value: String,
}

impl Header {
    /// Reads `NAME: VALUE`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (name, value) = text.split_once(':')?;
        Some(Self { name: name.trim().into(), value: value.trim().into() })
    }

    /// Reads the argument of `--header`.
    pub(crate) fn read(Secret(text): &Secret) -> Result<Self> {
        let wrong = || Usage("--header: write 'NAME: VALUE', as in 'Authorization: Bearer …'".into());
        Ok(Self::parse(text).ok_or_else(wrong)?)
    }

    /// Reads a file with a header on each line. Empty lines and those that begin with `#` are skipped.
    pub(crate) fn read_file(path: &Path) -> Result<Vec<Self>> {
        let named = || format!("--header-file {}", path.display());
        let text = read_secret_text(path, FILE_LIMIT).map_err(|why| Usage(format!("{}: {why}", named())))?;
        let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
        let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let header = |(number, line)| {
            let wrong = || Usage(format!("{}: line {number} is not NAME: VALUE", named()));
            Ok(Self::parse(line).ok_or_else(wrong)?)
        };
        lines.map(header).collect()
    }
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Header").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Adds headers to a server at a URL. Prints a warning if its headers go to another machine without encryption.
pub(crate) fn add_headers(
    mut target: HttpTarget,
    url: &str,
    headers: &[Header],
    notes: &Notes,
) -> Result<HttpTarget> {
    if let Some(warning) = warning(url, !headers.is_empty() || !target.headers().is_empty()) {
        notes.add(&warning);
    }
    for Header { name, value } in headers {
        target = target.header(name, value).map_err(|why| Usage(format!("--header: {why}")))?;
    }
    Ok(target)
}

/// A warning if headers, or a password in the URL, go to another machine over plain HTTP.
fn warning(url: &str, has_headers: bool) -> Option<String> {
    let (scheme, rest) = url.trim().split_once("://")?;
    if !scheme.eq_ignore_ascii_case("http") {
        return None;
    }
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let (user, host) =
        authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    if is_this_machine(host) || !(has_headers || user.is_some()) {
        return None;
    }
    Some(format!(
        "warning: what is sent to {host} is not encrypted: anybody on the way can read its headers and passwords"
    ))
}

/// Whether a host, with a port or without, is a loopback address or a name of one.
fn is_this_machine(host: &str) -> bool {
    if let Some(bracketed) = host.strip_prefix('[') {
        let address = bracketed.split(']').next().unwrap_or_default();
        return address.parse::<Ipv6Addr>().is_ok_and(|address| address.to_canonical().is_loopback());
    }
    let name = host.split(':').next().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
    name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
        || name == "localhost"
        || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_plain_text_are_warned_of() {
        for url in
            ["http://example.com/mcp", "HTTP://10.0.0.1:80", "http://[::2]/", "http://localhost.example.com"]
        {
            assert!(warning(url, true).is_some_and(|text| text.starts_with("warning: ")), "{url}");
            assert_eq!(warning(url, false), None, "{url}");
        }
        let with_password = warning("http://user:hunter2@example.com/", false).unwrap();
        assert!(
            with_password.contains("example.com") && !with_password.contains("hunter2"),
            "{with_password}"
        );
        for url in [
            "https://example.com/mcp",
            "http://127.0.0.1:8080/mcp",
            "http://localhost:1/",
            "http://user:hunter2@app.localhost/",
            "http://[::1]:80/",
            "http://[::ffff:127.0.0.1]/",
        ] {
            assert_eq!(warning(url, true), None, "{url}");
        }
    }

    #[test]
    fn headers_are_read_from_a_file() {
        // Only its owner can read it.
        let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let write = |text: &str| std::fs::write(&path, text).unwrap();
        write("# mine\n\nAuthorization: Bearer a:b\r\n X-Team : 7 \n");
        let header = |name: &str, value: &str| Header { name: name.into(), value: value.into() };
        let expected = [header("Authorization", "Bearer a:b"), header("X-Team", "7")];
        assert_eq!(Header::read_file(&path).unwrap(), expected);
        write("A: b\nBearer hunter2\n");
        let wrong = Header::read_file(&path).unwrap_err().to_string();
        assert!(wrong.ends_with("line 2 is not NAME: VALUE") && !wrong.contains("hunter2"), "{wrong}");
        let wrong = Header::read(&Secret("Bearer hunter2".into())).unwrap_err().to_string();
        assert!(!wrong.contains("hunter2"), "{wrong}");
    }

    #[test]
    fn a_token_and_a_file_become_headers_and_an_older_name_of_the_token_stays() {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            headers: HeaderArguments,
        }
        // Only its owner can read it.
        let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        std::fs::write(&path, "Authorization: Bearer from-a-file\n").unwrap();
        let read = |words: &[&str]| {
            let line = <Line as clap::Parser>::try_parse_from([&["check"], words].concat()).unwrap();
            let headers = line.headers.read().unwrap();
            headers.into_iter().map(|header| format!("{}: {}", header.name, header.value)).collect::<Vec<_>>()
        };
        let file = path.to_str().unwrap();
        assert_eq!(read(&["--header-file", file]), ["Authorization: Bearer from-a-file"]);
        assert_eq!(read(&["--auth", "a", "--header", "B: c"]), ["B: c", "Authorization: Bearer a"]);
        assert_eq!(read(&["--token", "a"]), ["Authorization: Bearer a"]);
    }
}
