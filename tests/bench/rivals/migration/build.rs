//! Takes the rivals' side out of the pages of docs/guide, so that what a reader sees there is what is compiled here.

use std::path::Path;
use std::{env, fs};

/// The pages. Blocks of ours are `rust` there, which rustdoc compiles; the rivals' are `rs`, which looks the same to a reader.
const PAGES: &[&str] = &["from-rmcp", "from-official-acp"];

fn main() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../docs/guide");
    let out = env::var_os("OUT_DIR").expect("cargo sets it");
    for page in PAGES {
        let path = guide.join(page).with_extension("md");
        println!("cargo::rerun-if-changed={}", path.display());
        let text = fs::read_to_string(&path).expect("the page is there");
        fs::write(Path::new(&out).join(page).with_extension("rs"), modules(&text)).expect("there is room");
    }
}

/// A module for each block. Empty lines stand for all other lines of the page, so that the compiler's line numbers are the page's.
fn modules(page: &str) -> String {
    let (mut code, mut inside, mut blocks) = (String::new(), false, 0);
    for line in page.lines() {
        match line {
            "```rs" => {
                (inside, blocks) = (true, blocks + 1);
                code.push_str(&format!("mod block_{blocks} {{"));
            }
            "```" if inside => {
                inside = false;
                code.push('}');
            }
            _ if inside => code.push_str(line),
            _ => {}
        }
        code.push('\n');
    }
    assert!(blocks >= 20, "there are {blocks} blocks of `rs`");
    code
}
