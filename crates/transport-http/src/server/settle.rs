//! prototype
use std::hint::black_box;

pub(crate) fn settle() {
    let passes: usize = std::env::var("PASSES").ok().and_then(|p| p.parse().ok()).unwrap_or(2);
    for _ in 0..passes {
        let pieces = || -> Vec<Vec<u8>> {
            (0..7 * 64).map(|n| black_box(Vec::with_capacity(24 + 16 * (n % 64)))).collect()
        };
        let held = pieces();
        let fresh = pieces();
        drop(fresh);
        drop(held);
        drop(black_box(Vec::<u8>::with_capacity(96 << 10)));
    }
}
