//! Objects without a member of their own.

/// Defines objects that have only `_meta`.
macro_rules! empty_object {
    ($($(#[$doc:meta])* $name:ident,)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct $name {
            /// Free room: its keys belong to whoever sent them.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
        }
    )+};
}
pub(crate) use empty_object;

/// Defines capabilities that have no member of their own: being present is the statement.
macro_rules! marker_capability {
    ($($(#[$doc:meta])* $name:ident,)+) => {$(
        $(#[$doc])*
        ///
        /// Being present is the statement.
        #[derive(Clone, Debug, Default, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct $name {
            /// Free room: its keys belong to whoever sent them.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
            /// Members that this version does not know, as they came: real peers say more than the schema lists.
            #[wire(extra)]
            pub extra: $crate::common::Meta,
        }
    )+};
}
pub(crate) use marker_capability;
