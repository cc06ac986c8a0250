//! Compares and checks versions.

use semver::Version;

/// Whether `candidate` comes after `installed` by the rules of SemVer. A version that is not SemVer is newer if it differs.
pub fn is_newer(candidate: &str, installed: &str) -> bool {
    match (Version::parse(candidate), Version::parse(installed)) {
        (Ok(candidate), Ok(installed)) => candidate.cmp_precedence(&installed).is_gt(),
        _ => candidate != installed,
    }
}

/// Whether a version can be a part of a folder's name and of an argument.
pub(crate) fn is_plain(version: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+' | b'_');
    version.len() <= 64
        && version.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric)
        && version.bytes().all(allowed)
}

/// Whether npm takes the version for one release, and not for a tag or a range.
pub(crate) fn is_release(version: &str) -> bool {
    Version::parse(version).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_semver() {
        assert!(is_newer("0.10.0", "0.9.1"));
        assert!(!is_newer("0.9.1", "0.10.0") && !is_newer("1.0.0", "1.0.0"));
        assert!(is_newer("1.0.0", "1.0.0-beta.2") && !is_newer("1.0.0+b", "1.0.0+a"));
        assert!(is_newer("2026.1", "2025.1") && !is_newer("x", "x"));
    }

    #[test]
    fn a_plain_version_is_no_path_and_no_option() {
        for plain in ["1.2.3", "1.0.0-beta.1+b_2", "v1"] {
            assert!(is_plain(plain), "{plain}");
        }
        for other in ["", "../1", "-1", ".1", "1/2", "1 2", "1\n", "1;2", &"1".repeat(65)] {
            assert!(!is_plain(other), "{other}");
        }
        assert!(is_release("1.2.3") && !is_release("latest") && !is_release("^1.2.3") && !is_release("1"));
    }
}
