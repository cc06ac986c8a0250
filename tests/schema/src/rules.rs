//! The documented exceptions of each protocol's readers from the published schema.

use serde_json::Value;

use crate::shape::Shape;

/// The rules by which the documented way of reading goes beyond a schema. Each row has its reason.
#[derive(Clone, Debug)]
pub struct Rules {
    /// `null` counts as missing wherever a member is optional.
    pub(crate) null_is_absent: bool,
    /// Whatever has no schema is kept as the JSON text that came, and not looked into; a result's other members
    /// that no schema names may go.
    pub(crate) keeps_text: bool,
    /// Members and definitions that are kept as text although they have a schema.
    text: &'static [Row<&'static str>],
    /// Definitions of which a reader may take what is wrong, or refuse it.
    loose: &'static [Row<&'static str>],
    /// Definitions of which the branch for all others is kept whole, whatever is in it.
    loose_rest: &'static [Row<&'static str>],
    /// The same for members; without an owner, wherever they are.
    loose_members: &'static [Row<(&'static str, &'static str)>],
    /// Members that a reader may change.
    free: &'static [Row<&'static str>],
    /// Definitions where null is not refused by everybody.
    nullable: &'static [Row<&'static str>],
    /// Required members that a reader may do without, wherever they are.
    forgiven_anywhere: &'static [Row<&'static str>],
    /// Members of definitions whose words are a closed set although others are open.
    closed_members: &'static [Row<(&'static str, &'static str)>],
    /// Definitions that are read by stable types where they stand inside of others: those keep what drafts add as
    /// it is, and a reader that wants it asks for a view of it.
    pub(crate) is_viewed: fn(&str) -> bool,
    /// A number that no type holds may be refused or not.
    pub(crate) is_draft: bool,
    /// A reader may take a list that is missing for an empty one.
    pub(crate) missing_list_is_empty: bool,
    /// Required members that a reader may do without.
    forgiven: &'static [Row<(&'static str, &'static str)>],
    /// Members that are the same as missing when they are false.
    off_by_default: &'static [&'static str],
    /// Definitions whose words or tags are a closed set although others are open.
    closed: &'static [Row<&'static str>],
    /// Members of definitions where `null` differs from leaving the member out.
    null_speaks: &'static [Row<(&'static str, &'static str)>],
    /// Members whose default only the protocol's prose names, so that a reader may spell it out.
    defaults: &'static [Row<(&'static str, &'static str)>],
    /// Definitions that keep every member, known or not.
    keeps_all: fn(&str) -> bool,
}

/// The subject, and the reason or the meaning.
type Row<T> = (T, &'static str);

/// How ACP is read.
pub const ACP: Rules = Rules {
    null_is_absent: false,
    keeps_text: true,
    text: &[],
    loose: &[
        ("ElicitationSchemaType", "a form is an object, whatever it says"),
        ("ErrorData", "it is kept as it came"),
        ("ErrorCode", "JSON-RPC has no bounds for it"),
        (
            "Error",
            "a call has failed in any case, so a code or a message that cannot be read costs nothing else",
        ),
        ("RequestId", "JSON-RPC has no bounds for it, and null where it could not be read"),
    ],
    loose_rest: &[("CreateElicitationRequest", "a foreign mode is kept whole, whatever its scope is")],
    loose_members: &[
        (("", "env"), "configuration files have an object of names and values here"),
        (("McpServerHttp", "headers"), "configuration files have an object of names and values here"),
        (("McpServerSse", "headers"), "configuration files have an object of names and values here"),
    ],
    free: &[],
    nullable: &[("RequestId", "JSON-RPC has it for requests whose id could not be read")],
    forgiven_anywhere: &[],
    closed_members: &[],
    missing_list_is_empty: false,
    is_viewed: |_| false,
    is_draft: false,
    forgiven: &[],
    off_by_default: &[],
    closed: &[
        ("RequestPermissionOutcome", "what is not a refusal must not pass for consent"),
        ("SetSessionConfigOptionRequest", "an option is not set to a value of a kind that nobody knows"),
    ],
    null_speaks: &[
        (("SessionInfoUpdate", "title"), "null clears"),
        (("SessionInfoUpdate", "updatedAt"), "null clears"),
        (("CompactionUpdate", "summary"), "null clears"),
        (("CompactionUpdate", "error"), "null clears"),
        (("CompactionUpdate", "_meta"), "null clears"),
    ],
    defaults: &[(("ToolCall", "kind"), "other"), (("ToolCall", "status"), "pending")],
    // Real peers put members of their own into capabilities.
    keeps_all: |name| name.ends_with("Capabilities"),
};

/// How the second version of ACP is read.
pub const ACP_V2: Rules = Rules { is_draft: true, is_viewed: |name| name == "ErrorData", ..ACP };

/// How the drafts of ACP's versions are read.
pub const ACP_DRAFT: Rules = Rules {
    is_draft: true,
    is_viewed: |name| {
        ["ErrorData", "McpServer", "BackgroundWork", "PlanUpdateContent"].contains(&name)
            || name.ends_with("Capabilities")
    },
    ..ACP
};

/// How MCP is read.
pub const MCP: Rules = Rules {
    null_is_absent: true,
    keeps_text: true,
    text: &[
        ("_meta", "it belongs to others"),
        ("inputSchema", "a schema keeps every keyword, and nothing validates one"),
        ("GetTaskPayloadResult", "what it is depends on the request that the task is of"),
        ("outputSchema", "a schema keeps every keyword, and nothing validates one"),
    ],
    loose: &[
        ("GetTaskPayloadResult", "what it is depends on the request that the task is of"),
        ("InputResponse", "what it is depends on the question"),
        ("InputResponses", "what they are depends on the questions"),
        ("EnumSchema", "its type is told from others by its choices"),
        (
            "Error",
            "a call has failed in any case, so a code or a message that cannot be read costs nothing else",
        ),
    ],
    loose_rest: &[],
    loose_members: &[
        (("", "enum"), "the choices tell what kind of field it is"),
        (("", "oneOf"), "the choices tell what kind of field it is"),
        (("", "anyOf"), "the choices tell what kind of field it is"),
        (("ElicitRequestFormParams", "mode"), "a form is one without it"),
        (("ElicitResult", "content"), "what was filled in is for who asked"),
    ],
    free: &[("enumNames", "they are kept as far as they name a value")],
    nullable: &[("RequestId", "JSON-RPC has it for requests whose id could not be read")],
    forgiven_anywhere: &[
        ("resultType", "older revisions have none"),
        ("ttlMs", "what nobody may keep needs no time"),
        ("cacheScope", "what nobody may keep needs no scope"),
        ("_meta", "older revisions have none"),
    ],
    closed_members: &[
        (("ElicitRequestFormParams", "mode"), "a form is one without it"),
        (("NumberSchema", "type"), "a field of an unknown type is kept, but not as a number"),
        (("SetLevelRequestParams", "level"), "a server cannot obey a level that it does not know"),
        (("CompleteRequestParams", "ref"), "nobody can complete what they do not know"),
    ],
    missing_list_is_empty: true,
    is_viewed: |_| false,
    is_draft: false,
    forgiven: &[
        (("Task", "ttl"), "null says that it is kept, and so does its absence"),
        (("", "title"), "a choice without a title is its own title"),
    ],
    off_by_default: &[
        "isError",
        "listChanged",
        "subscribe",
        "hasMore",
        "required",
        "promptsListChanged",
        "resourcesListChanged",
        "toolsListChanged",
    ],
    closed: &[
        ("InputRequest", "nobody can answer a question that they do not know"),
        ("ElicitRequestParams", "nobody can ask the user in a way that they do not know"),
    ],
    null_speaks: &[],
    defaults: &[(("ElicitRequestFormParams", "mode"), "form")],
    keeps_all: |name| name.ends_with("Capabilities"),
};

impl Rules {
    /// The same for what we write: nothing that the schema does not know.
    pub fn for_writers(&self) -> Self {
        Self { keeps_all: |_| false, free: &[], ..self.clone() }
    }

    pub(crate) fn is_closed(&self, definition: &str) -> bool {
        self.closed.iter().any(|(closed, _)| *closed == definition)
    }

    pub(crate) fn is_closed_member(&self, owner: &[&str], member: &str) -> bool {
        self.closed_members.iter().any(|((of, named), _)| *named == member && owner.contains(of))
    }

    /// Whether something is kept as text, by what it is called where it stands, or by what it is.
    pub(crate) fn is_text(&self, owner: &[&str], member: &str, names: &[&str], shapes: &[Shape]) -> bool {
        let definitions = shapes.iter().flat_map(|shape| &shape.definitions).chain(names);
        let is = |name: &str| self.text.iter().any(|(text, _)| *text == name);
        // The schema of a schema may have such members, too.
        is(member) && !owner.is_empty() || definitions.copied().any(is)
    }

    pub(crate) fn may_be_null(&self, definition: &str) -> bool {
        self.nullable.iter().any(|(nullable, _)| *nullable == definition)
    }

    pub(crate) fn is_loose(&self, definition: &str) -> bool {
        self.loose.iter().any(|(loose, _)| *loose == definition)
    }

    pub(crate) fn has_loose_rest(&self, definitions: &[&str]) -> bool {
        self.loose_rest.iter().any(|(loose, _)| definitions.contains(loose))
    }

    pub(crate) fn is_loose_member(&self, owner: &[&str], member: &str) -> bool {
        let is = |(of, named): &(&str, &str)| *named == member && (of.is_empty() || owner.contains(of));
        self.loose_members.iter().any(|(loose, _)| is(loose))
    }

    pub(crate) fn is_free(&self, member: &str) -> bool {
        self.free.iter().any(|(free, _)| *free == member)
    }

    pub(crate) fn null_says_something(&self, definitions: &[&str], member: &str) -> bool {
        let is =
            |name: &&str| self.null_speaks.iter().any(|((of, speaks), _)| of == name && *speaks == member);
        definitions.iter().any(is)
    }

    pub(crate) fn default(&self, definitions: &[&str], member: &str) -> Option<Value> {
        let is = |name: &&str| self.defaults.iter().find(|((of, named), _)| of == name && *named == member);
        let off = self.off_by_default.contains(&member).then_some(Value::Bool(false));
        definitions.iter().find_map(is).map(|(_, word)| Value::from(*word)).or(off)
    }

    pub(crate) fn forgives(&self, definitions: &[&str], member: &str) -> bool {
        let is = |name: &&str| self.forgiven.iter().any(|((of, named), _)| of == name && *named == member);
        let inline = definitions.is_empty() && is(&"");
        inline || definitions.iter().any(is) || self.forgiven_anywhere.iter().any(|(name, _)| *name == member)
    }

    pub(crate) fn keeps_all(&self, definitions: &[&str]) -> bool {
        definitions.iter().any(|name| (self.keeps_all)(name))
    }
}
