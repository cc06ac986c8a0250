//! Programs of version control.

use super::row::{Row, clusters, words};

pub(super) const ROWS: &[Row] = &[
    clusters(
        "git",
        "Cc",
        "-c --config-env --exec-path --git-dir bisect/run config !config>--get !config>--get-all !config>--get-regexp \
         !config>--list !config>-l !config>get !config>list credential credential-cache credential-store cvsserver daemon \
         difftool fast-import filter-branch filter-repo for-each-repo hook http-backend imap-send instaweb \
         maintenance/register maintenance/start merge-index merge-one-file mergetool p4 quiltimport remote-ext remote-fd \
         send-email shell submodule/foreach svn upload-archive upload-pack web--browse",
    )
    .leading(),
    words(
        "git",
        "--exec --ext-diff --export-marks --extcmd --open-files-in-pager --output --output-directory --receive-pack \
         --upload-archive --upload-pack ext::* fd::*",
    ),
    clusters("git", "o", "-o").within("archive bugreport diagnose index-pack mailsplit"),
    clusters("git", "obucj", "-c -u --config --template").within("clone"),
    words("git", "--template").within("init"),
    clusters("git", "ovU", "-o").within("format-patch"),
    clusters("git", "ABCefmO", "-O").within("grep"),
    clusters("git", "xsXCS", "-x").within("rebase"),
    words("git", "create").within("bundle"),
    words("git", "--prefix").within("checkout-index"),
    words("git", "--in-place").within("interpret-trailers"),
    words("hg", "--command --config --config-file --debugger --remotecmd --ssh --tool"),
    clusters("hg", "RrbBu", "-e").within("bu+ndle cl+one id+entify in in+coming o+utgoing pul+l pus+h"),
    clusters("hg", "Rr", "-c").within("bi+sect"),
    clusters("hg", "Rrdlu", "-t").within("ba+ckout g+raft m+erge reb+ase res+olve u+pdate"),
    clusters("hg", "RroIX", "-o --output").within("ca+t exp+ort"),
    words("svn", "--config-option --config-dir --diff-cmd --diff3-cmd --editor-cmd"),
    clusters("gh", "obucj", "-c -u --config --template --upload-pack").within("--"),
    words("gh", "alias ext extension extensions config !alias>list !config>get !config>list !ext>list !extension>list \
     !extensions>list"),
];
