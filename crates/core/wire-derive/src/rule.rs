//! The rules by which a member is read, written, built and described.

use crate::rule::BuildRule::{Argument, Exact, Into, List};
use crate::rule::Shape::{Any, Bool, Collection, OptionOf, OptionOfVec, PatchOf, PatchOfVec, Vector};
use crate::rule::WriteRule::{Always, UnlessDefault, UnlessEmpty, UnlessKept, UnlessNone};

/// A rule for a member, named in its attribute `#[wire(…)]`.
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    /// The type that the member must have.
    pub(crate) shape: Shape,
    /// The type of `agentwire_jsonrpc::wire` that reads the member.
    pub(crate) reader: &'static str,
    /// The rule of a lenient decoding.
    pub(crate) leniently: LenientRule,
    pub(crate) missing: MissingRule,
    pub(crate) written: WriteRule,
    /// How `#[derive(Build)]` sets the member.
    pub(crate) build: BuildRule,
    /// The keywords that are added to the schema of the member's type.
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

/// How a lenient decoding, which is the second attempt at a value, reads a member.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum LenientRule {
    /// As the strict decoding.
    Same,
    /// As the strict decoding, also from other spellings of the same value. Any other value is an error.
    AnySpelling,
    /// As `AnySpelling`, but malformed items of a list are dropped.
    Needed,
    /// As `Needed`, but any other value is the default.
    OrDefault,
    /// As `OrDefault`, but any value except `null` and `false` is an empty object.
    OrEmpty,
}

/// How an object without the member is read.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum MissingRule {
    /// The object is malformed.
    Error,
    /// The member has its default, and is optional in the schema.
    Default,
    /// The member is an empty list, although the schema requires it.
    Empty,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum WriteRule {
    Always,
    UnlessNone,
    UnlessEmpty,
    UnlessKept,
    /// Unless it is `false`.
    UnlessDefault,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum BuildRule {
    /// It is an argument of `new`.
    Argument,
    /// A setter takes a value that converts into the type, or into the type in an option or a patch.
    Into,
    /// A setter takes a value of the type itself, so that a literal needs no suffix.
    Exact,
    /// A setter takes an iterator.
    List,
}

const ON_ERROR: &str = "x-deserialize-default-on-error";
const SKIP_ITEMS: &str = "x-deserialize-skip-invalid-items";
const ON_NULL: &str = "x-deserialize-default-on-null";

/// Makes the rows of the table.
macro_rules! rules {
    ($($name:literal $shape:ident $reader:ident $leniently:ident $missing:ident $written:ident $build:ident
      [$($keyword:ident)*];)+) => {
        &[$(Rule {
            name: $name,
            shape: $shape,
            reader: stringify!($reader),
            leniently: LenientRule::$leniently,
            missing: MissingRule::$missing,
            written: $written,
            build: $build,
            keywords: &[$($keyword),*],
        },)+]
    };
}

pub(crate) const RULES: &[Rule] = rules! {
    // rule                  type        is read as      leniently   if missing  is written      is set   keywords
    "required"               Any         Strict          Needed      Error       Always          Argument [];
    "expected"               Any         Strict          OrDefault   Error       Always          Argument [];
    "required_items"         Vector      Items           Same        Error       Always          Argument [ON_ERROR SKIP_ITEMS];
    "required_valid_items"   Vector      ValidItems      Same        Error       Always          Argument [SKIP_ITEMS];
    "required_list"          Vector      NullAsDefault   AnySpelling Empty       Always          List     [ON_NULL];
    "optional"               OptionOf    Strict          OrDefault   Default     UnlessNone      Into     [];
    "strict"                 OptionOf    Strict          AnySpelling Default     UnlessNone      Into     [];
    "capability"             OptionOf    Strict          OrEmpty     Default     UnlessNone      Into     [];
    "number"                 OptionOf    Strict          OrDefault   Default     UnlessNone      Exact    [];
    "nullable"               OptionOf    Strict          OrDefault   Default     Always          Into     [];
    "optional_list"          OptionOfVec Strict          OrDefault   Default     UnlessNone      List     [];
    "lenient"                OptionOf    DefaultOnError  Same        Default     UnlessNone      Into     [ON_ERROR];
    "lenient_number"         OptionOf    DefaultOnError  Same        Default     UnlessNone      Exact    [ON_ERROR];
    "lenient_list"           OptionOfVec DefaultOnError  Same        Default     UnlessNone      List     [ON_ERROR];
    "raw"                    OptionOf    RawOrNull       Same        Default     UnlessNone      Into     [];
    "raw_object"             OptionOf    RawObjectOrNull OrDefault   Default     UnlessNone      Into     [];
    "default"                Any         DefaultOnError  Same        Default     Always          Exact    [ON_ERROR];
    "or_default"             Any         Strict          AnySpelling Default     Always          Exact    [];
    "default_list"           Collection  NullAsDefault   OrDefault   Default     Always          List     [];
    "flag"                   Bool        NullAsDefault   OrDefault   Default     UnlessDefault   Exact    [];
    "list"                   Collection  NullAsDefault   AnySpelling Default     UnlessEmpty     List     [ON_NULL];
    "plain_list"             Collection  NullAsDefault   OrDefault   Default     UnlessEmpty     List     [];
    "items"                  Vector      Items           Same        Default     UnlessEmpty     List     [ON_ERROR SKIP_ITEMS];
    "optional_items"         OptionOfVec OptionalItems   Same        Default     UnlessNone      List     [ON_ERROR SKIP_ITEMS];
    "patch"                  PatchOf     DefaultOnError  Same        Default     UnlessKept      Into     [ON_ERROR];
    "strict_patch"           PatchOf     Strict          AnySpelling Default     UnlessKept      Into     [];
    "patch_items"            PatchOfVec  PatchItems      Same        Default     UnlessKept      Into     [ON_ERROR SKIP_ITEMS];
    "meta"                   OptionOf    DefaultOnError  Same        Default     UnlessNone      Into     [ON_ERROR];
    "strict_meta"            OptionOf    Strict          OrDefault   Default     UnlessNone      Into     [];
};

impl Rule {
    /// Returns whether the schema requires the member.
    pub(crate) fn is_required(&self) -> bool {
        self.missing != MissingRule::Default
    }

    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        RULES.iter().find(|rule| rule.name == name)
    }

    /// The fixed name of the member on the wire. `None` if the field has it.
    pub(crate) fn wire_name(&self) -> Option<&'static str> {
        self.name.ends_with("meta").then_some("_meta")
    }
}
