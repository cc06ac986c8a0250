//! Mutations of inputs, from a seed: the same seed gives the same inputs on each machine.

/// The longest input that is made, in bytes.
pub const MOST: usize = 4096;

/// Makes inputs.
#[derive(Debug, Clone)]
pub struct Mutator(u64);

impl Mutator {
    /// The mutations of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed ^ 0x9E37_79B9_7F4A_7C15)
    }

    /// Makes another input: one of the corpus with one to eight changes.
    pub fn next(&mut self, corpus: &[(String, Vec<u8>)], words: &[&[u8]]) -> Vec<u8> {
        let mut input = self.pick(corpus).map(|(_, bytes)| bytes.clone()).unwrap_or_default();
        for _ in 0..=self.below(8) {
            self.change(&mut input, corpus, words);
        }
        input.truncate(MOST);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, corpus: &[(String, Vec<u8>)], words: &[&[u8]]) {
        let place = self.below(input.len() + 1);
        let end = (place + self.below(32)).min(input.len());
        match self.below(8) {
            0 if place < input.len() => input[place] ^= 1 << self.below(8),
            1 if place < input.len() => input[place] = self.byte(),
            2 => drop(input.drain(place..end)),
            3 => {
                let piece = input[place..end].to_vec();
                self.insert(input, &piece);
            }
            4 => {
                let byte = self.byte();
                input.splice(place..place, std::iter::repeat_n(byte, 1 + self.below(16)));
            }
            5 => {
                let other = self.pick(corpus).map(|(_, bytes)| bytes.as_slice()).unwrap_or_default();
                let from = self.below(other.len() + 1);
                let to = (from + self.below(128)).min(other.len());
                input.splice(place..end, other[from..to].iter().copied());
            }
            _ => {
                let word = self.pick(words).copied().unwrap_or_default();
                self.insert(input, word);
            }
        }
    }

    fn insert(&mut self, input: &mut Vec<u8>, piece: &[u8]) {
        let place = self.below(input.len() + 1);
        input.splice(place..place, piece.iter().copied());
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len().max(1)))
    }

    fn byte(&mut self) -> u8 {
        const EDGES: [u8; 12] = [0, 1, 0x1b, b'\n', b'\r', b' ', b'"', b'{', 0x7f, 0x80, 0xc2, 0xff];
        if self.below(2) == 0 { EDGES[self.below(EDGES.len())] } else { (self.random() >> 32) as u8 }
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.random() >> 16) as usize % limit
    }

    /// xorshift64*
    fn random(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
}
