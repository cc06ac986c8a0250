//! Mutations of valid text: nothing may panic, and what holds for any text
//! must hold for this one. Seeded, so a failure happens again.

use agentwire_jsonrpc::{Frame, LineError, Message, code};
use bytes::Bytes;

use crate::line::read_in_pieces;
use crate::random::Random;
use crate::{describe, parse, written};

const CORPUS: [&str; 14] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}"#,
    r#"{"jsonrpc":"2.0","id":"\u0061b","method":"session/prompt","params":{"prompt":[{"type":"text","text":"h\u00e9\ud83d\ude00"}]}}"#,
    r#"{"method":"notifications/progress","params":{"progressToken":1,"progress":0.5},"jsonrpc":"2.0"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":18446744073709551615}}"#,
    r#"{"jsonrpc":"2.0","id":-9223372036854775808,"result":{"content":[],"isError":false}}"#,
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error","data":{"limit":1}}}"#,
    r#"{"id":3,"result":null,"error":{"code":1,"message":""},"jsonrpc":"2\u002e0"}"#,
    r#"[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"},{"jsonrpc":"2.0","id":2,"result":1}]"#,
    r#"[{"jsonrpc":"2.0","id":1,"method":"a","params":[]},1,[],{}]"#,
    "[[[[[[{\"a\":[[[{\"b\":[]}]]]}]]]]]]",
    "{ \"jsonrpc\" : \"2.0\" ,\r\n\t\"id\" : 7 ,\r\n\t\"method\" : \"m\" }",
    "\u{feff}{\"jsonrpc\":\"2.0\",\"method\":\"m\"}",
    "plain text of a program that writes its log where it should not",
    "-1.5e+300",
];

/// Bytes that are worth inserting in a wrong place.
const TOKENS: [&[u8]; 24] = [
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\n",
    b"\r\n",
    b"\xff",
    b"\xEF\xBB\xBF",
    b"\\u0000",
    b"\\ud800",
    b"null",
    b"-0",
    b"1e999",
    b"\"id\":1,",
    b"\"id\":\"x\",",
    b"\"method\":\"m\",",
    b"\"result\":1,",
    b"\"params\":null,",
    b"\"error\":null,",
    "é".as_bytes(),
];

fn mutate(random: &mut Random) -> Vec<u8> {
    let mut text = random.pick(&CORPUS).as_bytes().to_vec();
    for _ in 0..random.below(5) {
        let at = random.below(text.len() + 1);
        let end = (at + random.below(12)).min(text.len());
        match random.below(6) {
            0 if at < text.len() => text[at] ^= 1 << random.below(8),
            1 => drop(text.drain(at..end)),
            2 => text.truncate(at),
            3 => drop(text.splice(at..at, text[at..end].to_vec())),
            4 => {
                let other = random.pick(&CORPUS).as_bytes();
                let from = random.below(other.len());
                text.truncate(at);
                text.extend_from_slice(&other[from..]);
            }
            _ => drop(text.splice(at..at, random.pick(&TOKENS).iter().copied())),
        }
    }
    text
}

#[test]
fn of_frames() {
    let mut random = Random(1);
    let mut kinds = [0; 3];
    for _ in 0..5_000 {
        let text = mutate(&mut random);
        let frame = Frame::parse_bytes(Bytes::copy_from_slice(&text));
        kinds[match frame {
            Frame::Single(_) => 0,
            Frame::Batch(_) => 1,
            Frame::Malformed(_) => 2,
        }] += 1;
        let line = written(&frame);
        assert!(!line.contains(['\n', '\r']), "{}", text.escape_ascii());
        let again = parse(&line);
        assert_eq!(written(&again), line, "{}", text.escape_ascii());
        check_same(&frame, &again, &text);
        // A member's name with half a surrogate pair is JSON by its grammar, yet stands for no text.
        if let Ok(text) = std::str::from_utf8(&text)
            && !text.contains("\\ud")
        {
            let text = text.trim_start_matches('\u{feff}');
            let is_json = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
            assert_eq!(is_json, !is_parse_error(&frame), "{text}");
        }
    }
    // All three must have been met for this to mean anything.
    assert!(kinds.iter().all(|count| *count > 100), "{kinds:?}");
}

/// Messages are read back equal; what was malformed is read back as the answer to it.
fn check_same(frame: &Frame, again: &Frame, text: &[u8]) {
    match (frame, again) {
        (Frame::Single(_), _) => assert_eq!(frame, again, "{}", text.escape_ascii()),
        (Frame::Batch(before), Frame::Batch(after)) => {
            assert_eq!(before.len(), after.len());
            for (before, after) in before.iter().zip(after) {
                assert!(before.is_err() || before == after, "{}", text.escape_ascii());
            }
        }
        (Frame::Malformed(_), Frame::Single(Message::Response(answer))) => assert!(answer.outcome.is_err()),
        _ => panic!("{} became {}", describe(frame), describe(again)),
    }
}

fn is_parse_error(frame: &Frame) -> bool {
    match frame {
        Frame::Malformed(malformed) => malformed.error.code == code::PARSE_ERROR,
        // An array of answers that is not JSON fails each of their calls.
        Frame::Batch(messages) => messages.iter().all(|message| {
            message.as_ref().is_err_and(|malformed| malformed.error.code == code::PARSE_ERROR)
        }),
        Frame::Single(_) => false,
    }
}

#[test]
fn of_streams() {
    let mut random = Random(2);
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..1_200 {
        let stream: Vec<u8> = (0..random.below(6))
            .flat_map(|_| {
                let mut line = mutate(&mut random);
                line.extend_from_slice(random.pick(&["\n", "\r\n", "\n\n", ""]).as_bytes());
                line
            })
            .collect();
        let limit = 20 + random.below(150);
        let sizes: Vec<_> = (0..4).map(|_| 1 + random.below(40)).collect();
        let whole = read_in_pieces(&stream, limit, &[usize::MAX]);
        assert_eq!(read_in_pieces(&stream, limit, &sizes), whole, "{}", stream.escape_ascii());
        for line in whole {
            match line {
                Ok(line) => {
                    assert!(line.len() <= limit);
                    taken += 1;
                }
                Err(LineError::TooLong { .. }) => refused += 1,
                Err(_) => {}
            }
        }
    }
    assert!(taken > 500 && refused > 500, "{taken} {refused}");
}
