//! Deep nesting costs memory in proportion to the text, and no stack.

use agentwire_jsonrpc::{Encoder, Frame, LineDecoder, RawJson};

use crate::{describe, parse, written};

const DEPTH: usize = 100_000;

/// Runs where recursion of this depth cannot go unnoticed.
fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(512 << 10).spawn(test).unwrap().join().unwrap();
}

fn deep() -> String {
    "[{\"a\":".repeat(DEPTH) + "1" + &"}]".repeat(DEPTH)
}

#[test]
fn in_any_member() {
    on_a_small_stack(|| {
        let deep = deep();
        let table = [
            (r#"{"jsonrpc":"2.0","id":@,"method":"m"}"#, "malformed -32600, answer null"),
            (r#"{"jsonrpc":@,"id":1,"method":"m"}"#, "malformed -32600, answer 1"),
            (r#"{"jsonrpc":"2.0","id":1,"method":@}"#, "malformed -32600, answer 1"),
            (r#"{"jsonrpc":"2.0","x":@,"method":"m"}"#, "notification m"),
            (r#"{"jsonrpc":"2.0","id":1,"error":@}"#, "malformed -32600, fails 1"),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"","data":@}}"#, "error 1 1"),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"","x":@}}"#, "error 1 1"),
            ("[@,1]", "batch [malformed -32600, answer null, malformed -32600, answer null]"),
            ("\"\"@", "malformed -32700, answer null"),
        ];
        for (text, expected) in table {
            assert_eq!(describe(&parse(&text.replace('@', &deep))), expected, "{text}");
        }
        assert_eq!(describe(&parse(&"[".repeat(DEPTH))), "malformed -32700, answer null");
        assert_eq!(describe(&parse(&"{\"a\":".repeat(DEPTH))), "malformed -32700, answer null");
    });
}

#[test]
fn is_carried_through_but_not_decoded() {
    on_a_small_stack(|| {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}}}"#, deep());
        let frame = parse(&text);
        assert_eq!(written(&frame), text);
        let Frame::Single(message) = &frame else { panic!("a response") };
        let result = message.body().unwrap().clone();
        assert!(result.decode::<serde_json::Value>().is_err());
        assert!(result.decode::<Vec<RawJson>>().is_ok());
        assert_eq!(RawJson::encode(&result).unwrap(), result);
        assert_eq!(Encoder::default().encode(&result).unwrap(), result);
        assert_eq!(RawJson::parse(deep().into()).unwrap(), result);
    });
}

#[test]
fn in_a_line_that_is_cut_off() {
    on_a_small_stack(|| {
        let mut lines = LineDecoder::new(1 << 20);
        lines.push(br#"{"id":5,"method":"m","params":"#);
        lines.push(&b"[".repeat(1 << 20));
        let refused = Frame::from(lines.next_line().unwrap());
        assert_eq!(describe(&refused), "malformed -32600, answer 5");
    });
}
