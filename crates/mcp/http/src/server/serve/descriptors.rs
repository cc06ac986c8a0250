//! Reduces the connection limit to what the process's limit on open files allows, and warns if that is too few.

use std::fmt;

/// A condition that limits the server. [`Serve::on_warning`](crate::server::Serve::on_warning) sets its receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServeWarning {
    /// The process may open too few files: fewer than the set
    /// [`Serve::connection_limit`](crate::server::Serve::connection_limit), or fewer than 128 if no limit is set.
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

/// This many connections cause no warning if no number is set. Usual limits on open files leave 224 and 896.
const ENOUGH: usize = 128;

/// The number of connections that is wanted, or else the default, reduced to what the descriptors allow; and a warning if that
/// is too few. An eighth of all descriptors, but no more than 512, is left to everything else in the process.
pub(crate) fn fit(
    asked: Option<usize>,
    default: usize,
    descriptors: Option<u64>,
) -> (usize, Option<ServeWarning>) {
    let wanted = asked.unwrap_or(default);
    let Some(descriptors) = descriptors else {
        return (wanted, None);
    };
    let fitting = descriptors - (descriptors / 8).clamp(32, 512).min(descriptors);
    let fitting = usize::try_from(fitting).unwrap_or(usize::MAX).max(1);
    if fitting >= wanted {
        return (wanted, None);
    }
    let is_too_few = asked.is_some() || fitting < ENOUGH;
    let warning = ServeWarning::FewDescriptors { connections: fitting, wanted, descriptors };
    (fitting, is_too_few.then_some(warning))
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
        let asked = |wanted, descriptors| fit(Some(wanted), 7, descriptors);
        assert_eq!(asked(16_384, None), (16_384, None));
        assert_eq!(asked(16_384, Some(1 << 20)), (16_384, None));
        assert_eq!(asked(800, Some(1024)), (800, None));
        assert_eq!(
            (asked(16_384, Some(256)).0, asked(16_384, Some(10)).0, asked(16_384, Some(0)).0),
            (224, 1, 1)
        );
        let (connections, warning) = asked(16_384, Some(1024));
        assert_eq!(connections, 896);
        let warning = warning.unwrap().to_string();
        assert!(warning.starts_with("at most 896 connections at a time instead of 16384"), "{warning}");
    }

    /// The usual limits of systems cause no warning.
    #[test]
    fn default_limit_warns_below_128_connections() {
        for (descriptors, connections, warns) in
            [(1024, 896, false), (256, 224, false), (160, 128, false), (128, 96, true), (64, 32, true)]
        {
            let (fitting, warning) = fit(None, 16_384, Some(descriptors));
            assert_eq!((fitting, warning.is_some()), (connections, warns), "{descriptors}");
        }
    }
}
