//! The configurations of protocol runtimes.

/// For protocol runtimes, **exempt from semver**: defines a runtime's `Config` with the settings that make sense in it.
///
/// It names the dialect, which is not a setting, and the settings of [`Config`](crate::Config). One that has another default
/// than there shows it: the text for the docs, and the value.
///
/// ```
/// agentwire_peer::runtime_config! {
///     /// The configuration of a connection.
///     MCP: request_limit, value_limit["32 MiB" = 32 << 20], observer
/// }
///
/// let config = agentwire_peer::Config::from(Config::new().request_limit(8));
/// assert_eq!((config.connection.request_limit, config.value_limit), (8, 32 << 20));
/// ```
#[macro_export]
macro_rules! runtime_config {
    ($(#[$doc:meta])* $dialect:ident: $($setting:ident $([$default:literal = $value:expr])?),+ $(,)?) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct Config(pub(crate) $crate::Config);

        impl Config {
            /// Returns the defaults.
            #[must_use]
            pub fn new() -> Self {
                let config = $crate::Config::new($crate::Dialect::$dialect);
                $($(let config = config.$setting($value);)?)+
                Self(config)
            }

            $($crate::__runtime_setting!($setting $($default)?);)+
        }

        impl Default for Config {
            fn default() -> Self {
                Self::new()
            }
        }

        impl From<Config> for $crate::Config {
            fn from(config: Config) -> Self {
                config.0
            }
        }
    };
}

/// The setter of one setting, with its docs.
#[doc(hidden)]
#[macro_export]
macro_rules! __runtime_setting {
    (request_limit) => {
        $crate::__runtime_setting!(request_limit: usize =>
            "Sets how many requests of the peer may be unanswered (default 1024). One more is refused with an error that names the limit.");
    };
    (request_bytes_limit) => { $crate::__runtime_setting!(request_bytes_limit "32 MiB"); };
    (request_bytes_limit $default:literal) => {
        $crate::__runtime_setting!(request_bytes_limit: usize => concat!(
            "Sets the total size of the params of requests whose handlers are at work, in bytes (default ", $default,
            "). A request that exceeds it is refused with an error that names the limit, unless it is the only one."));
    };
    (value_limit) => { $crate::__runtime_setting!(value_limit "no limit"); };
    (value_limit $default:literal) => {
        $crate::__runtime_setting!(value_limit: usize => concat!(
            "Sets how much memory a decoded value of the peer may take, in bytes (default ", $default,
            "). It applies to the results of calls, and to all messages that the runtime decodes with this limit. The estimate \
            is too high rather than too low, and does not count the text of strings."));
    };
    (high_water) => {
        $crate::__runtime_setting!(high_water: usize =>
            "Sets how many bytes may be queued before calls and notifications wait (default 64 KiB).");
    };
    (backlog_limit) => {
        $crate::__runtime_setting!(backlog_limit: usize =>
            "Sets how many bytes may be queued before handlers wait, and before reading pauses while the limit of requests is reached (default 1 MiB).");
    };
    (batch_response_limit) => {
        $crate::__runtime_setting!(batch_response_limit: usize =>
            "Sets how many bytes of responses may wait for the rest of their batches (default 16 MiB). A response that exceeds it becomes an error.");
    };
    (drain) => {
        $crate::__runtime_setting!(drain: ::std::time::Duration =>
            "Sets how long handlers may go on after the peer has closed its side, or after the signal to shut down (default 1 s).");
    };
    (close) => {
        $crate::__runtime_setting!(close: ::std::time::Duration =>
            "Sets how long the transport may take to close before it is dropped (default 10 s).");
    };
    (stall) => {
        $crate::__runtime_setting!(stall: ::std::time::Duration =>
            "Sets how long a side may accept no data while `backlog_limit` bytes are queued for it, before its connection fails (default 60 s).");
    };
    (shutdown) => {
        /// Sets the signal at which each connection that is served with this configuration ends (default: none). From then on
        /// further requests get an error. The handlers at work have [`drain`](Self::drain) to end, and may still ask the
        /// peer. Then the transport is closed.
        #[must_use]
        pub fn shutdown(self, signal: impl ::std::future::Future<Output = ()> + Send + 'static) -> Self {
            Self(self.0.shutdown(signal))
        }
    };
    (observer) => {
        $crate::__runtime_setting!(observer: ::std::sync::Arc<dyn $crate::observe::Observer> =>
            "Sets what observes the connection (default: nothing).");
    };
    ($name:ident: $type:ty => $doc:expr) => {
        #[doc = $doc]
        #[must_use]
        pub fn $name(self, $name: $type) -> Self {
            Self(self.0.$name($name))
        }
    };
}
