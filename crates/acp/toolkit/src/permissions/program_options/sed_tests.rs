//! Scripts of `sed`, and whether they run programs or write files.

use super::sed_script::running_words;

/// Scripts that run a program or write a file, in at least one version of sed.
const RUNNING: &[&str] = &[
    "1eid",
    "1e",
    "e",
    "e id",
    "$e id",
    "{eid}",
    "1{;eid;}",
    "/x/eid",
    "/x/ eid",
    "/x/Ieid",
    "\\,a,eid",
    "\\xaxeid",
    "1!eid",
    "1 ! e",
    "1,2eid",
    "1~2eid",
    "0~3e id",
    "1,+2e",
    "/a/,/b/eid",
    "p;eid",
    ":a;eid",
    "ba;:a;eid",
    "y/a/b/;eid",
    "a\\\ntext\neid",
    "# x\neid",
    "l;eid",
    "r x\neid",
    "wout",
    "1wout",
    "w /tmp/x",
    "1W/tmp/x",
    "$!{wout\n}",
    "s/a/b/e",
    "s,x,id,e",
    "s|x|id|ge",
    "s/x/id/ep",
    "s/x/id/2e",
    "s/a/b/w/tmp/x",
    "s/a/b/pw out",
    "s/a\\/b/c/e",
    "s/[/]/x/e",
    "s/[]/]/x/e",
    "s/[[:alpha:]/]/x/e",
    "/[/]/e",
    "s e x ee",
    "s/a/b/;eid",
    "w/dev/stdout2",
    "s:[:space:]:e:e",
    "s/[\\]/x/;/e #]/p",
    "s/[]/[]/;/e #/p",
    "s/[/]/;/e #/p",
    "s/a/b/\\\ne",
    "a x\\\\\neid",
    ":a=r;eid",
    ":a{r;eid",
    ":a/x/r;eid",
    ":a!i;eid",
    ":\tr;eid",
    "t\tr;:r;eid",
    ":\u{a0}r;eid",
    ":a#;w f",
    ":a}r;w f",
    "s/x/y/ i;eid",
    "s/x/y/\ti;eid",
    "s/x/y/ 1i;eid",
    "s/x/y/M i;eid",
    "s/x/y/}i;eid",
    "s_.*_id #[:alpha:]r_e",
    "s_x_[:alpha:]r_w f",
    "#\rw out",
];

/// Scripts that do neither.
const EDITING: &[&str] = &[
    "1,5p",
    "$p",
    "5q",
    "/error/p",
    "/we/d",
    "s/we/me/",
    "s/foo/w/",
    "s/foo/e/g",
    "s/e/w/2p",
    "s,w,e,",
    "/w/,/e/p",
    "\\,w,p",
    "y/we/ew/",
    "a we",
    "c\\we",
    ":we;bwe",
    "t w",
    "r we",
    "1{s/a/b/;p}",
    "/a/!{d;}",
    "s/a/b/;s/c/d/",
    "N;P;D",
    "1~2d",
    "0~3d",
    "2,+3d",
    "/a/I,+1p",
    "",
    "l 5",
    "s/\\/e/w/",
    "s/[[:space:]]*$//",
    "s|[^/]*e$|w|",
    "s/^[ \\t]*we//",
    "s/\\[we\\]/[ew]/2g",
    "/^#/d; s/ *$//",
    ":a;N;$!ba;s/\\n/ /g",
    "{N;ba}",
    "/x/{s/a/b/;}",
    "s/a/b/ ; s/c/d/",
];

fn runs(words: &[&str]) -> Vec<usize> {
    let words: Vec<String> = std::iter::once(&"sed").chain(words).map(|word| (*word).to_owned()).collect();
    running_words(&words, 1)
}

#[test]
fn scripts_that_run_programs_or_write_files_are_found() {
    for &script in RUNNING {
        assert_eq!(runs(&[script, "f"]), [1], "{script}");
        assert_eq!(runs(&["-n", script, "f"]), [2], "{script}");
        assert_eq!(runs(&["p", &format!("-ne{script}")]), [2], "{script}");
        assert_eq!(runs(&[&format!("--expr={script}"), "f"]), [1], "{script}");
    }
    for (words, found) in [
        (&["-e", "p", "-e", "1eid", "f"][..], &[4][..]),
        (&["-e", "{", "-e", "eid", "-e", "}"], &[4]),
        (&["--expression", "1eid", "f"], &[2]),
        (&["-l", "5", "1eid"], &[3]),
        (&["--", "1eid"], &[2]),
        (&["-i", "", "1wout", "f"], &[3]),
        (&["-i", ".bak", "1wout", "f"], &[2, 3]),
        (&["-i", "1eid", "f"], &[2]),
        (&["-E", "-i.bak", "1eid", "f"], &[3]),
        // What only some versions read, and what none does.
        (&["s/[/]/x/g", "f"], &[1]),
        (&["p # a comment", "f"], &[1]),
        (&["w out", "-e", "p", "f"], &[1]),
        (&["-l", "w out", "p"], &[2]),
        (&["-lew out", "p"], &[1]),
        (&["-i", "p", "w out", "f"], &[3]),
        (&["unknown", "f"], &[1]),
        (&["s/a/b", "f"], &[1]),
    ] {
        assert_eq!(runs(words), found, "{words:?}");
    }
    assert_eq!(runs(&[&format!("a{}w out", "x".repeat(2_047))]), [1]);
}

#[test]
fn scripts_that_only_edit_are_not_found() {
    for &script in EDITING {
        assert_eq!(runs(&["-n", script, "we", "e", "w"]), [0; 0], "{script}");
        assert_eq!(runs(&["-e", script, "we"]), [0; 0], "{script}");
    }
    for words in [
        &["-i", "s/a/b/", "wiki.md"][..],
        &["-i", "5d", "wiki.md"],
        &["--quiet", "5p", "e"],
        &["-f", "x", "eid"],
        &[],
    ] {
        assert_eq!(runs(words), [0; 0], "{words:?}");
    }
}
