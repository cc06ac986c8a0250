//! Runs each model in every order of its threads with at most three preemptions: nearly all known faults need fewer.

use agentwire_model_tests::models;

fn check(model: fn()) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(3);
    builder.max_branches = 10_000;
    builder.check(model);
}

#[test]
fn a_packet_passes_through_a_full_duplex() {
    check(models::a_packet_passes_through_a_full_duplex);
}

#[test]
fn a_dropped_end_of_a_duplex_is_reported() {
    check(models::a_dropped_end_is_reported);
}

#[test]
fn an_update_wakes_all_waiters() {
    check(models::an_update_wakes_all_waiters);
}

#[test]
fn each_value_is_taken_once() {
    check(models::each_value_is_taken_once);
}

#[test]
fn a_call_is_answered() {
    check(models::a_call_is_answered);
}

#[test]
fn the_end_of_a_connection_wakes_its_waiters() {
    check(models::the_end_wakes_its_waiters);
}

#[test]
fn a_poll_and_a_wake_are_both_seen() {
    check(models::a_poll_and_a_wake_are_both_seen);
}

#[test]
fn two_inline_polls_are_both_seen() {
    check(models::two_inline_polls_are_both_seen);
}
