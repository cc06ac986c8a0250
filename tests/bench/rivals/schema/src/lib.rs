//! Measures how fast types are decoded from JSON text and encoded into it; shared by the programs of both protocols.
//!
//! Subjects take turns within each repetition, each for a few milliseconds of its thread's processor time, so that other
//! load on the machine affects all of them alike. Decoding includes dropping the value; encoding reuses a buffer, as a
//! connection does.

mod meaning;
mod text;

use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

pub use text::{prose, source_code};

/// One message, and the types that can hold it.
pub struct Message {
    /// The key of the row.
    pub key: &'static str,
    /// The title of the row.
    pub title: &'static str,
    /// The message's params or result, as JSON text.
    pub text: String,
    /// The measured types.
    pub subjects: Vec<Subject>,
}

/// The operations of a type.
pub struct Subject {
    label: &'static str,
    again: fn(&str) -> serde_json::Result<String>,
    decode: fn(&str, u64) -> serde_json::Result<Duration>,
    encode: fn(&str, u64) -> serde_json::Result<Duration>,
}

impl Subject {
    /// The type `T`, under this label.
    pub fn new<T: Serialize + DeserializeOwned>(label: &'static str) -> Self {
        Self { label, again: again::<T>, decode: decode::<T>, encode: encode::<T> }
    }
}

fn again<T: Serialize + DeserializeOwned>(text: &str) -> serde_json::Result<String> {
    serde_json::to_string(&serde_json::from_str::<T>(text)?)
}

fn decode<T: DeserializeOwned>(text: &str, times: u64) -> serde_json::Result<Duration> {
    let begun = processor_time();
    for _ in 0..times {
        black_box(serde_json::from_str::<T>(black_box(text))?);
    }
    Ok(processor_time() - begun)
}

fn encode<T: Serialize + DeserializeOwned>(text: &str, times: u64) -> serde_json::Result<Duration> {
    let value: T = serde_json::from_str(text)?;
    let mut buffer = Vec::with_capacity(2 * text.len());
    let begun = processor_time();
    for _ in 0..times {
        buffer.clear();
        serde_json::to_writer(&mut buffer, black_box(&value))?;
        black_box(buffer.as_slice());
    }
    Ok(processor_time() - begun)
}

/// The processor time of this thread.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The sizes of a run.
#[derive(Clone, Copy)]
struct Pace {
    sample: Duration,
    repetitions: usize,
}

/// The programs' main function: checks that all subjects read the same, then prints a line of JSON for each message,
/// operation and subject, with nanoseconds for each repetition. `--quick` measures less, `--only KEY` one message.
pub fn run(messages: Vec<Message>) -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let only: Vec<&String> =
        arguments.windows(2).filter(|pair| pair[0] == "--only").map(|pair| &pair[1]).collect();
    let (sample, repetitions) = if quick { (1, 21) } else { (2, 151) };
    let pace = Pace { sample: Duration::from_millis(sample), repetitions };
    for message in &messages {
        for subject in &message.subjects {
            let told = |error: String| format!("{}: {}: {error}", message.key, subject.label);
            let again = (subject.again)(&message.text).map_err(|error| told(error.to_string()))?;
            meaning::check_same(&message.text, &again).map_err(told)?;
        }
    }
    for message in
        messages.iter().filter(|message| only.is_empty() || only.iter().any(|key| *key == message.key))
    {
        measure(message, "decode", |subject| subject.decode, pace)?;
        measure(message, "encode", |subject| subject.encode, pace)?;
    }
    Ok(())
}

type Operation = fn(&str, u64) -> serde_json::Result<Duration>;

fn measure(
    message: &Message,
    name: &str,
    operation: fn(&Subject) -> Operation,
    pace: Pace,
) -> serde_json::Result<()> {
    let Message { key, title, text, subjects } = message;
    let times: Vec<u64> =
        subjects.iter().map(|subject| calibrate(operation(subject), text, pace)).collect::<Result<_, _>>()?;
    let mut samples = vec![Vec::with_capacity(pace.repetitions); subjects.len()];
    for repetition in 0..pace.repetitions {
        // Each subject is first equally often, because the previous one affects caches and the heap.
        for turn in 0..subjects.len() {
            let at = (turn + repetition) % subjects.len();
            let taken = operation(&subjects[at])(text, times[at])?;
            samples[at].push(taken.as_nanos() as f64 / times[at] as f64);
        }
    }
    for (subject, samples) in subjects.iter().zip(samples) {
        let line = json!({
            "row": key, "title": title, "bytes": text.len(), "operation": name, "subject": subject.label,
            "nanoseconds": samples,
        });
        println!("{line}");
    }
    Ok(())
}

/// The number of operations in a sample.
fn calibrate(operation: Operation, text: &str, pace: Pace) -> serde_json::Result<u64> {
    let mut times = 1;
    loop {
        let taken = operation(text, times)?;
        if taken >= pace.sample {
            return Ok(times);
        }
        times = if taken * 4 >= pace.sample {
            (times as f64 * pace.sample.as_secs_f64() / taken.as_secs_f64()).ceil() as u64
        } else {
            times * 4
        };
    }
}
