//! The causes of a missing response that a person can fix.

use std::error::Error;
use std::io;

use crate::client::HttpError;

/// The cause of a missing response, if a person can fix it. See [`HttpError::connect_fault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConnectFault {
    /// Nothing listens at the port.
    Refused,
    /// The URL has `https`, and the listener at the port does not speak TLS.
    NoTls,
    /// The listener at the port does not speak HTTP. It may speak TLS, and the URL has `http`.
    NoHttp,
    /// The server's certificate is signed by an authority that is not trusted.
    UnknownIssuer,
    /// The server's certificate is for another name.
    OtherName,
    /// The server's certificate has expired.
    Expired,
    /// The root certificates cannot be used: a [`CertificateError`](crate::client::CertificateError).
    Certificates,
    /// The process has reached its limit of open files.
    TooManyFiles,
}

impl HttpError {
    /// Returns why there was no response, if that is known and a person can fix it.
    pub fn connect_fault(&self) -> Option<ConnectFault> {
        self.source().and_then(ConnectFault::of)
    }
}

impl ConnectFault {
    /// The first such fault among an error of an [`HttpClient`](crate::client::HttpClient) and its causes.
    pub fn of(error: &(dyn Error + 'static)) -> Option<Self> {
        std::iter::successors(Some(error), |&error| error.source()).find_map(of_cause)
    }
}

fn of_cause(cause: &(dyn Error + 'static)) -> Option<ConnectFault> {
    #[cfg(any(feature = "reqwest", feature = "rustls-no-provider"))]
    if cause.is::<crate::client::CertificateError>() {
        return Some(ConnectFault::Certificates);
    }
    #[cfg(feature = "rustls-no-provider")]
    if let Some(error) = cause.downcast_ref() {
        return of_tls(error);
    }
    #[cfg(feature = "rustls-no-provider")]
    if let Some(error) = cause.downcast_ref::<::hyper::Error>() {
        return error.is_parse().then_some(ConnectFault::NoHttp);
    }
    let error: &io::Error = cause.downcast_ref()?;
    // The sources of an error in an `io::Error` do not begin with that error itself.
    if let Some(inner) = error.get_ref() {
        return of_cause(inner);
    }
    // 23 and 24 on every Unix: `ENFILE` and `EMFILE`.
    match error.raw_os_error() {
        Some(23 | 24) if cfg!(unix) => Some(ConnectFault::TooManyFiles),
        _ => (error.kind() == io::ErrorKind::ConnectionRefused).then_some(ConnectFault::Refused),
    }
}

#[cfg(feature = "rustls-no-provider")]
fn of_tls(error: &rustls::Error) -> Option<ConnectFault> {
    use rustls::CertificateError as Certificate;
    Some(match error {
        rustls::Error::InvalidMessage(_) => ConnectFault::NoTls,
        rustls::Error::InvalidCertificate(Certificate::UnknownIssuer) => ConnectFault::UnknownIssuer,
        rustls::Error::InvalidCertificate(
            Certificate::NotValidForName | Certificate::NotValidForNameContext { .. },
        ) => ConnectFault::OtherName,
        rustls::Error::InvalidCertificate(Certificate::Expired | Certificate::ExpiredContext { .. }) => {
            ConnectFault::Expired
        }
        _ => return None,
    })
}
