//! Proxies between ends that speak raw lines, and chains of them. The tests' names begin with the rules that they show.

mod chains;
mod components;
mod conductors;
mod deadline;
mod ends;
mod floods;
mod hooks;
mod order;
mod raw;
