//! Random numbers that a seed repeats.

use std::time::Duration;

/// The generator `SplitMix64`.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Another generator, whose numbers are independent of how many this one gives afterwards.
    pub(crate) fn fork(&mut self) -> Self {
        Self(self.next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Returns true in so many of 100 cases.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A time from `least` to below `end`, in milliseconds.
    pub(crate) fn millis(&mut self, least: u64, end: u64) -> Duration {
        Duration::from_millis(least + self.below(end - least))
    }

    /// One of several values.
    pub(crate) fn pick<'a, T>(&mut self, values: &'a [T]) -> Option<&'a T> {
        let len = u64::try_from(values.len()).ok().filter(|len| *len > 0)?;
        values.get(usize::try_from(self.below(len)).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_the_numbers() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            [random.below(1_000_000), random.fork().below(1_000_000), random.below(1_000_000)]
        };
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
        assert_eq!(Random::new(1).pick::<u8>(&[]), None);
    }
}
