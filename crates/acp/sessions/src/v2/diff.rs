//! Converts changes of files: version 1 has the text before and after, version 2 the kind of the change and a patch.

use std::fmt::Write;
use std::path::Path;

use agentwire_acp_schema::v1::Diff;
use agentwire_acp_schema::v2::{self, DiffChange, DiffFileType, DiffPatch, DiffPatchFormat};

/// The longest texts, both together, that get a patch, in bytes. A client must work without a patch, and a patch is at most
/// about half as long again as the texts.
const PATCH_LIMIT: usize = 2 << 20;

/// How many lines around the change a patch shows.
const CONTEXT: usize = 3;

/// Returns a change as the type of version 2.
pub(super) fn diff(diff: Diff) -> v2::Diff {
    let change = match &diff.old_text {
        Some(_) => DiffChange::modify(&diff.path),
        None => DiffChange::add(&diff.path),
    };
    let mut same = v2::Diff::new([change.file_type(DiffFileType::Text)]);
    let bytes = diff.old_text.as_ref().map_or(0, String::len) + diff.new_text.len();
    if bytes <= PATCH_LIMIT {
        let text = patch(&diff.path, diff.old_text.as_deref(), &diff.new_text);
        same.patch = text.map(|text| DiffPatch::new(DiffPatchFormat::GitPatch, text));
    }
    same.meta = diff.meta;
    same
}

/// Returns the patch as `git diff` writes it, with one hunk from the first line that differs to the last. Returns none for a
/// path with a line break, which would need quotation.
fn patch(path: &Path, old: Option<&str>, new: &str) -> Option<String> {
    let path = path.to_str().filter(|path| !path.contains(|c: char| c.is_control() || c == '"'))?;
    let mut text = format!("diff --git {path} {path}\n");
    if old.is_none() {
        text.push_str("new file mode 100644\n");
    }
    let (old_lines, new_lines) = (lines(old.unwrap_or_default()), lines(new));
    if old_lines == new_lines {
        return Some(text);
    }
    let from = if old.is_some() { path } else { "/dev/null" };
    let same = |(a, b): &(&&str, &&str)| a == b;
    let prefix = old_lines.iter().zip(&new_lines).take_while(same).count();
    let rest = (&old_lines[prefix..], &new_lines[prefix..]);
    let suffix = rest.0.iter().rev().zip(rest.1.iter().rev()).take_while(same).count();
    let begin = prefix.saturating_sub(CONTEXT);
    let after = suffix.min(CONTEXT);
    let (old_end, new_end) = (old_lines.len() - suffix, new_lines.len() - suffix);
    let range = |end: usize| {
        let count = end + after - begin;
        // An empty range names the line before it.
        format!("{},{count}", if count == 0 { begin } else { begin + 1 })
    };
    // Writing to a string cannot fail.
    let _written = write!(text, "--- {from}\n+++ {path}\n@@ -{} +{} @@\n", range(old_end), range(new_end));
    let mut push = |mark: char, lines: &[&str]| {
        for line in lines {
            text.push(mark);
            text.push_str(line);
            if !line.ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
    };
    push(' ', &old_lines[begin..prefix]);
    push('-', &old_lines[prefix..old_end]);
    push('+', &new_lines[prefix..new_end]);
    push(' ', &old_lines[old_end..old_end + after]);
    Some(text)
}

/// Splits a text into lines that keep their line feed.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patched(old: Option<&str>, new: &str) -> String {
        patch(Path::new("/a b"), old, new).unwrap()
    }

    #[test]
    fn a_patch_is_as_git_writes_it() {
        let head = "diff --git /a b /a b\n";
        assert_eq!(
            patched(None, "x\ny"),
            format!(
                "{head}new file mode 100644\n--- /dev/null\n+++ /a b\n@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file\n"
            )
        );
        assert_eq!(
            patched(Some("1\n2\n3\n4\n5\n6\n7\n8\n9\n"), "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            format!("{head}--- /a b\n+++ /a b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n")
        );
        assert_eq!(
            patched(Some("1\n2"), "1\n2\n"),
            format!("{head}--- /a b\n+++ /a b\n@@ -1,2 +1,2 @@\n 1\n-2\n\\ No newline at end of file\n+2\n")
        );
        assert_eq!(patched(Some("1\n"), ""), format!("{head}--- /a b\n+++ /a b\n@@ -1,1 +0,0 @@\n-1\n"));
        assert_eq!(patched(Some("1\n"), "1\n"), head);
        assert_eq!(patched(None, ""), format!("{head}new file mode 100644\n"));
        assert_eq!(patch(Path::new("/a\nb"), None, "x"), None);
    }

    #[test]
    fn the_patch_of_a_long_text_is_left_out() {
        let long = diff(Diff::new("/a", "x".repeat(PATCH_LIMIT + 1)));
        assert!(long.patch.is_none() && long.changes.len() == 1);
        assert!(diff(Diff::new("/a", "x".repeat(PATCH_LIMIT))).patch.is_some());
    }
}
