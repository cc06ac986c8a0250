//! Reads the settings from the command line and the standard variables of OpenTelemetry.

use std::env;

use anyhow::Result;

use super::collector_url::CollectorUrl;
use crate::arguments::{Arguments, Command};
use crate::failure::Usage;
use crate::output::text::Notes;

/// The variable with the URL of a collector.
pub(super) const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
/// The variable with the protocol to use.
const PROTOCOL: &str = "OTEL_EXPORTER_OTLP_PROTOCOL";
/// The only supported protocol.
const SUPPORTED_PROTOCOL: &str = "http/protobuf";

/// The enabled telemetry.
pub(super) struct Settings {
    /// The command's part of the service name.
    pub(super) service: &'static str,
    /// The URL for spans.
    pub(super) traces: Option<CollectorUrl>,
    /// The URL for metrics.
    pub(super) metrics: Option<CollectorUrl>,
    /// Whether metrics are shown on a page.
    pub(super) has_registry: bool,
}

impl Settings {
    /// `None` if telemetry is not enabled.
    pub(super) fn of(arguments: &Arguments, notes: &Notes) -> Result<Option<Self>> {
        let option = arguments.telemetry.otlp.as_ref();
        let Some(service) = arguments.command.connecting() else {
            return match option {
                Some(_) => Err(Usage("--otlp: this command has no connections to report".into()).into()),
                None => Ok(None),
            };
        };
        let has_registry = matches!(&arguments.command, Command::Server(server) if server.operations.pages.address().is_some());
        let (traces, metrics) = match endpoints(option, &variable) {
            Ok(endpoints) => endpoints,
            // The variables are for many programs, so a wrong one does not stop this one.
            Err(why) => {
                notes.add(&format!("warning: no spans and metrics are sent: {why}"));
                (None, None)
            }
        };
        let is_asked_for = has_registry || traces.is_some() || metrics.is_some();
        Ok(is_asked_for.then_some(Self { service, traces, metrics, has_registry }))
    }
}

/// The URLs for spans and for metrics.
fn endpoints(
    option: Option<&CollectorUrl>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(Option<CollectorUrl>, Option<CollectorUrl>), String> {
    if variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return Ok((None, None));
    }
    let signal = |name: &str, path: &str| {
        if variable(&format!("OTEL_{name}_EXPORTER")).as_deref() == Some("none") {
            return Ok(None);
        }
        if let Some(url) = option {
            return Ok(Some(url.below(path)));
        }
        let own = format!("OTEL_EXPORTER_OTLP_{name}_ENDPOINT");
        let url = match (variable(&own), variable(ENDPOINT)) {
            (Some(url), _) => read(&own, &url)?,
            (None, Some(url)) => read(ENDPOINT, &url)?.below(path),
            (None, None) => return Ok(None),
        };
        let own = format!("OTEL_EXPORTER_OTLP_{name}_PROTOCOL");
        let (by, protocol) = match variable(&own) {
            Some(protocol) => (&*own, Some(protocol)),
            None => (PROTOCOL, variable(PROTOCOL)),
        };
        match protocol.as_deref() {
            None | Some(SUPPORTED_PROTOCOL) => Ok(Some(url)),
            Some(_) => Err(format!("{by} names another protocol than {SUPPORTED_PROTOCOL}")),
        }
    };
    Ok((signal("TRACES", "/v1/traces")?, signal("METRICS", "/v1/metrics")?))
}

fn read(variable: &str, url: &str) -> Result<CollectorUrl, String> {
    url.parse().map_err(|why| format!("{variable}: {why}"))
}

/// A variable that is not empty: by the specification, an empty one counts as unset.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "http://c:4318";

    fn of(option: Option<&str>, variables: &[(&str, &str)]) -> Result<[Option<String>; 2], String> {
        let option = option.map(|url| url.parse().unwrap());
        let (traces, metrics) = endpoints(option.as_ref(), &|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })?;
        Ok([traces, metrics].map(|url| url.map(|url| url.as_str().to_owned())))
    }

    fn both(origin: &str) -> Result<[Option<String>; 2], String> {
        Ok(["traces", "metrics"].map(|signal| Some(format!("{origin}/v1/{signal}"))))
    }

    #[test]
    fn the_option_comes_before_the_variables() {
        assert_eq!(of(None, &[]), Ok([None, None]));
        assert_eq!(of(Some(URL), &[]), both(URL));
        assert_eq!(of(None, &[(ENDPOINT, "http://e/")]), both("http://e"));
        assert_eq!(of(Some(URL), &[(ENDPOINT, "http://e"), (PROTOCOL, "grpc")]), both(URL));
        let own = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t/x");
        assert_eq!(of(None, &[own]), Ok([Some("http://t/x".into()), None]));
    }

    #[test]
    fn variables_disable_telemetry() {
        assert_eq!(of(Some(URL), &[("OTEL_SDK_DISABLED", "True")]), Ok([None, None]));
        let none = ("OTEL_METRICS_EXPORTER", "none");
        assert_eq!(of(Some(URL), &[none]), Ok([Some(format!("{URL}/v1/traces")), None]));
    }

    #[test]
    fn setting_that_cannot_be_obeyed_is_named() {
        let grpc = of(None, &[(ENDPOINT, URL), (PROTOCOL, "grpc")]);
        assert_eq!(grpc, Err(format!("{PROTOCOL} names another protocol than http/protobuf")));
        assert!(
            of(None, &[(ENDPOINT, "c:4318")]).unwrap_err().starts_with("OTEL_EXPORTER_OTLP_ENDPOINT: write ")
        );
    }
}
