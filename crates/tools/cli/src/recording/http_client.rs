//! An HTTP client whose exchanges are recorded.

use agentwire_recording::Recorder;
use agentwire_recording::http::ExchangeTap;
use agentwire_transport_http::client::{Body, BoxError, HttpClient};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _};
use http::{Request, Response};

/// Records the exchanges of a client. Without a recorder it only passes them on.
pub(crate) struct RecordingClient<C> {
    client: C,
    recorder: Option<Recorder>,
}

impl<C> RecordingClient<C> {
    pub(crate) fn new(client: C, recorder: Option<Recorder>) -> Self {
        Self { client, recorder }
    }
}

impl<C: HttpClient> HttpClient for RecordingClient<C> {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'static, Result<Response<Body>, BoxError>> {
        let Some(recorder) = &self.recorder else { return self.client.send(request) };
        let mut tap = ExchangeTap::new(recorder, request.method(), request.uri(), request.headers());
        tap.request_body(request.body());
        tap.request_end();
        let sent = self.client.send(request);
        let recorded = async move {
            let response = sent.await?;
            tap.response(response.status(), response.headers());
            let tapped = |body: Body| {
                body.inspect(move |piece| {
                    if let Ok(bytes) = piece {
                        tap.response_body(bytes);
                    }
                })
                .boxed()
            };
            Ok(response.map(tapped))
        };
        recorded.boxed()
    }
}
