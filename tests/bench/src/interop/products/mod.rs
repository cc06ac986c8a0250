//! Our ACP client with widely used agents, without a key and without a network.
//!
//! The expected behaviour of each is data in `products.json`, so a change in a new version fails its pair.

pub(crate) mod launch;
mod opening;
mod table;
mod turns;

use anyhow::Result;

pub(crate) use self::launch::fill;
use self::opening::VERSION_2;
pub(crate) use self::table::{Distribution, Installed, Model, PRODUCTS, Product};
use super::pair::{Pair, pair};
use super::scratch::Scratch;

/// A check of an agent.
type Check = fn(&Scratch<'_>, &'static Product) -> Result<()>;

/// The checks, by the name that `products.json` has for them, in the order of their pairs.
const CHECKS: [(&str, Check); 9] = [
    ("open", |scratch, product| opening::open(scratch, product, 1)),
    ("version 2", |scratch, product| opening::open(scratch, product, 2)),
    ("version 2 asked", opening::falls_back),
    ("say", turns::say),
    ("write", |scratch, product| turns::write(scratch, product, &[])),
    ("rejected", turns::reject),
    ("cancel", |scratch, product| turns::cancel(scratch, product, &[])),
    ("version 2: write", |scratch, product| turns::write(scratch, product, VERSION_2)),
    ("version 2: cancel", |scratch, product| turns::cancel(scratch, product, VERSION_2)),
];

/// A pair for each check of each agent.
pub(super) fn pairs() -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (name, check) in CHECKS {
        for product in PRODUCTS.iter().filter(|product| product.pairs.iter().any(|wanted| wanted == name)) {
            let name = match name {
                "open" => format!("our client, {}", product.id),
                name if name.starts_with("version 2") => format!("our client, {}, {name}", product.id),
                name => format!("our client, {}: {name}", product.id),
            };
            pairs.push(pair(name, 60, move |scratch| check(scratch, product)));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_is_opened_and_every_check_exists() {
        assert_eq!(pairs().len(), PRODUCTS.iter().map(|product| product.pairs.len()).sum::<usize>());
        for product in PRODUCTS.iter() {
            assert!(
                product.pairs.contains(&"open".to_owned()) && !product.command.is_empty(),
                "{}",
                product.id
            );
            assert!(product.model.is_some() || product.pairs.len() == 1, "{}", product.id);
        }
    }
}
