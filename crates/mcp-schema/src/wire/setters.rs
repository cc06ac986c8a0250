//! Chained setters for the members that `new` does not ask for.

/// `some` wraps the value in `Some`, `set` stores it as it is.
macro_rules! setters {
    ($name:ident { $( $how:ident $field:ident: $kind:ty, )+ }) => {
        impl $name {
            $(
                #[doc = concat!("Sets [`", stringify!($field), "`](Self#structfield.", stringify!($field), ").")]
                #[must_use]
                pub fn $field(mut self, $field: impl Into<$kind>) -> Self {
                    self.$field = setters!(@ $how $field.into());
                    self
                }
            )+
        }
    };
    (@ some $value:expr) => { Some($value) };
    (@ set $value:expr) => { $value };
}
