//! The secrets that the user gave to reach a server, which no report shows.

use std::sync::Arc;

use crate::settings::config::Config;
use crate::subject::Target;

/// The values of the user's headers, and those of the URL's query. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Secrets(Arc<agentwire_recording::Secrets>);

impl Secrets {
    pub(crate) fn of(config: &Config) -> Self {
        let mut secrets = agentwire_recording::Secrets::default();
        for (_, value) in &config.headers {
            secrets.seek(value);
            // A server may repeat it without its scheme, such as `Bearer`.
            value.split_whitespace().for_each(|word| secrets.seek(word));
        }
        if let Target::Url(url) = &config.target {
            let query = url.split_once('?').map_or("", |(_, query)| query);
            query
                .split('&')
                .for_each(|pair| secrets.seek(pair.split_once('=').map_or(pair, |(_, value)| value)));
        }
        Self(Arc::new(secrets))
    }

    /// The text with masks in the places of the secrets.
    pub(crate) fn hide(&self, text: String) -> String {
        self.0.replace(&text).unwrap_or(text)
    }

    /// Puts masks in the places of the secrets.
    pub(crate) fn hide_in(&self, bytes: &mut Vec<u8>) {
        if let Some(masked) = self.0.replace(&String::from_utf8_lossy(bytes)) {
            *bytes = masked.into_bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::SubjectKind;

    #[test]
    fn headers_and_queries_are_hidden_in_each_form() {
        let url = "http://host/mcp?key=SECRET+query";
        let mut config = Config::new(SubjectKind::McpServer, Target::Url(url.into()));
        config.headers = vec![
            ("authorization".into(), "Bearer SECRET-token".into()),
            ("x-custom".into(), "SECRET\"custom".into()),
        ];
        let secrets = Secrets::of(&config);
        let text = r#"SECRET-token SECRET+query SECRET%2Bquery "SECRET\"custom" Bearer SECRET-token"#;
        let hidden = secrets.hide(text.into());
        assert!(!hidden.contains("SECRET"), "{hidden}");
        let mut bytes = [b"\xff ", text.as_bytes()].concat();
        secrets.hide_in(&mut bytes);
        assert!(!String::from_utf8_lossy(&bytes).contains("SECRET"));
        assert_eq!(Secrets::default().hide("SECRET".into()), "SECRET");
    }
}
