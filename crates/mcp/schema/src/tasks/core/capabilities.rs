//! The capabilities of 2025-11-25 to run requests as tasks.

use agentwire_wire_derive::Wire;

use crate::JsonObject;

macro_rules! capability {
    ($( $(#[$attribute:meta])* $name:ident { $( $(#[$member_attribute:meta])* $member:ident: $kind:ty, )+ } )+) => {
        $(
            $(#[$attribute])*
            #[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
            #[non_exhaustive]
            pub struct $name {
                $(
                    $(#[$member_attribute])*
                    #[wire(capability)]
                    pub $member: Option<$kind>,
                )+
                /// Members that this version of the library does not know.
                #[wire(extra)]
                pub other: JsonObject,
            }

            empty!($name);
            setters!($name {
                $( some $member: $kind, )+
                set other: JsonObject,
            });
        )+
    };
}

capability! {
    /// The requests that a client runs as tasks.
    ClientTasksCapability {
        /// It lists them.
        list: JsonObject,
        /// It cancels them.
        cancel: JsonObject,
        /// The requests.
        requests: ClientTaskRequests,
    }
    /// The requests that a client runs as tasks.
    ClientTaskRequests {
        /// Those of sampling.
        sampling: SamplingTasks,
        /// Those of elicitation.
        elicitation: ElicitationTasks,
    }
    /// The requests of sampling that a client runs as tasks.
    SamplingTasks {
        /// `sampling/createMessage`.
        create_message: JsonObject,
    }
    /// The requests of elicitation that a client runs as tasks.
    ElicitationTasks {
        /// `elicitation/create`.
        create: JsonObject,
    }
    /// The requests that a server runs as tasks.
    ServerTasksCapability {
        /// It lists them.
        list: JsonObject,
        /// It cancels them.
        cancel: JsonObject,
        /// The requests.
        requests: ServerTaskRequests,
    }
    /// The requests that a server runs as tasks.
    ServerTaskRequests {
        /// Those of tools.
        tools: ToolTasks,
    }
    /// The requests of tools that a server runs as tasks.
    ToolTasks {
        /// `tools/call`, for tools with [`TaskSupport`](crate::TaskSupport).
        call: JsonObject,
    }
}

impl ClientTasksCapability {
    pub(crate) fn has(&self, path: &str) -> bool {
        let requests = self.requests.as_ref();
        match path {
            "tasks" => true,
            "tasks.list" => self.list.is_some(),
            "tasks.cancel" => self.cancel.is_some(),
            "tasks.requests.sampling.createMessage" => requests
                .and_then(|requests| requests.sampling.as_ref())
                .is_some_and(|sampling| sampling.create_message.is_some()),
            "tasks.requests.elicitation.create" => requests
                .and_then(|requests| requests.elicitation.as_ref())
                .is_some_and(|elicitation| elicitation.create.is_some()),
            _ => false,
        }
    }
}

impl ServerTasksCapability {
    pub(crate) fn has(&self, path: &str) -> bool {
        match path {
            "tasks" => true,
            "tasks.list" => self.list.is_some(),
            "tasks.cancel" => self.cancel.is_some(),
            "tasks.requests.tools.call" => {
                let tools = self.requests.as_ref().and_then(|requests| requests.tools.as_ref());
                tools.is_some_and(|tools| tools.call.is_some())
            }
            _ => false,
        }
    }
}
