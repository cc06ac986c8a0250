use agentwire_jsonrpc::{ContentLength, Frame, FrameReader};

use crate::describe;

/// Reads lines, and describes their frames.
fn read(frames: &mut FrameReader, text: &str) -> Vec<String> {
    let frame = |line: &str| frames.read(Ok(line.into())).map(|frame| describe(&frame)).unwrap();
    text.lines().map(frame).collect()
}

const LINE: &str = "malformed -32700, answer null";

#[test]
fn answer_over_several_lines_fails_its_call_at_its_end() {
    let mut frames = FrameReader::default();
    let pretty = "{\n  \"jsonrpc\": \"2.0\",\n  \"result\": {\n    \"a\": \"}\\\"}\"\n  },\n  \"id\": 2\n}";
    for _ in 0..2 {
        let [parts @ .., last] = &read(&mut frames, pretty)[..] else { panic!("several lines") };
        assert_eq!(last, "malformed -32600, fails 2");
        assert!(parts.iter().all(|part| part == LINE), "{parts:?}");
        assert_eq!(read(&mut frames, r#"{"jsonrpc":"2.0","method":"m"}"#), ["notification m"]);
    }
    let Ok(Frame::Malformed(malformed)) =
        pretty.lines().map(|line| frames.read(Ok(line.into()))).last().unwrap()
    else {
        panic!("malformed")
    };
    assert!(
        malformed.error.message.contains("must be one line, and this one has 7 lines"),
        "{}",
        malformed.error
    );
}

#[test]
fn answer_whose_first_line_names_it_fails_its_call_once() {
    let mut frames = FrameReader::default();
    let text = "{\"id\":2,\"result\":{\"text\":\"a\nb\"}}";
    assert_eq!(read(&mut frames, text), ["malformed -32700, fails 2", LINE]);
}

#[test]
fn answer_cut_within_a_string_fails_its_call_at_its_end() {
    let mut frames = FrameReader::default();
    let text = "{\"result\":{\"text\":\"a\nb\"},\"id\":2}";
    assert_eq!(read(&mut frames, text), ["malformed -32700, fails null", "malformed -32600, fails 2"]);
}

#[test]
fn line_after_a_message_that_is_cut_is_answered() {
    let mut frames = FrameReader::default();
    for cut in [r#"{"jsonrpc":"2.0","id":1,"method":"#, r#"{"jsonrpc":"2.0","id":1,"met"#, "{"] {
        let lines = read(&mut frames, &format!("{cut}\nnonsense\n\"text\""));
        assert!(lines.iter().all(|line| line.contains(", answer ")), "{cut}: {lines:?}");
    }
}

#[test]
fn request_over_several_lines_is_refused_under_its_id() {
    let mut frames = FrameReader::default();
    let text = "{\"jsonrpc\":\"2.0\",\n\"id\":2,\n\"method\":\"m\"}";
    assert_eq!(read(&mut frames, text), [LINE, LINE, "malformed -32600, answer 2"]);
    let text = "{\"jsonrpc\":\"2.0\",\n\"method\":\"m\"}";
    assert_eq!(read(&mut frames, text), [LINE, LINE]);
}

#[test]
fn message_between_the_lines_is_read() {
    let mut frames = FrameReader::default();
    let message = r#"{"jsonrpc":"2.0","id":1,"result":2}"#;
    assert_eq!(read(&mut frames, &format!("{{ starting\n{message}\n}}")), [LINE, "result 1 2", LINE]);
}

#[test]
fn message_over_several_lines_is_searched_up_to_the_limit() {
    for (lines, last) in [(8, "malformed -32600, fails 2"), (20, LINE)] {
        let mut frames = FrameReader::default();
        frames.set_limit(1_000);
        let text =
            format!("{{\"result\":[\n{}],\"id\":2}}", format!("{},\n", "1,".repeat(49) + "1").repeat(lines));
        assert_eq!(read(&mut frames, &text).last().unwrap(), last);
    }
}

#[test]
fn content_length_header_is_an_error_only_before_the_first_message() {
    let mut frames = FrameReader::default();
    for header in ["Content-Length: 52", "content-length:52"] {
        assert!(matches!(frames.read(Ok(header.into())), Err(ContentLength { .. })), "{header}");
    }
    assert_eq!(read(&mut frames, r#"{"jsonrpc":"2.0","method":"m"}"#), ["notification m"]);
    assert_eq!(read(&mut frames, "Content-Length: 52"), [LINE]);
}
