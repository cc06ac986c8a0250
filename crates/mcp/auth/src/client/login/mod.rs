//! The login in a person's browser.

mod connection;
mod listener;
mod opener;
mod request;

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use agentwire_wire_derive::Build;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Either, select};
use http::Uri;

use self::listener::Listener;
use self::opener::Opener;
use super::user_agent::{LoginError, RedirectListener, UserAgent};

/// How long a person may take by default: 5 minutes.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// How this machine is named in the redirect URI. The port is always bound to loopback addresses only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoopbackHost {
    /// `127.0.0.1`.
    #[default]
    Ipv4,
    /// `[::1]`.
    Ipv6,
    /// `localhost`, for authorization servers that refuse the addresses. Both addresses are bound where the machine has both.
    Localhost,
}

impl LoopbackHost {
    fn name(self) -> &'static str {
        match self {
            Self::Ipv4 => "127.0.0.1",
            Self::Ipv6 => "[::1]",
            Self::Localhost => "localhost",
        }
    }

    /// The addresses to bind. All but the first may be missing on this machine.
    fn addresses(self) -> &'static [IpAddr] {
        const V4: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
        const V6: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);
        match self {
            Self::Ipv4 => &[V4],
            Self::Ipv6 => &[V6],
            Self::Localhost => &[V4, V6],
        }
    }
}

/// Logs a person in with the browser of this machine, and receives the redirect on a loopback port (RFC 8252, section 7.3).
///
/// The browser is started without a shell, and only for `https` URLs, or `http` ones of this machine. The port accepts one
/// redirect, which must carry the `state` of this login; anything else is answered with an error, and the wait goes on. The
/// port is open only while a login runs.
///
/// The URL is an argument of the browser, which other users of this machine may see in the list of processes. It contains the
/// login's `state` and the challenge, but never the verifier: with it they could log this program in as themselves, not
/// themselves as this person. Where users do not trust each other, hide their processes (`hidepid=2` on Linux).
///
/// ```
/// use agentwire_mcp_auth::client::Browser;
///
/// let browser = Browser::new().on_url(|url| eprintln!("Log in here if no browser opens: {url}"));
/// ```
#[derive(Clone, Build)]
#[build(new = "The system's browser, and any free port of `127.0.0.1`.")]
pub struct Browser {
    /// Sets the port (default 0: any free one), for authorization servers that compare it.
    port: u16,
    /// Sets how this machine is named in the redirect URI (default `127.0.0.1`).
    host: LoopbackHost,
    /// Sets the path of the redirect URI (default `/callback`). It begins with `/` and has no query.
    #[build(into, default = "/callback".into())]
    path: String,
    /// Sets how long the person may take (default 5 minutes).
    #[build(default = DEFAULT_TIMEOUT)]
    timeout: Duration,
    #[build(default = Opener::System)]
    opener: Opener,
    /// Sets what shows the URL to the person, before a browser is opened. With this, a login goes on where no browser can be
    /// opened: the person opens the URL. The URL contains the `state` of the login, so it does not belong into a log.
    #[build(dynamic)]
    #[expect(clippy::type_complexity, reason = "the derived setter takes any such function")]
    on_url: Option<Arc<dyn Fn(&str) + Send + Sync>>,
    pasted: Option<ReadPasted>,
}

type ReadPasted = Arc<dyn Fn(bool) -> BoxFuture<'static, Option<String>> + Send + Sync>;

impl Browser {
    /// Sets what opens a URL instead of the system's browser. It is called inside a task, so it must not block. The URL comes
    /// from a server: do not pass it to a shell.
    #[must_use]
    pub fn opener(mut self, open: impl Fn(&str) -> io::Result<()> + Send + Sync + 'static) -> Self {
        self.opener = Opener::Custom(Arc::new(open));
        self
    }

    /// Sets the function that reads the redirect from the person, for a browser on another machine. Such a browser
    /// cannot reach the port here, and shows the URL that it was sent to: `http://127.0.0.1:…`. The person enters that
    /// URL, or its query.
    ///
    /// `read` returns the next text, or `None` if there are no more. It is called with `false` at the start of each
    /// login, and with `true` after a text that is not the redirect of the login. The login also waits for the browser
    /// of this machine, and the first redirect counts.
    #[must_use]
    pub fn pasted<F>(mut self, read: impl Fn(bool) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Option<String>> + Send + 'static,
    {
        self.pasted = Some(Arc::new(move |again| read(again).boxed()));
        self
    }

    async fn bind(self) -> Result<Box<dyn RedirectListener>, LoginError> {
        if !self.path.starts_with('/')
            || !self.path.bytes().all(opener::is_plain)
            || self.path.contains(['?', '#'])
        {
            return Err(unavailable(
                "no listener for the redirect",
                io::Error::other("the path is none of a URL"),
            ));
        }
        let listener = Listener::bind(self.host.addresses(), self.port).await;
        let listener = listener.map_err(|error| unavailable("no listener for the redirect", error))?;
        let authority = format!("{}:{}", self.host.name(), listener.port());
        Ok(Box::new(BrowserListener { browser: self, listener, authority }))
    }
}

impl fmt::Debug for Browser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Browser")
            .field("port", &self.port)
            .field("host", &self.host)
            .field("path", &self.path)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl UserAgent for Browser {
    fn redirect_uris(&self) -> Vec<String> {
        let (host, path) = (self.host.name(), &self.path);
        match self.port {
            0 => vec![format!("http://{host}{path}")],
            port => vec![format!("http://{host}:{port}{path}")],
        }
    }

    fn listen(&self) -> BoxFuture<'static, Result<Box<dyn RedirectListener>, LoginError>> {
        self.clone().bind().boxed()
    }
}

struct BrowserListener {
    browser: Browser,
    listener: Listener,
    /// The host and port of the redirect URI, which are also what the browser sends as `Host`.
    authority: String,
}

impl RedirectListener for BrowserListener {
    fn redirect_uri(&self) -> String {
        format!("http://{}{}", self.authority, self.browser.path)
    }

    fn authorize(self: Box<Self>, url: Uri, state: String) -> BoxFuture<'static, Result<String, LoginError>> {
        let Self { browser, listener, authority } = *self;
        let after = browser.timeout;
        let login = async move {
            let url = opener::check(&url)?;
            let expected = Arc::new(request::Expected::new(authority, browser.path, &state));
            if let Some(show) = &browser.on_url {
                show(&url);
            }
            let pasted = std::pin::pin!(pasted(browser.pasted, &expected));
            let received = std::pin::pin!(listener.receive(expected.clone()));
            let redirect = select(received, pasted).map(|first| first.factor_first().0);
            let open = std::pin::pin!(browser.opener.open(url));
            // Opening ends only with an error.
            let (error, redirect) = match select(redirect, open).await {
                Either::Left((query, _)) => return Ok(query),
                Either::Right((error, redirect)) => (error, redirect),
            };
            if browser.on_url.is_none() {
                return Err(unavailable("no browser", error));
            }
            Ok(redirect.await)
        };
        async move { tokio::time::timeout(after, login).await.unwrap_or(Err(LoginError::TimedOut { after })) }
            .boxed()
    }
}

/// Waits for the person to paste the redirect, and returns its query. Waits for ever if nothing more can be pasted.
async fn pasted(read: Option<ReadPasted>, expected: &request::Expected) -> String {
    let mut again = false;
    if let Some(read) = read {
        while let Some(text) = read(again).await {
            if let Some(query) = expected.pasted(&text) {
                return query;
            }
            again = true;
        }
    }
    std::future::pending().await
}

fn unavailable(what: &'static str, cause: io::Error) -> LoginError {
    LoginError::Unavailable { what, cause: cause.into() }
}
