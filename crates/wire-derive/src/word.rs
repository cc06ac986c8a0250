//! The words that say how a member is read, written and described.

use crate::word::Build::{Argument, Exact, Into, List};
use crate::word::Shape::{Any, Bool, Collection, OptionOf, OptionOfVec, PatchOf, PatchOfVec, Vector};
use crate::word::Written::{Always, UnlessDefault, UnlessEmpty, UnlessKept, UnlessNone};

/// A word of `#[wire(…)]` before a member.
pub(crate) struct Word {
    pub(crate) name: &'static str,
    /// What type the member must have.
    pub(crate) shape: Shape,
    /// The type of `agentwire_jsonrpc::wire` that reads it.
    pub(crate) way: &'static str,
    /// How a lenient decoding reads it.
    pub(crate) leniently: Leniently,
    /// Whether the object is malformed without it.
    pub(crate) is_required: bool,
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

/// How a lenient decoding reads a member: the second attempt at a value, which its reader would use in part.
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
            is_required: words!(@ $missing),
            written: $written,
            build: $build,
            keywords: &[$($keyword),*],
        },)+]
    };
    (@ error) => { true };
    (@ default) => { false };
}

pub(crate) const WORDS: &[Word] = words! {
    // word                  type        is read as      leniently  if missing  is written      is set   keywords
    "required"               Any         Strict          Needed     error       Always          Argument [];
    "expected"               Any         Strict          OrDefault  error       Always          Argument [];
    "required_items"         Vector      Items           Same       error       Always          Argument [ON_ERROR SKIP_ITEMS];
    "required_valid_items"   Vector      ValidItems      Same       error       Always          Argument [SKIP_ITEMS];
    "required_list"          Vector      NullAsDefault   Respelled  error       Always          List     [ON_NULL];
    "optional"               OptionOf    Strict          OrDefault  default     UnlessNone      Into     [];
    "number"                 OptionOf    Strict          OrDefault  default     UnlessNone      Exact    [];
    "nullable"               OptionOf    Strict          OrDefault  default     Always          Into     [];
    "optional_list"          OptionOfVec Strict          OrDefault  default     UnlessNone      List     [];
    "lenient"                OptionOf    Lenient         Same       default     UnlessNone      Into     [ON_ERROR];
    "lenient_number"         OptionOf    Lenient         Same       default     UnlessNone      Exact    [ON_ERROR];
    "lenient_list"           OptionOfVec Lenient         Same       default     UnlessNone      List     [ON_ERROR];
    "raw"                    OptionOf    RawOrNull       Same       default     UnlessNone      Into     [];
    "raw_object"             OptionOf    RawObjectOrNull OrDefault  default     UnlessNone      Into     [];
    "default"                Any         Lenient         Same       default     Always          Exact    [ON_ERROR];
    "or_default"             Any         Strict          Respelled  default     Always          Exact    [];
    "default_list"           Collection  NullAsDefault   OrDefault  default     Always          List     [];
    "flag"                   Bool        NullAsDefault   OrDefault  default     UnlessDefault   Exact    [];
    "list"                   Collection  NullAsDefault   Respelled  default     UnlessEmpty     List     [ON_NULL];
    "plain_list"             Collection  NullAsDefault   OrDefault  default     UnlessEmpty     List     [];
    "items"                  Vector      Items           Same       default     UnlessEmpty     List     [ON_ERROR SKIP_ITEMS];
    "optional_items"         OptionOfVec OptionalItems   Same       default     UnlessNone      List     [ON_ERROR SKIP_ITEMS];
    "patch"                  PatchOf     Lenient         Same       default     UnlessKept      Into     [ON_ERROR];
    "strict_patch"           PatchOf     Strict          Respelled  default     UnlessKept      Into     [];
    "patch_items"            PatchOfVec  PatchItems      Same       default     UnlessKept      Into     [ON_ERROR SKIP_ITEMS];
    "meta"                   OptionOf    Lenient         Same       default     UnlessNone      Into     [ON_ERROR];
    "strict_meta"            OptionOf    Strict          OrDefault  default     UnlessNone      Into     [];
};

impl Word {
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        WORDS.iter().find(|word| word.name == name)
    }

    /// The name that the member has on the wire whatever its field is called.
    pub(crate) fn wire_name(&self) -> Option<&'static str> {
        self.name.ends_with("meta").then_some("_meta")
    }
}
