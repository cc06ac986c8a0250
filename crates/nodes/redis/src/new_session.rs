//! The scripts that create a session and take its stream numbers.

use agentwire_store::SessionId;
use redis::Pipeline;

use crate::link::keys::Keys;

// A record is stored as VERSION, EPOCH and JSON, separated by spaces, so that the scripts need not read JSON. The numbers of
// streams are stored as the highest number taken and an EPOCH. They live twice as long as the record: if they expired first, a
// number could be given twice.
//
// An epoch is the beginning of the engine's replication id, which changes with each restart and failover. Those may lose the
// last writes, and with them numbers that nodes have taken. So in another epoch the numbers continue far above the last known one.

/// KEYS: record. ARGV: version, time to live in milliseconds, JSON.
pub(crate) const CREATE: &str = "\
local epoch = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x%x%x%x%x%x%x%x)')
redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. epoch .. ' ' .. ARGV[3], 'PX', ARGV[2])
return 1";

/// KEYS: record, numbers. ARGV: how many to take; how many to skip in another epoch. Returns the highest number that is taken now.
pub(crate) const TAKE: &str = "\
local before = string.match(redis.call('GETRANGE', KEYS[1], 0, 63), '^%d+ (%x+) ')
if not before then return false end
local last, taken = 0, redis.call('GET', KEYS[2])
if taken then last, before = string.match(taken, '^(%d+) (%x+)$') end
local epoch = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x%x%x%x%x%x%x%x)')
if before ~= epoch then last = last + ARGV[2] end
last = last + ARGV[1]
redis.call('SET', KEYS[2], string.format('%.0f %s', last, epoch), 'PX', redis.call('PTTL', KEYS[1]) * 2 + 1000)
return last";

/// The stream numbers to skip in another epoch: more than a session takes in the time whose writes may be lost.
pub(crate) const SKIPPED: u64 = 1 << 20;

/// Adds the commands that create a session that lives for `time` milliseconds, take a stream number, and delete both.
pub(crate) fn add(pipeline: &mut Pipeline, keys: &Keys, session: SessionId, time: u64) {
    let (record, numbers) = (keys.record(session), keys.numbers(session));
    pipeline.cmd("EVAL").arg(CREATE).arg(1).arg(&record).arg(0).arg(time).arg("{}");
    pipeline.cmd("EVAL").arg(TAKE).arg(2).arg(&record).arg(&numbers).arg(1).arg(SKIPPED);
    pipeline.cmd("UNLINK").arg(record);
    pipeline.cmd("UNLINK").arg(numbers);
}
