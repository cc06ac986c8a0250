//! The commands that store the event that ends a stream.

use std::io::Write as _;

use bytes::Bytes;
use redis::{Cmd, RedisWrite, ToRedisArgs, ToSingleRedisArg};

use crate::events::entry::END;
use crate::events::message::{StreamLimits, millis};

/// Stores the last event of a stream, and its end. KEYS: stream. ARGV: place, id of the end, data, milliseconds. Returns 0 if the
/// place is taken or the stream has ended.
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
return 1";

/// The command that stores the last event of the stream at a key. Earlier events may be stored.
pub(crate) fn store(key: &str, place: u64, data: &Bytes, limits: &StreamLimits) -> Cmd {
    let mut command = redis::cmd("EVAL");
    command.arg(LAST).arg(1).arg(key).arg(place).arg(END).arg(&**data).arg(millis(limits.time));
    command
}

/// The size of the command without its key and data, in bytes.
const OVERHEAD: usize = 64;

/// The value of a stream that is stored as a single event: the place, a space, the data.
struct OnlyEvent<'a> {
    place: u64,
    data: &'a Bytes,
}

impl ToRedisArgs for OnlyEvent<'_> {
    fn write_redis_args<W: ?Sized + RedisWrite>(&self, out: &mut W) {
        let mut argument = out.writer_for_next_arg();
        for part in [itoa::Buffer::new().format(self.place).as_bytes(), b" ", self.data] {
            // Writing to memory does not fail.
            _ = argument.write_all(part);
        }
    }
}

impl ToSingleRedisArg for OnlyEvent<'_> {}

/// The command that stores the only event of the stream at a key as a string, because a stream of the engine takes at least 4.5 KB.
/// The reply is nil if the key exists.
pub(crate) fn store_only(key: &str, place: u64, data: &Bytes, limits: &StreamLimits) -> Cmd {
    let mut command = Cmd::with_capacity(6, OVERHEAD + key.len() + data.len());
    command.arg("SET").arg(key).arg(OnlyEvent { place, data }).arg("PX").arg(millis(limits.time)).arg("NX");
    command
}
