//! The source of an index: a file, or a URL with a cache of its text and ETag.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agentwire_jsonrpc::read;
use agentwire_transport_http::client::shown_url;
use serde::{Deserialize, Serialize};

use super::agents::Index;
use crate::digest::Sha256;
use crate::error::RegistryError;
use crate::fetch::{FetchError, Fetched, fetch};
use crate::files::{read_text, write_file};

/// The index of the official registry.
const OFFICIAL: &str = "https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json";

/// How long a request for the index may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The source of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexSource {
    /// An `https` URL, or an `http` URL of this machine.
    Url(String),
    /// A file.
    File(PathBuf),
}

/// The cached text of a URL.
#[derive(Serialize, Deserialize)]
struct Cached {
    url: String,
    etag: Option<String>,
    /// When it was fetched or confirmed, in seconds since 1970.
    fetched: u64,
    text: String,
}

impl IndexSource {
    /// The official registry.
    pub fn official() -> Self {
        Self::Url(OFFICIAL.to_owned())
    }

    /// A text with `://` is a URL, any other one a path.
    pub fn parse(text: &str) -> Self {
        match text.contains("://") {
            true => Self::Url(text.to_owned()),
            false => Self::File(text.into()),
        }
    }

    /// The URL as messages show it, without its user and its query, or the path.
    pub fn origin(&self) -> String {
        match self {
            Self::Url(url) => shown_url(url),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// Reads the index. A URL is asked whether its cached text is still the same. One that cannot be reached or gives no
    /// index, as in a network that wants a login, gives the cached text, and [`Index::failure`] has the reason.
    pub(crate) async fn read(&self, cache: &Path, limit: u64) -> Result<Index, RegistryError> {
        let url = match self {
            Self::File(path) => {
                let text = read_text(path, limit).map_err(RegistryError::file(path))?;
                return Index::parse(&text, self.origin());
            }
            Self::Url(url) => url,
        };
        let path = cache_path(cache, url);
        let cached = read_cache(&path, url, limit);
        let failure =
            match download(url, cached.as_ref().and_then(|cached| cached.etag.as_deref()), limit).await {
                Ok(Some((text, etag))) => match Index::parse(&text, self.origin()) {
                    Ok(index) => {
                        // Without a cache the next read fetches all again.
                        let _written =
                            write_cache(&path, &Cached { url: url.clone(), etag, fetched: now(), text });
                        return Ok(index);
                    }
                    Err(error) => error,
                },
                Ok(None) => {
                    // The server confirms only a text that was sent to it as an ETag, so there is a cached one.
                    let mut cached =
                        cached.ok_or_else(|| FetchError::unexpected(url, "304 without a cached text"))?;
                    let index = Index::parse(&cached.text, self.origin())?;
                    cached.fetched = now();
                    let _written = write_cache(&path, &cached);
                    return Ok(index);
                }
                Err(failure) => failure.into(),
            };
        match cached {
            Some(cached) => from_cache(cached, Some(failure)),
            None => Err(failure),
        }
    }

    /// The cached index of a URL, or the file. None without a cache. No network is used.
    pub(crate) fn read_cached(&self, cache: &Path, limit: u64) -> Result<Option<Index>, RegistryError> {
        match self {
            Self::File(path) => {
                let text = read_text(path, limit).map_err(RegistryError::file(path))?;
                Index::parse(&text, self.origin()).map(Some)
            }
            Self::Url(url) => read_cache(&cache_path(cache, url), url, limit)
                .map(|cached| from_cache(cached, None))
                .transpose(),
        }
    }
}

fn from_cache(cached: Cached, failure: Option<RegistryError>) -> Result<Index, RegistryError> {
    let mut index = Index::parse(&cached.text, shown_url(&cached.url))?;
    index.age = Some(Duration::from_secs(now().saturating_sub(cached.fetched)));
    index.failure = failure;
    Ok(index)
}

/// The text and its ETag. None if the cached text is still the same.
async fn download(
    url: &str,
    etag: Option<&str>,
    limit: u64,
) -> Result<Option<(String, Option<String>)>, FetchError> {
    let mut bytes = Vec::new();
    let take = |piece: &[u8]| {
        bytes.extend_from_slice(piece);
        Ok(())
    };
    match fetch(url, etag, limit, TIMEOUT, take).await? {
        Fetched::NotModified => Ok(None),
        Fetched::Whole { etag } => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some((text, etag))),
            Err(_) => Err(FetchError::unexpected(url, "the index is not in UTF-8")),
        },
    }
}

fn cache_path(cache: &Path, url: &str) -> PathBuf {
    let mut digest = Sha256::new();
    digest.update(url.as_bytes());
    cache.join(format!("{}.json", digest.finish().as_str()))
}

/// The cached text of this URL. A damaged cache is none.
fn read_cache(path: &Path, url: &str, limit: u64) -> Option<Cached> {
    // A text is at most six times as long when it is escaped.
    let text = read_text(path, limit.saturating_mul(6).saturating_add(4096)).ok()?;
    read::<Cached>(&text).ok().filter(|cached| cached.url == url)
}

fn write_cache(path: &Path, cached: &Cached) -> io::Result<()> {
    write_file(path, &serde_json::to_vec(cached)?)
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
