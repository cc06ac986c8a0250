//! Objects without members of their own, or with a session alone: beside these `_meta`, and in capabilities also unknown
//! members.

/// Defines objects that have only `_meta`.
macro_rules! empty_object {
    ($($(#[$doc:meta])* $name:ident,)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct $name {
            /// Extension metadata; receivers make no assumptions about its keys.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
        }
    )+};
}
pub(crate) use empty_object;

/// Defines params that name a session and nothing else.
macro_rules! session_params {
    ($($(#[$doc:meta])* $name:ident,)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct $name {
            /// The session.
            #[wire(required)]
            pub session_id: $crate::common::SessionId,
            /// Extension metadata; receivers make no assumptions about its keys.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
        }
    )+};
}
pub(crate) use session_params;

/// Defines capabilities without members: a peer has the capability if the object is present.
macro_rules! marker_capability {
    ($($(#[$doc:meta])* $name:ident,)+) => {$(
        $(#[$doc])*
        ///
        /// A peer has the capability if the object is present.
        #[derive(Clone, Debug, Default, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct $name {
            /// Extension metadata; receivers make no assumptions about its keys.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
            /// Members that this version does not know, unchanged: real peers send more than the schema lists.
            #[wire(extra)]
            pub extra: $crate::common::Meta,
        }
    )+};
}
pub(crate) use marker_capability;
