/// Gives a struct its `new` and its setters.
///
/// `new` takes what the protocol requires. Each other field is listed with the kind of its setter:
///
/// | kind | the field is | the setter takes |
/// |---|---|---|
/// | `option` | `Option<T>` | anything that converts into `T` |
/// | `number` | `Option<T>` | a `T`, so that a literal needs no suffix |
/// | `list` | `Vec<T>` | anything to iterate over, of what converts into `T` |
/// | `option_list` | `Option<Vec<T>>` | the same |
/// | `patch` | `Patch<T>` | anything that converts into `T` |
/// | `plain` | `T` | a `T` |
///
/// Without `::new(…)` it makes only the setters.
macro_rules! builder {
    (
        $name:ident::new($($required:ident: $type:ty),*) {
            $($kind:ident $field:ident: $inner:ty,)*
        }
    ) => {
        impl $name {
            /// Makes one of what the protocol requires; the rest is left out until a setter adds it.
            #[must_use]
            pub fn new($($required: impl Into<$type>),*) -> Self {
                Self { $($required: $required.into(),)* $($field: Default::default(),)* }
            }
        }

        $crate::wire::builder! { $name { $($kind $field: $inner,)* } }
    };
    ($name:ident { $($kind:ident $field:ident: $inner:ty,)* }) => {
        impl $name {
            $($crate::wire::setter!($kind $field: $inner);)*
        }
    };
}
pub(crate) use builder;

/// One setter of [`builder!`].
macro_rules! setter {
    (option $field:ident: $type:ty) => {
        $crate::wire::setter!(@ $field (impl Into<$type>) $field => Some($field.into()));
    };
    (number $field:ident: $type:ty) => {
        $crate::wire::setter!(@ $field ($type) $field => Some($field));
    };
    (list $field:ident: $type:ty) => {
        $crate::wire::setter!(@ $field (impl IntoIterator<Item = impl Into<$type>>) $field =>
            $field.into_iter().map(Into::into).collect());
    };
    (option_list $field:ident: $type:ty) => {
        $crate::wire::setter!(@ $field (impl IntoIterator<Item = impl Into<$type>>) $field =>
            Some($field.into_iter().map(Into::into).collect()));
    };
    (patch $field:ident: $type:ty) => {
        $crate::wire::setter!(@ $field (impl Into<$type>) $field => $crate::wire::Patch::Set($field.into()));
    };
    (plain $field:ident: $type:ty) => {
        $crate::wire::setter!(@ $field ($type) $field => $field);
    };
    (@ $field:ident ($argument:ty) $value:ident => $set:expr) => {
        #[doc = concat!("Sets [`", stringify!($field), "`](Self#structfield.", stringify!($field), ").")]
        #[must_use]
        pub fn $field(mut self, $value: $argument) -> Self {
            self.$field = $set;
            self
        }
    };
}
pub(crate) use setter;

/// Defines objects that have no member of their own, only `_meta`.
macro_rules! empty_object {
    ($($(#[$doc:meta])* $name:ident,)+) => {$(
        $crate::wire::object! { $(#[$doc])* $name { meta, } }
    )+};
}
pub(crate) use empty_object;

/// Defines capabilities that have no member of their own: being present is the statement.
macro_rules! marker_capability {
    ($($(#[$doc:meta])* $name:ident,)+) => {$(
        $crate::wire::object! {
            $(#[$doc])*
            ///
            /// Being present is the statement.
            $name { meta, extra, }
        }
    )+};
}
pub(crate) use marker_capability;
