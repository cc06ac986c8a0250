//! Bodies of which the last byte never comes.

use std::task::{Context, Poll, Waker};

use agentwire_cost_tests::Meter;
use agentwire_transport_http::server::EndpointConfig;
use bytes::Bytes;
use futures::FutureExt;
use http::StatusCode;
use tower_service::Service;

use super::http::{endpoint, send};

const PIECE: usize = 64 << 10;

#[tokio::test(flavor = "current_thread")]
async fn bodies_that_do_not_end_take_a_bounded_amount_of_memory() {
    let meter = Meter::lock();
    let (mut endpoint, _connections) = endpoint(EndpointConfig::new());
    let piece = Bytes::from(vec![b' '; PIECE]);
    let mut cx = Context::from_waker(Waker::noop());
    let ((waiting, refused), cost) = meter.measure(|| {
        let (mut waiting, mut refused) = (Vec::new(), 0);
        for _ in 0..200 {
            let mut pieces = vec![piece.clone(); (4 << 20) / PIECE];
            pieces.last_mut().unwrap().truncate(PIECE - 1);
            let mut response = Box::pin(endpoint.call(send(None, pieces, false)));
            match response.poll_unpin(&mut cx) {
                Poll::Pending => waiting.push(response),
                Poll::Ready(response) => {
                    let response = response.unwrap();
                    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
                    assert!(response.headers().contains_key("retry-after"));
                    refused += 1;
                }
            }
        }
        (waiting, refused)
    });
    assert!(cost.peak_bytes < 32 << 20, "{cost:?}, {} wait, {refused} were refused", waiting.len());
    assert!(waiting.len() >= 2, "some have room");
    // What is given up gives its room back.
    drop(waiting);
    let mut one = Box::pin(endpoint.call(send(None, vec![piece; 63], false)));
    assert!(one.poll_unpin(&mut cx).is_pending());
}
