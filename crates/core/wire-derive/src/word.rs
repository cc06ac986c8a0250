//! The words that say how a member is read, written and described.

use crate::word::Build::{Argument, Exact, Into, List};
use crate::word::Shape::{Any, Bool, Collection, OptionOf, OptionOfVec, PatchOf, PatchOfVec, Vector};
use crate::word::Written::{Always, UnlessDefault, UnlessEmpty, UnlessKept, UnlessNone};

/// A word of `#[wire(…)]` before a member.
pub(crate) struct Word {
    pub(crate) name: &'static str,
    /// The type that the member must have.
    pub(crate) shape: Shape,
    /// The type of `agentwire_jsonrpc::wire` that reads it.
    pub(crate) way: &'static str,
    /// How a lenient decoding reads it.
    pub(crate) leniently: Leniently,
    pub(crate) missing: Missing,
    pub(crate) written: Written,
    /// How `#[derive(Build)]` sets it.
    pub(crate) build: Build,
    /// The keywords that its schema has beside those of its type.
    pub(crate) keywords: &'static [&'static str],
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Shape {
    Any,
    Bool,
    OptionOf,
    OptionOfVec,
    Vector,
    Collection,
    PatchOf,
    PatchOfVec,
}

impl Shape {
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Any => "any type",
            Bool => "`bool`",
            OptionOf => "`Option<T>`",
            OptionOfVec => "`Option<Vec<T>>`",
            Vector => "`Vec<T>`",
            Collection => "`Vec<T>` or `BTreeMap<K, V>`",
            PatchOf => "`Patch<T>`",
            PatchOfVec => "`Patch<Vec<T>>`",
        }
    }
}

/// How a lenient decoding reads a member: the second attempt at a value that can be used in part.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Leniently {
    /// As the first.
    Same,
    /// As the first, or another spelling of the same value. Anything else is an error.
    Respelled,
    /// As `Respelled`, and a list without its bad items.
    Needed,
    /// As `Needed`; anything else is the default.
    OrDefault,
    /// As `OrDefault`, and anything but null and `false` is an empty object.
    OrEmpty,
}

/// How an object without the member is read.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Missing {
    /// The object is malformed.
    Error,
    /// The member has its default, and is optional in the schema.
    Default,
    /// The member is an empty list, although the schema requires it.
    Empty,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Written {
    Always,
    UnlessNone,
    UnlessEmpty,
    UnlessKept,
    /// Unless it is `false`.
    UnlessDefault,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Build {
    /// `new` takes it.
    Argument,
    /// A setter takes what converts into it, or into what an option or a patch holds.
    Into,
    /// A setter takes a value of the type itself, so that a literal needs no suffix.
    Exact,
    /// A setter takes anything to iterate over.
    List,
}

const ON_ERROR: &str = "x-deserialize-default-on-error";
const SKIP_ITEMS: &str = "x-deserialize-skip-invalid-items";
const ON_NULL: &str = "x-deserialize-default-on-null";

/// Makes the rows of the table.
macro_rules! words {
    ($($name:literal $shape:ident $way:ident $leniently:ident $missing:ident $written:ident $build:ident
      [$($keyword:ident)*];)+) => {
        &[$(Word {
            name: $name,
            shape: $shape,
            way: stringify!($way),
            leniently: Leniently::$leniently,
            missing: Missing::$missing,
            written: $written,
            build: $build,
            keywords: &[$($keyword),*],
        },)+]
    };
}

pub(crate) const WORDS: &[Word] = words! {
    // word                  type        is read as      leniently  if missing  is written      is set   keywords
    "required"               Any         Strict          Needed     Error       Always          Argument [];
    "expected"               Any         Strict          OrDefault  Error       Always          Argument [];
    "required_items"         Vector      Items           Same       Error       Always          Argument [ON_ERROR SKIP_ITEMS];
    "required_valid_items"   Vector      ValidItems      Same       Error       Always          Argument [SKIP_ITEMS];
    "required_list"          Vector      NullAsDefault   Respelled  Empty       Always          List     [ON_NULL];
    "optional"               OptionOf    Strict          OrDefault  Default     UnlessNone      Into     [];
    "strict"                 OptionOf    Strict          Respelled  Default     UnlessNone      Into     [];
    "capability"             OptionOf    Strict          OrEmpty    Default     UnlessNone      Into     [];
    "number"                 OptionOf    Strict          OrDefault  Default     UnlessNone      Exact    [];
    "nullable"               OptionOf    Strict          OrDefault  Default     Always          Into     [];
    "optional_list"          OptionOfVec Strict          OrDefault  Default     UnlessNone      List     [];
    "lenient"                OptionOf    Lenient         Same       Default     UnlessNone      Into     [ON_ERROR];
    "lenient_number"         OptionOf    Lenient         Same       Default     UnlessNone      Exact    [ON_ERROR];
    "lenient_list"           OptionOfVec Lenient         Same       Default     UnlessNone      List     [ON_ERROR];
    "raw"                    OptionOf    RawOrNull       Same       Default     UnlessNone      Into     [];
    "raw_object"             OptionOf    RawObjectOrNull OrDefault  Default     UnlessNone      Into     [];
    "default"                Any         Lenient         Same       Default     Always          Exact    [ON_ERROR];
    "or_default"             Any         Strict          Respelled  Default     Always          Exact    [];
    "default_list"           Collection  NullAsDefault   OrDefault  Default     Always          List     [];
    "flag"                   Bool        NullAsDefault   OrDefault  Default     UnlessDefault   Exact    [];
    "list"                   Collection  NullAsDefault   Respelled  Default     UnlessEmpty     List     [ON_NULL];
    "plain_list"             Collection  NullAsDefault   OrDefault  Default     UnlessEmpty     List     [];
    "items"                  Vector      Items           Same       Default     UnlessEmpty     List     [ON_ERROR SKIP_ITEMS];
    "optional_items"         OptionOfVec OptionalItems   Same       Default     UnlessNone      List     [ON_ERROR SKIP_ITEMS];
    "patch"                  PatchOf     Lenient         Same       Default     UnlessKept      Into     [ON_ERROR];
    "strict_patch"           PatchOf     Strict          Respelled  Default     UnlessKept      Into     [];
    "patch_items"            PatchOfVec  PatchItems      Same       Default     UnlessKept      Into     [ON_ERROR SKIP_ITEMS];
    "meta"                   OptionOf    Lenient         Same       Default     UnlessNone      Into     [ON_ERROR];
    "strict_meta"            OptionOf    Strict          OrDefault  Default     UnlessNone      Into     [];
};

impl Word {
    /// Whether the schema requires the member.
    pub(crate) fn is_required(&self) -> bool {
        self.missing != Missing::Default
    }

    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        WORDS.iter().find(|word| word.name == name)
    }

    /// The name that the member has on the wire whatever its field is called.
    pub(crate) fn wire_name(&self) -> Option<&'static str> {
        self.name.ends_with("meta").then_some("_meta")
    }
}
