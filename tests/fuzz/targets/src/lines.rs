//! Lines of a stream.

use agentwire_jsonrpc::LineDecoder;

use crate::pieces::pieces;

/// How a stream is cut makes no difference to its lines.
pub(crate) fn run(bytes: &[u8]) {
    let (limit, rest) =
        bytes.split_first().map_or((64, bytes), |(first, rest)| (usize::from(*first) + 1, rest));
    let (cuts, stream) = rest.split_at(rest.len().min(4));
    let whole = decode(limit, std::iter::once(stream));
    let pieces = decode(limit, pieces(cuts, stream));
    assert_eq!(whole, pieces, "how the stream was cut makes a difference");
    let length: usize = whole.iter().flatten().map(String::len).sum();
    assert!(length <= stream.len(), "more came out than went in");
    assert!(whole.iter().flatten().all(|line| line.len() <= limit), "a line is over the limit");
}

fn decode<'a>(limit: usize, pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Result<String, String>> {
    let mut decoder = LineDecoder::new(limit);
    let mut lines = Vec::new();
    let take = |line: Result<bytestring::ByteString, _>| {
        line.map(|line| line.to_string()).map_err(|error: agentwire_jsonrpc::LineError| error.to_string())
    };
    for piece in pieces {
        decoder.push(piece);
        while let Some(line) = decoder.next_line() {
            lines.push(take(line));
        }
    }
    lines.extend(decoder.finish().map(take));
    lines
}
