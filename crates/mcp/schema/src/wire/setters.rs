//! Chained setters for the members that `new` does not ask for, and `new` where it asks for none.

/// Chained setters. `some` wraps the value, for optional members; `set` takes it as it is; `list` takes anything to iterate
/// over.
macro_rules! setters {
    ($name:ident { $( $how:ident $field:ident: $kind:ty, )+ }) => {
        impl $name {
            $( setters!(@ $how $field: $kind); )+
        }
    };
    (@ list $field:ident: $item:ty) => {
        #[doc = concat!("Sets [`", stringify!($field), "`](Self#structfield.", stringify!($field), ").")]
        #[must_use]
        pub fn $field(mut self, $field: impl IntoIterator<Item = impl Into<$item>>) -> Self {
            self.$field = $field.into_iter().map(Into::into).collect();
            self
        }
    };
    (@ some $field:ident: $kind:ty) => {
        #[doc = concat!("Sets [`", stringify!($field), "`](Self#structfield.", stringify!($field), ").")]
        #[must_use]
        pub fn $field(mut self, $field: impl Into<$kind>) -> Self {
            self.$field = Some($field.into());
            self
        }
    };
    (@ set $field:ident: $kind:ty) => {
        #[doc = concat!("Sets [`", stringify!($field), "`](Self#structfield.", stringify!($field), ").")]
        #[must_use]
        pub fn $field(mut self, $field: impl Into<$kind>) -> Self {
            self.$field = $field.into();
            self
        }
    };
}

/// `new` for types that require nothing. It is the same as `default`.
macro_rules! empty {
    ($($name:ty),+ $(,)?) => {
        $(impl $name {
            /// Makes one without any member.
            #[must_use]
            pub fn new() -> Self {
                Self::default()
            }
        })+
    };
}
