//! The types that both task protocols have, but for the names of some members.

/// Defines a task with its status. The extension names the unit of a time in the member's name, 2025-11-25 does not.
macro_rules! task_type {
    (time to live: $ttl:ident, poll interval: $poll_interval:ident) => {
        /// A task with its status.
        #[derive(Clone, Debug, PartialEq, Eq, agentwire_wire_derive::Wire)]
        #[non_exhaustive]
        pub struct Task {
            /// Its id, which the side that runs it chooses so that others cannot guess it.
            #[wire(required)]
            pub task_id: String,
            /// Its status.
            #[wire(required)]
            pub status: TaskStatus,
            /// A description of the status for people.
            #[wire(optional)]
            pub status_message: Option<String>,
            /// When it was created, in ISO 8601.
            #[wire(expected)]
            pub created_at: String,
            /// When it last changed, in ISO 8601.
            #[wire(expected)]
            pub last_updated_at: String,
            /// How long it is kept from its creation on, in milliseconds; none, written as `null`, is without limit.
            #[wire(nullable, schema(extend("x-nullable" = true)))]
            pub $ttl: Option<u64>,
            /// How long to wait between two requests for its status, in milliseconds.
            #[wire(optional)]
            pub $poll_interval: Option<u64>,
        }

        impl Task {
            /// Makes a running task that was created at that time.
            pub fn new(task_id: impl Into<String>, created_at: impl Into<String>) -> Self {
                let created_at = created_at.into();
                Self {
                    task_id: task_id.into(),
                    status: TaskStatus::Working,
                    status_message: None,
                    last_updated_at: created_at.clone(),
                    created_at,
                    $ttl: None,
                    $poll_interval: None,
                }
            }
        }

        setters!(Task {
            set status: TaskStatus,
            some status_message: String,
            set last_updated_at: String,
            some $ttl: u64,
            some $poll_interval: u64,
        });
    };
}

/// Defines a request about one task, as both task protocols have it: the task's id and `_meta`.
macro_rules! task_requests {
    ($( $(#[$attribute:meta])* $request:ident; )+) => {
        $(
            $(#[$attribute])*
            #[derive(Clone, Debug, PartialEq, Eq, agentwire_wire_derive::Wire)]
            #[non_exhaustive]
            pub struct $request {
                /// The task's id.
                #[wire(required)]
                pub task_id: String,
                /// Extension metadata.
                #[wire(strict_meta)]
                pub meta: Option<crate::Meta>,
            }

            impl $request {
                /// Makes the request for that task.
                pub fn new(task_id: impl Into<String>) -> Self {
                    Self { task_id: task_id.into(), meta: None }
                }
            }

            setters!($request {
                some meta: crate::Meta,
            });

            has_meta!($request);
        )+
    };
}
