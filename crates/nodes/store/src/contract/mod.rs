//! Tests that every store passes, for authors of stores.
//!
//! An author of a store implements [`Fixture`] for it, and lists the tests with [`contract_tests!`](crate::contract_tests):
//!
//! ```
//! use std::time::Duration;
//!
//! use agentwire_store::contract::{Fixture, Test};
//! use agentwire_store::{Clock, StoreLimits, Stores};
//! use futures_util::future::{BoxFuture, FutureExt, ready};
//!
//! struct Memory {
//!     stores: Stores,
//!     clock: Clock,
//! }
//!
//! impl Fixture for Memory {
//!     fn node(&self) -> BoxFuture<'_, Stores> {
//!         ready(self.stores.clone()).boxed()
//!     }
//!
//!     fn pass(&self, time: Duration) -> BoxFuture<'_, ()> {
//!         ready(self.clock.advance(time)).boxed()
//!     }
//!
//!     fn session_limit(&self) -> usize {
//!         StoreLimits::SESSION_EVENTS
//!     }
//! }
//!
//! fn run(test: Test) {
//!     let clock = Clock::manual();
//!     let stores = Stores::memory(&StoreLimits::new(), &clock);
//!     futures::executor::block_on(test(&Memory { stores, clock }));
//! }
//!
//! agentwire_store::contract_tests!(run);
//! # run(agentwire_store::contract::once::a_name_has_a_longest_length);
//! ```
//!
//! Each test is a function that panics where the store breaks the contract. It begins with an empty store. The hooks of [`Fixture`]
//! that cut connections, stop nodes and start the store again have defaults that do nothing; the tests that need them then end
//! early.

mod fixture;
mod values;

pub mod buses;
pub mod cuts;
pub mod events;
pub mod leases;
pub mod once;
pub mod records;
pub mod writers;

use futures_util::future::BoxFuture;

pub use fixture::Fixture;

/// A test of a store.
pub type Test = for<'a> fn(&'a dyn Fixture) -> BoxFuture<'a, ()>;

/// Defines a `#[test]` for each test, which calls a function with a [`Test`]. That function makes a [`Fixture`] of an empty store
/// and runs the test on it.
///
/// Attributes before the function's path apply to each test, such as `ignore` with its reason for the store of an engine that a
/// machine may lack:
///
/// ```
/// # fn run(_: agentwire_store::contract::Test) {}
/// agentwire_store::contract_tests! {
///     #[cfg(unix)]
///     run
/// }
/// ```
#[macro_export]
macro_rules! contract_tests {
    (@all $attributes:tt $run:path => $($area:ident :: $name:ident)*) => {
        $(
            $crate::contract_tests! { @one $attributes $run => $area::$name }
        )*
    };
    (@one [$($attribute:tt)*] $run:path => $area:ident :: $name:ident) => {
        #[test]
        $($attribute)*
        fn $name() {
            $run($crate::contract::$area::$name);
        }
    };
    ($(#[$attribute:meta])* $run:path) => {
        $crate::contract_tests! {
            @all [$(#[$attribute])*] $run =>
            events::events_are_replayed_in_order_after_a_place
            events::unawaited_appends_keep_their_order
            events::a_replay_has_what_was_appended_before
            events::streams_and_sessions_are_apart
            events::data_is_kept_byte_for_byte
            events::a_replay_has_a_limit
            events::a_stream_runs_until_it_ends
            events::the_events_of_a_session_are_bounded
            events::a_stream_without_events_is_forgotten_once_it_ends
            events::many_events_take_bounded_room
            writers::of_two_writers_of_one_place_one_wins
            writers::a_place_is_never_taken_twice
            writers::a_stream_that_is_taken_over_refuses_its_former_node
            writers::a_stream_that_has_ended_is_not_taken_over
            writers::of_several_take_overs_one_wins
            writers::a_result_and_a_take_over_exclude_each_other
            records::a_record_is_found_until_it_is_deleted
            records::of_several_updates_of_one_version_one_wins
            records::a_record_expires_when_it_is_not_used
            records::only_an_unused_record_is_deleted_as_such
            records::numbers_of_streams_are_given_once
            once::a_name_is_taken_once_until_it_expires
            once::of_several_uses_at_once_one_is_the_first
            once::a_name_has_a_longest_length
            once::a_name_that_was_removed_is_used_again
            leases::a_node_is_alive_while_it_holds_its_lease
            leases::a_node_that_was_stopped_writes_nothing_any_more
            leases::a_lease_is_taken_again
            buses::a_message_reaches_every_other_node
            buses::a_message_to_one_node_reaches_it_alone
            buses::a_subscription_survives_an_interruption
            cuts::a_cut_loses_and_doubles_no_event
            cuts::a_cut_gives_no_number_and_no_name_twice
            cuts::what_is_durable_survives_a_restart
        }
    };
}
