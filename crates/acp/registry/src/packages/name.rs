//! Names of packages with single versions, and nothing else that npm or uv would take: no URL, folder, tag, range or option.

use crate::executable::check_executable;
use crate::version::{is_plain, is_release};

/// A package with its version as its manager takes it, and the name of its executable where that is known.
pub(crate) type PinnedPackage = (String, Option<String>);

/// The package with its version, of npm: the wanted version in place of that of the index if `is_other`.
///
/// The executable is not known before npm was asked.
pub(crate) fn npm_package(package: &str, wanted: &str, is_other: bool) -> Result<PinnedPackage, String> {
    let (name, version) = split(package);
    if !is_name(name) {
        return Err(format!("`{package}` is not a package of npm's registry"));
    }
    check_executable(name)?;
    let version = if is_other { wanted } else { version.unwrap_or(wanted) };
    match is_release(version) {
        true => Ok((format!("{name}@{version}"), None)),
        false => Err(format!("`{version}` is not a single version of `{name}`")),
    }
}

/// The name, and the version after the last `@` that does not begin the name.
pub(crate) fn split(package: &str) -> (&str, Option<&str>) {
    match package.rfind('@').filter(|at| *at > 0) {
        Some(at) => (&package[..at], Some(&package[at + 1..])),
        None => (package, None),
    }
}

/// Whether this is a name of npm's registry, and no URL, folder, alias or option.
fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
        part.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric) && part.bytes().all(allowed)
    };
    name.len() <= 214
        && match name.strip_prefix('@') {
            Some(rest) => rest.split_once('/').is_some_and(|(scope, name)| is_part(scope) && is_part(name)),
            None => is_part(name),
        }
}

/// The package with its version, of PyPI, and the executable that uvx would run: that of the package's name.
pub(crate) fn pypi_package(package: &str, wanted: &str, is_other: bool) -> Result<PinnedPackage, String> {
    let (requirement, version) = match package.split_once("==").or_else(|| package.split_once('@')) {
        Some((name, version)) => (name.trim(), Some(version.trim())),
        None => (package, None),
    };
    let (name, extras) = match requirement.split_once('[') {
        Some((name, extras)) => (name, extras.strip_suffix(']')),
        None => (requirement, Some("a")),
    };
    let is_item = |text: &str| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        text.len() <= 200
            && text.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric)
            && text.bytes().all(allowed)
    };
    if !is_item(name) || !extras.is_some_and(|extras| extras.split(',').all(is_item)) {
        return Err(format!("`{package}` is not a package of PyPI"));
    }
    check_executable(name)?;
    let version = if is_other { wanted } else { version.unwrap_or(wanted) };
    // A name such as `latest` is not a version; the others begin with a digit.
    match is_plain(version) && version.starts_with(|first: char| first.is_ascii_digit()) {
        true => Ok((format!("{requirement}=={version}"), Some(name.to_owned()))),
        false => Err(format!("`{version}` is not a single version of `{name}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_single_versions_of_npm_are_taken() {
        let good = |package, wanted, other| npm_package(package, wanted, other).unwrap().0;
        assert_eq!(good("@a/b@1.2.3", "1.2.3", false), "@a/b@1.2.3");
        assert_eq!(good("b@1.2.3", "1.0.0", true), "b@1.0.0");
        assert_eq!(good("b", "1.0.0", false), "b@1.0.0");
        for bad in [
            "b@latest",
            "b@^1.0.0",
            "b@1",
            "b@npm:c@1.0.0",
            "git+https://h/x",
            "https://h/x.tgz",
            "../b",
            "./b@1.0.0",
            "-b@1.0.0",
            "--prefix",
            "@a@1.0.0",
            "@a/b/c@1.0.0",
            "b@1.0.0 c",
            "npm@1.0.0",
            "npx@1.0.0",
            "a/b@1.0.0",
        ] {
            assert!(npm_package(bad, "1.0.0", false).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_single_versions_of_pypi_are_taken() {
        let good = |package, wanted, other| pypi_package(package, wanted, other).unwrap();
        assert_eq!(good("a-b==1.2.3", "1.2.3", false), ("a-b==1.2.3".into(), Some("a-b".into())));
        assert_eq!(good("a@1.2", "1.2", false).0, "a==1.2");
        assert_eq!(good("a[acp,x]@1.2", "2.0", true), ("a[acp,x]==2.0".into(), Some("a".into())));
        for bad in [
            "a@latest",
            "a>=1",
            "a @ https://h/x",
            "git+https://h/x",
            "-a==1",
            "./a==1",
            "a[x==1",
            "uv==1.0",
            "pip@1.0",
            "a[]==1",
        ] {
            assert!(pypi_package(bad, "latest", false).is_err(), "{bad}");
        }
    }
}
