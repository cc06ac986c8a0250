//! The macro of the table of rules. It makes the impls of `Downgrade`, and data for the schema generator.

use crate::Revision;

/// A range of revisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Range {
    /// The first.
    pub since: Revision,
    /// The last; `None` if it goes on.
    pub until: Option<Revision>,
}

impl Range {
    /// From `since` to `until`.
    pub const fn new(since: Revision, until: Option<Revision>) -> Self {
        Self { since, until }
    }

    /// Whether the revision is in it.
    pub fn contains(self, revision: Revision) -> bool {
        self.since <= revision && self.until.is_none_or(|until| revision <= until)
    }
}

/// A member of a type in the revisions that differ from the type.
#[cfg(feature = "schema")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member {
    /// The type's name.
    pub owner: &'static str,
    /// The name of the type's field. On the wire it is called [`wire_name`](Self::wire_name).
    pub field: &'static str,
    /// The revisions that have it.
    pub range: Range,
    /// Whether those revisions require it; otherwise the requirement is that of the type.
    pub is_required: bool,
    /// The one revision that does not require it.
    pub except: Option<Revision>,
}

#[cfg(feature = "schema")]
impl Member {
    /// The member's name on the wire.
    pub fn wire_name(&self) -> String {
        match self.field {
            "meta" => "_meta".to_owned(),
            "dialect" => "$schema".to_owned(),
            "default_value" => "default".to_owned(),
            field => {
                let mut words = field.split('_');
                let first = words.next().unwrap_or_default().to_owned();
                words.fold(first, |name, word| name + &word[..1].to_uppercase() + &word[1..])
            }
        }
    }

    /// The requirement of that revision; `None` if it is that of the type.
    pub fn is_required_in(&self, revision: Revision) -> Option<bool> {
        self.is_required.then(|| self.range.contains(revision) && self.except != Some(revision))
    }
}

/// The revisions that have a variant of a union.
#[cfg(feature = "schema")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Variant {
    /// The union's name.
    pub owner: &'static str,
    /// The name of the variant's type.
    pub kind: &'static str,
    /// The revisions that have it.
    pub range: Range,
}

/// The range in a row of the table.
macro_rules! range {
    ($( since $since:ident )? $( until $until:ident )?) => {
        crate::downgrade::Range::new(range!(@since $( $since )?), range!(@until $( $until )?))
    };
    (@since) => { crate::Revision::V2024_11_05 };
    (@since $since:ident) => { crate::Revision::$since };
    (@until) => { None };
    (@until $until:ident) => { Some(crate::Revision::$until) };
}

/// A row per type: its members that are not in every revision, or not required in every one.
///
/// ```text
/// Type since V until V {                      which revisions have the type at all
///     member: since V until V                 which revisions have it
///     member: since V needs "capability"      and what the receiver must be capable of
///     member: is required [except V]          whether those revisions require it
///     member: since V is required or value    and what is filled in where it is missing
///     member: is required from sender         and nothing can be: without it the value does not fit
/// } each member, member                       members to downgrade in turn
///   first function                            what to do before a member goes
///   last function                             what else there is to check of what is left
/// ```
macro_rules! members {
    ($(
        $name:ident $( in $module:ident )? $( since $first:ident )? $( until $last:ident )? {
            $( $member:ident:
                $( since $since:ident )? $( until $until:ident )? $( needs $capability:literal )?
                $( is $required:ident $( except $except:ident )? $( from $sender:ident )? $( or $fill:expr )? )?
            ),* $(,)?
        }
        $( each $( $nested:ident ),+ )?
        $( first $( $rescue:ident )::+ )?
        $( last $( $check:ident )::+ )?
        ;
    )+) => {
        $(
            impl crate::Downgrade for crate::$( $module:: )?$name {
                #[allow(unused_variables, reason = "some types are the same in every revision")]
                fn downgrade(&mut self, revision: crate::Revision) {
                    $( $( $rescue )::+(self, revision); )?
                    $(
                        if !range!($( since $since )? $( until $until )?).contains(revision) {
                            self.$member = Default::default();
                        }
                        $( $(
                            else if self.$member.is_none() {
                                self.$member = Some($fill);
                            }
                        )? )?
                    )*
                    $( $( self.$nested.downgrade(revision); )+ )?
                }

                #[allow(unused_variables, reason = "some types are the same in every revision")]
                fn fits(&self, revision: crate::Revision) -> Result<(), crate::Unsupported> {
                    if !range!($( since $first )? $( until $last )?).contains(revision) {
                        return Err(crate::Unsupported::Unknown { what: stringify!($name), revision });
                    }
                    $(
                        let range = range!($( since $since )? $( until $until )?);
                        let except: Option<crate::Revision> = range!(@until $( $( $except )? )?);
                        $( $(
                            members!(@word $sender);
                            if range.contains(revision) && except != Some(revision) && self.$member.is_none() {
                                let (owner, member) = (stringify!($name), stringify!($member));
                                return Err(crate::Unsupported::Missing { owner, member, revision });
                            }
                        )? )?
                    )*
                    $( $( self.$nested.fits(revision)?; )+ )?
                    $( $( $check )::+(self, revision)?; )?
                    Ok(())
                }

                #[allow(unused_variables, reason = "most types need nothing")]
                fn lacks(&self, can: &dyn Fn(&str) -> bool) -> Option<&'static str> {
                    $( $(
                        if !crate::downgrade::is_absent(&self.$member) && !can($capability) {
                            return Some($capability);
                        }
                    )? )*
                    $( $( if let Some(lacking) = self.$nested.lacks(can) { return Some(lacking); } )+ )?
                    None
                }
            }
        )+

        #[cfg(feature = "schema")]
        pub(crate) const MEMBERS: &[crate::downgrade::Member] = &[$( $(
            crate::downgrade::Member {
                owner: stringify!($name),
                field: stringify!($member),
                range: range!($( since $since )? $( until $until )?),
                is_required: members!(@flag $( $required )?),
                except: range!(@until $( $( $except )? )?),
            },
        )* )+];
    };
    (@flag) => { false };
    (@flag required) => { true };
    (@word sender) => {};
}

/// A row per union: its variants, each with the revisions that have it, what the receiver must be capable of, and
/// what makes an older form of it. One that has no older form does not fit into an older revision.
///
/// `open` is a union that keeps what it does not know.
macro_rules! variants {
    ($(
        $name:ident {
            $( $variant:ident($kind:ident)
                $( since $since:ident )? $( needs $capability:literal )? $( else $older:path )?
            ),+ $(,)?
        } $( $open:ident )?
        ;
    )+) => {
        $(
            impl crate::Downgrade for crate::$name {
                fn downgrade(&mut self, revision: crate::Revision) {
                    $( variants!(@older self, revision, $variant $( $since )? $( , $older )?); )+
                    match self {
                        $( Self::$variant(value) => value.downgrade(revision), )+
                        $( variants!(@unknown $open) => {} )?
                    }
                }

                fn fits(&self, revision: crate::Revision) -> Result<(), crate::Unsupported> {
                    match self {
                        $(
                            Self::$variant(value) => {
                                $(
                                    if revision < crate::Revision::$since {
                                        return Err(crate::Unsupported::Unknown { what: stringify!($kind), revision });
                                    }
                                )?
                                value.fits(revision)
                            }
                        )+
                        $( variants!(@unknown $open) => Ok(()) )?
                    }
                }

                fn lacks(&self, can: &dyn Fn(&str) -> bool) -> Option<&'static str> {
                    match self {
                        $(
                            Self::$variant(value) => {
                                $( if !can($capability) { return Some($capability); } )?
                                value.lacks(can)
                            }
                        )+
                        $( variants!(@unknown $open) => None )?
                    }
                }
            }

            #[cfg(feature = "schema")]
            impl schemars::JsonSchema for crate::$name {
                fn schema_name() -> std::borrow::Cow<'static, str> {
                    stringify!($name).into()
                }

                fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                    let variants = [ $( generator.subschema_for::<crate::$kind>() ),+ ];
                    crate::schema::union(variants, variants!(@is_open $( $open )?))
                }
            }
        )+

        #[cfg(feature = "schema")]
        pub(crate) const VARIANTS: &[crate::downgrade::Variant] = &[$( $(
            crate::downgrade::Variant {
                owner: stringify!($name),
                kind: stringify!($kind),
                range: range!($( since $since )?),
            },
        )+ )+];
    };
    (@older $this:ident, $revision:ident, $variant:ident $( $since:ident )?) => {};
    (@older $this:ident, $revision:ident, $variant:ident $since:ident, $older:path) => {
        if let Self::$variant(value) = $this
            && $revision < crate::Revision::$since
        {
            *$this = $older(value).into();
        }
    };
    (@unknown open) => { Self::Unknown(_) };
    (@is_open) => { false };
    (@is_open open) => { true };
}
