use std::fmt;

/// Something that whoever runs a server should know. [`Serve::on_warning`](crate::server::Serve::on_warning) tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServeWarning {
    /// The process may not open as many files as there may be connections.
    #[non_exhaustive]
    FewDescriptors {
        /// How many connections there may be instead.
        connections: usize,
        /// How many were wanted: [`Serve::connection_limit`](crate::server::Serve::connection_limit).
        wanted: usize,
        /// The limit of the process on open files, which `ulimit -n` shows.
        descriptors: u64,
    },
}

impl fmt::Display for ServeWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::FewDescriptors { connections, wanted, descriptors } = self;
        write!(
            f,
            "at most {connections} connections at a time instead of {wanted}, because this process may open \
             {descriptors} files (ulimit -n)"
        )
    }
}

/// How many connections there can be of as many as are wanted, and a warning where that is less. An eighth of all
/// descriptors, but no more than 512, is left to everything else that the process does.
pub(crate) fn fit(wanted: usize, descriptors: Option<u64>) -> (usize, Option<ServeWarning>) {
    let Some(descriptors) = descriptors else {
        return (wanted, None);
    };
    let fitting = descriptors - (descriptors / 8).clamp(32, 512).min(descriptors);
    let fitting = usize::try_from(fitting).unwrap_or(usize::MAX).max(1);
    if fitting >= wanted {
        return (wanted, None);
    }
    (fitting, Some(ServeWarning::FewDescriptors { connections: fitting, wanted, descriptors }))
}

/// How many files this process may open, where there is a limit.
pub(crate) fn limit() -> Option<u64> {
    #[cfg(unix)]
    return rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    #[cfg(not(unix))]
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_as_many_as_descriptors_allow() {
        assert_eq!(fit(16_384, None), (16_384, None));
        assert_eq!(fit(16_384, Some(1 << 20)), (16_384, None));
        assert_eq!(fit(800, Some(1024)), (800, None));
        assert_eq!((fit(16_384, Some(256)).0, fit(16_384, Some(10)).0, fit(16_384, Some(0)).0), (224, 1, 1));
        let (connections, warning) = fit(16_384, Some(1024));
        assert_eq!(connections, 896);
        let warning = warning.unwrap().to_string();
        assert!(warning.starts_with("at most 896 connections at a time instead of 16384"), "{warning}");
    }
}
