//! A mutant that needs code.

use crate::fault::Fault;

/// A mutant that needs code.
pub(super) struct Mutant {
    /// The requirement that it breaks.
    pub(super) id: &'static str,
    /// The fault of the program, in words.
    pub(super) name: &'static str,
    pub(super) fault: fn() -> Box<dyn Fault>,
}

/// Makes the fault of a mutant, once for each run.
pub(super) type FaultOf = Box<dyn Fn() -> Box<dyn Fault> + Send + Sync>;

/// `mutants!["RPC-06" => ["what the mutant does" => fault, …], …]`.
macro_rules! mutants {
    ($($id:literal => [$($name:literal => $fault:expr),* $(,)?]),* $(,)?) => {
        &[$($($crate::mutants::mutant::Mutant { id: $id, name: $name, fault: || $fault }),*),*]
    };
}
pub(super) use mutants;
