//! Tests the output of Markdown, as a whole and in pieces.

#[cfg(unix)]
use std::time::Duration;

#[cfg(unix)]
use rustix::time::{ClockId, clock_gettime};

use super::*;

/// The drawing, with the styles as tags.
fn drawn(text: &str) -> String {
    let mut markdown = Markdown::default();
    let shown = markdown.push(text) + &markdown.finish();
    let tags = [
        ("\x1b[1m", "<b>"),
        ("\x1b[2m", "<dim>"),
        ("\x1b[3m", "<i>"),
        ("\x1b[36m", "<code>"),
        ("\x1b[0m", "</>"),
    ];
    tags.iter().fold(shown, |shown, (escape, tag)| shown.replace(escape, tag))
}

#[test]
fn marked_text_is_drawn() {
    let rows = [
        ("plain\ntext", "plain\ntext"),
        ("# Head *one*\nx", "<b>Head </><b><i>one</>\nx"),
        ("####### no", "####### no"),
        ("#hashtag", "#hashtag"),
        ("a **bold** b", "a <b>bold</> b"),
        ("a *slanted* b", "a <i>slanted</> b"),
        ("_so_ too", "<i>so</> too"),
        ("***both***", "<b><i>both</>"),
        ("**a *b* c**", "<b>a </><b><i>b</><b> c</>"),
        ("run `ls *` now", "run <code>ls *</> now"),
        ("``a`b``", "<code>a`b</>"),
        ("- one\n  * two\n+ three", "• one\n  • two\n• three"),
        ("1. one", "1. one"),
        ("---", "---"),
        ("**Bold** first", "<b>Bold</> first"),
        (
            "```rust\nlet *a* = 1;\n\n  ``\n```\n*b*",
            "<dim>```rust</>\n<code>let *a* = 1;</>\n\n<code>  ``</>\n<dim>```</>\n<i>b</>",
        ),
        ("~~~\n```\n~~~~\nx", "<dim>~~~</>\n<code>```</>\n<dim>~~~~</>\nx"),
        ("```code``` in a line", "<code>code</> in a line"),
        ("[text](uri)", "[text](uri)"),
    ];
    for (text, expected) in rows {
        assert_eq!(drawn(text), expected, "{text}");
    }
}

#[test]
fn other_text_stays() {
    for text in [
        "2 * 3 * 4",
        "a_b_c",
        "*args and **kwargs",
        "`open",
        "**open\nand not closed**",
        "a ** b ** c",
        "****",
        "* ",
        "_",
        "x*",
        "   \t ",
        "#",
        "`",
        "~~",
        "*a **b",
        "a\\",
        "C:\\dir\\file",
    ] {
        let shown = drawn(text).replace("• ", "* ");
        assert_eq!(shown, text, "{text}");
    }
    assert_eq!(drawn("\\*no\\* `a\\b`"), "*no* <code>a\\b</>");
}

#[test]
fn controls_are_escaped_in_every_place() {
    for text in [
        "\x1b[2J",
        "# \x1b[2J",
        "**\x1b[2J**",
        "`\x1b[2J`",
        "```\n\x1b[2J\n```",
        "``` \x1b[2J\n",
        "- \x1b[2J",
        "*\x1b[2J",
    ] {
        assert!(!drawn(text).contains('\x1b') && drawn(text).contains("^[[2J"), "{text:?}: {}", drawn(text));
    }
}

/// Every cut of a text into two pieces, and single characters, give the output of the whole text.
#[test]
fn pieces_give_the_same_as_the_whole() {
    let text = "# Häd *x*\n- **bö`l`d** a_b `c *d*`\n\n```py\nx = `1`\n````\n**é** \\*q\\* *u **v\n***w*** 2 * 3\n~~~ a\nb";
    let plain = |text: &str| {
        let escapes = ["\x1b[1m", "\x1b[2m", "\x1b[3m", "\x1b[36m", "\x1b[0m"];
        escapes.iter().fold(text.to_owned(), |text, escape| text.replace(escape, ""))
    };
    // A style may end and begin again between pieces, so only the text is compared.
    let same = |shown: String| plain(&shown);
    let mut whole = Markdown::default();
    let expected = same(whole.push(text) + &whole.finish());
    for (cut, _) in text.char_indices() {
        let mut markdown = Markdown::default();
        let shown = markdown.push(&text[..cut]) + &markdown.push(&text[cut..]) + &markdown.finish();
        assert_eq!(same(shown), expected, "cut at {cut}");
    }
    let mut markdown = Markdown::default();
    let shown: String =
        text.chars().map(|character| markdown.push(character.encode_utf8(&mut [0; 4]))).collect();
    assert_eq!(same(shown + &markdown.finish()), expected);
}

#[test]
fn text_is_shown_as_soon_as_it_is_known() {
    let mut markdown = Markdown::default();
    assert_eq!(markdown.push("Hello, "), "Hello, ");
    assert_eq!(markdown.push("**wor"), "");
    assert_eq!(markdown.push("ld** and"), "\x1b[1mworld\x1b[0m and");
    assert!(!markdown.at_line_start());
    assert_eq!(markdown.push(" so on\n"), " so on\n");
    assert!(markdown.at_line_start());
    // The held text is bounded, even for white space or a mark without an end.
    for start in [" ", "*", "`", "**a "] {
        let mut markdown = Markdown::default();
        let shown: usize =
            (0..4096).map(|_| markdown.push("x ").len()).sum::<usize>() + markdown.push(start).len();
        assert!(shown >= 2 * 4096, "{start:?}");
        let mut markdown = Markdown::default();
        markdown.push(start);
        let shown: usize =
            (0..2048).map(|_| markdown.push(if start == " " { " " } else { "x " }).len()).sum();
        assert!(shown > 1024, "{start:?}: {shown}");
        assert!(markdown.start.len() <= START && markdown.inline.is_bounded(), "{start:?}");
    }
}

/// Marks that match nothing cost no more than others. Measures the processor time of this thread only.
#[cfg(unix)]
#[test]
fn the_time_is_in_proportion_to_the_text() {
    let now = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).expect("it is not negative");
    let time = |pattern: &str, piece: usize| {
        let text = pattern.repeat((1 << 17) / pattern.len());
        let since = now();
        let mut markdown = Markdown::default();
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (first, more) = rest.split_at(piece.min(rest.len()));
            markdown.push(first);
            rest = more;
        }
        markdown.finish();
        now() - since
    };
    let plain = time("abcdefgh ", 16).max(Duration::from_millis(20));
    for pattern in [
        "*a ",
        "_a ",
        "`a``b```c ",
        "**a *b ",
        "*",
        "`",
        "#",
        " ",
        "\\",
        "\\*",
        "- ",
        "a\n",
        "```\n",
        "*a* ",
        "***a** ",
    ] {
        for piece in [1, 16, 1 << 20] {
            let took = time(pattern, piece);
            assert!(
                took < 40 * plain + Duration::from_millis(500),
                "{pattern:?} in pieces of {piece}: {took:?}, {plain:?}"
            );
        }
    }
}
