//! Stores the event that ends a stream.

use bytes::Bytes;
use redis::Cmd;

use crate::entry::END;
use crate::message::{StreamLimits, millis};

/// Stores the last event of a stream and its end. A stream that is this event alone is a string, because a stream of the engine takes
/// 4.5 KB at least. KEYS: stream, streams of the session. ARGV: place, id of the end, data, milliseconds, number of the stream, how
/// many streams stay listed, or 0 where they are not counted. Returns 0 where the place is taken or the stream has ended.
const LAST: &str = "\
local kind = redis.call('TYPE', KEYS[1]).ok
if kind == 'string' then return 0 end
if kind == 'none' then
redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. ARGV[3], 'PX', ARGV[4])
else
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if last and tonumber(string.match(last[1], '^%d+')) >= tonumber(ARGV[1]) then return 0 end
redis.call('XADD', KEYS[1], ARGV[2], 'p', ARGV[1], 'd', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
end
redis.call('ZADD', KEYS[2], ARGV[5], ARGV[5])
if tonumber(ARGV[6]) > 0 then redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -1 - ARGV[6]) end
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return 1";

/// The command that stores the last event of a stream, whose key and number these are; `list` has the streams of its session.
pub(crate) fn store(
    key: String,
    list: String,
    stream: u64,
    (place, data): (u64, &Bytes),
    limits: &StreamLimits,
) -> Cmd {
    let mut command = redis::cmd("EVAL");
    command.arg(LAST).arg(2).arg(key).arg(list).arg(place).arg(END).arg(&**data);
    command.arg(millis(limits.time)).arg(stream).arg(limits.listed(stream).unwrap_or(0));
    command
}
