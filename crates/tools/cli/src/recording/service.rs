//! A server over HTTP whose messages are recorded.

use std::pin::pin;

use agentwire_jsonrpc::{Frame, Message, Notification, Response};
use agentwire_mcp_server::Server;
use agentwire_recording::{Recorder, Side, record_frame, record_transport};
use agentwire_transport::{Direction, Exchange, NotificationSink, Service, Transport};
use futures_util::StreamExt as _;
use futures_util::future::{Either, select};

/// The most queued bytes of an exchange's notifications before the transport takes them: 64 KiB.
const HIGH_WATER: usize = 64 << 10;

/// Records the connections and the exchanges of a server.
#[derive(Clone)]
pub(crate) struct RecordingService {
    server: Server,
    recorder: Recorder,
}

impl RecordingService {
    pub(crate) fn new(server: Server, recorder: Recorder) -> Self {
        Self { server, recorder }
    }
}

impl<C: Transport + Send + 'static> Service<C> for RecordingService {
    fn connection(&self, connection: C) -> impl Future<Output = ()> + Send + 'static {
        let connection = record_transport(connection, Some(self.recorder.clone()), Side::Server);
        Service::connection(&self.server, connection)
    }

    fn exchange(&self, exchange: Exchange) -> impl Future<Output = Response> + Send + 'static {
        let tap = MessageTap { recorder: self.recorder.clone(), exchange: self.recorder.next_exchange() };
        tap.record(Side::Client, exchange.request.clone().into());
        let Exchange { request, source, notifications: outer, .. } = exchange;
        let (inner, mut notifications) = Exchange::new(request, source, HIGH_WATER);
        let response = Service::<C>::exchange(&self.server, inner);
        async move {
            let response = {
                let mut response = pin!(response);
                loop {
                    match select(response.as_mut(), notifications.next()).await {
                        Either::Left((response, _)) => break response,
                        Either::Right((Some(notification), _)) => tap.pass_on(notification, &outer).await,
                        Either::Right((None, _)) => break response.await,
                    }
                }
            };
            for notification in notifications.finish() {
                tap.pass_on(notification, &outer).await;
            }
            tap.record(Side::Server, response.clone().into());
            response
        }
    }

    fn notification(
        &self,
        notification: Notification,
        source: Option<std::sync::Arc<dyn agentwire_transport::MessageSource>>,
    ) {
        let tap = MessageTap { recorder: self.recorder.clone(), exchange: self.recorder.next_exchange() };
        tap.record(Side::Client, notification.clone().into());
        Service::<C>::notification(&self.server, notification, source);
    }
}

/// Records the messages of one exchange.
struct MessageTap {
    recorder: Recorder,
    exchange: u64,
}

impl MessageTap {
    async fn pass_on(&self, notification: Notification, outer: &NotificationSink) {
        self.record(Side::Server, notification.clone().into());
        // A caller that has left gets no more notifications.
        let _left = outer.send(notification).await;
    }

    fn record(&self, from: Side, message: Message) {
        let direction = if from.is_client() { Direction::In } else { Direction::Out };
        record_frame(&self.recorder, Some(self.exchange), from, &Frame::Single(message), direction);
    }
}
