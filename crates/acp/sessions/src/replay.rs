//! Adapts the stored updates of a session to the client's version for a replay: a session that was recorded under one version
//! may be opened under the other.

use agentwire_acp_schema::v1::{MessageId, ProtocolVersion, SessionUpdate};

use crate::client::RemoteClient;
use crate::state::{SessionState, for_client};
use crate::update::message::MessageIds;

/// Adapts the records of one session to its client, in their order.
pub(crate) struct Replay<'a> {
    client: &'a RemoteClient,
    ids: MessageIds,
    #[cfg(feature = "v2")]
    terminals: crate::v2::replay::KnownTerminals,
}

impl<'a> Replay<'a> {
    pub(crate) fn new(client: &'a RemoteClient) -> Self {
        Self {
            client,
            ids: MessageIds::default(),
            #[cfg(feature = "v2")]
            terminals: Default::default(),
        }
    }

    /// Returns a recorded update for this client, or `None` for one that the client does not support. `offered` is the
    /// state in which sessions of this agent begin; `number` counts records from 1.
    pub(crate) fn adapt(
        &mut self,
        update: SessionUpdate,
        offered: &SessionState,
        number: u64,
    ) -> Option<SessionUpdate> {
        if self.client.check_update(&update).is_err() {
            return None;
        }
        let mut update = for_client(self.client, update);
        if self.client.protocol_version() == ProtocolVersion::V1 {
            if let SessionUpdate::ConfigOptionUpdate(update) = &mut update {
                offered.remove_mode_option(&mut update.config_options);
                if update.config_options.is_empty() {
                    return None;
                }
            }
            return Some(update);
        }
        // Version 2 requires an id for each message.
        self.ids.assign(&mut update, || MessageId::from(format!("message-{number}")));
        #[cfg(feature = "v2")]
        self.terminals.retain(&mut update);
        Some(update)
    }
}
