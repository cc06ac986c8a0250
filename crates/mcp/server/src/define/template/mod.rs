//! URI templates, read backwards: from a URI to the values that a template was filled in with.
//!
//! RFC 6570 defines only how a template is filled in. Existing crates do only that, match a part of the syntax, or have a
//! licence that few servers can accept. Here a template is compiled to a small program, which runs over the URI without
//! backtracking, so no URI makes it slow.

mod error;
mod matching;
mod program;

use std::collections::BTreeMap;
use std::fmt;

use self::program::Program;

pub use self::error::UriTemplateError;

/// A URI template of RFC 6570, up to its level 3: `{id}`, `{+path}`, `{#part}`, `{.kind}`, `{/name}`, `{;point}`,
/// `{?query,limit}` and `{&more}`. The modifiers of level 4, `{list*}` and `{word:3}`, are not taken.
///
/// ```
/// use agentwire_mcp_server::UriTemplate;
///
/// let template: UriTemplate = "notes:///{shelf}{?language}".parse()?;
/// let values = template.matches("notes:///Jane%20Austen?language=en").expect("it is one of these");
/// assert_eq!((&*values["shelf"], &*values["language"]), ("Jane Austen", "en"));
/// assert_eq!(template.matches("notes:///a/b"), None);
/// # Ok::<(), agentwire_mcp_server::UriTemplateError>(())
/// ```
///
/// See <https://www.rfc-editor.org/rfc/rfc6570>.
#[derive(Clone)]
pub struct UriTemplate {
    text: Box<str>,
    program: Program,
}

impl UriTemplate {
    /// The values that the template was filled in with to become that URI, by the names of its variables, or `None` if
    /// it cannot have become it.
    ///
    /// Variables that were left out are missing. Where a URI can be read in several ways, a variable takes as much as it
    /// can, the first one first; but in a list such as `{+x,y}`, a comma ends the value of each but the last. A variable that occurs
    /// twice must fit with the value that it takes first: `{a}-{a}` does not match `x-y-x-y`. The values are
    /// percent-decoded, so they may contain anything but NUL, such as `/`, `\` and `..`, also where the template has
    /// `{name}`: code that makes a path of one must look at it, or [refuse](crate::ServerResourceTemplate::segments_only)
    /// what is not a single segment. A URI with `%00` in a value does not match.
    pub fn matches(&self, uri: &str) -> Option<BTreeMap<String, String>> {
        matching::run(&self.program, uri)
    }

    /// The names of its variables, in their order in the template.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.program.variables().iter().map(|name| &**name)
    }

    /// The template as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl std::str::FromStr for UriTemplate {
    type Err = UriTemplateError;

    fn from_str(text: &str) -> Result<Self, UriTemplateError> {
        Ok(Self { text: text.into(), program: Program::compile(text)? })
    }
}

impl fmt::Debug for UriTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UriTemplate").field(&self.text).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values in the order of their names, as one text; `-` where the URI does not fit.
    fn read(template: &str, uri: &str) -> String {
        let template: UriTemplate = template.parse().expect("a template");
        let pairs = template.matches(uri).map(|values| {
            values.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
        });
        pairs.unwrap_or_else(|| "-".to_owned())
    }

    #[test]
    fn values_of_level_1_to_3_are_read_back() {
        // The values and most templates are those with which RFC 6570 shows its levels.
        for (template, uri, values) in [
            ("test://template/{id}/data", "test://template/123/data", "id=123"),
            ("{var}", "value", "var=value"),
            ("{hello}", "Hello%20World%21", "hello=Hello World!"),
            ("{+path}/here", "/foo/bar/here", "path=/foo/bar"),
            ("here?ref={+path}", "here?ref=/foo/bar", "path=/foo/bar"),
            ("X{#hello}", "X#Hello%20World!", "hello=Hello World!"),
            ("map?{x,y}", "map?1024,768", "x=1024 y=768"),
            ("{+x,hello,y}", "1024,Hello%20World!,768", "hello=Hello World! x=1024 y=768"),
            ("{#path,x}/here", "#/foo/bar,1024/here", "path=/foo/bar x=1024"),
            ("X{.x,y}", "X.1024.768", "x=1024 y=768"),
            ("X{.x}", "X.1024.768", "x=1024.768"),
            ("{/var,x}/here", "/value/1024/here", "var=value x=1024"),
            ("{;x,y,empty}", ";x=1024;y=768;empty", "empty= x=1024 y=768"),
            ("{?x,y,empty}", "?x=1024&y=768&empty=", "empty= x=1024 y=768"),
            ("?fixed=yes{&x}", "?fixed=yes&x=1024", "x=1024"),
        ] {
            assert_eq!(read(template, uri), values, "{template} {uri}");
        }
    }

    #[test]
    fn uri_that_a_template_cannot_become_does_not_fit() {
        for (template, uri) in [
            ("test://template/{id}/data", "test://template/1/2/data"),
            ("test://template/{id}/data", "test://template/123/data/"),
            ("test://template/{id}/data", "test://other/123/data"),
            ("notes:///{id}", "notes:///a?b"),
            ("notes:///{id}", "notes:///%4"),
            ("notes:///{id}", "notes:///%FF"),
            ("notes:///{id}", "notes:///a%00b"),
            ("notes:///{+id}", "notes:///%00"),
            ("notes:///{id}/{id}", "notes:///a/b"),
            // The first value is the longest, and is not revised.
            ("{a}-{a}", "x-y-x-y"),
            ("notes:///{?x,y}", "notes:///?z=1"),
            ("{;x}", ";xy=1"),
        ] {
            assert_eq!(read(template, uri), "-", "{template} {uri}");
        }
    }

    #[test]
    fn omitted_values_are_missing() {
        assert_eq!(read("notes:///list{?x,y}", "notes:///list"), "");
        assert_eq!(read("notes:///list{?x,y}", "notes:///list?y=2"), "y=2");
        assert_eq!(read("notes:{/shelf,book}", "notes:/a"), "shelf=a");
        assert_eq!(read("notes:///{id}", "notes:///"), "");
    }

    #[test]
    fn malformed_template_has_a_reason() {
        let fault = |text: &str| text.parse::<UriTemplate>().expect_err("it is wrong");
        assert_eq!(fault("a{b"), UriTemplateError::Brace("{b".to_owned()));
        assert_eq!(fault("a}b"), UriTemplateError::Brace("}b".to_owned()));
        assert_eq!(fault("{!a}"), UriTemplateError::Operator('!'));
        assert_eq!(fault("{}"), UriTemplateError::Name(String::new()));
        assert_eq!(fault("{a,}"), UriTemplateError::Name(String::new()));
        assert_eq!(fault("{a b}"), UriTemplateError::Name("a b".to_owned()));
        assert_eq!(fault("{a*}"), UriTemplateError::Modifier("a*".to_owned()));
        assert_eq!(fault("{a:3}"), UriTemplateError::Modifier("a:3".to_owned()));
    }

    /// Fills in `{?x,y}` and the like, by section 3.2.1 of RFC 6570.
    fn fill_in(operator: &str, values: &BTreeMap<String, String>) -> String {
        let (first, separator, named) = match operator {
            "" | "+" => ("", ",", false),
            "#" => ("#", ",", false),
            ";" => (";", ";", true),
            "?" => ("?", "&", true),
            "&" => ("&", "&", true),
            other => (other, other, false),
        };
        let is_kept = |byte: u8| {
            byte.is_ascii_alphanumeric()
                || b"-._~".contains(&byte)
                || (matches!(operator, "+" | "#") && b":/?#[]@!$&'()*+,;=".contains(&byte))
        };
        let encode = |value: &str| -> String {
            let one =
                |byte: u8| if is_kept(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
            value.bytes().map(one).collect()
        };
        let items = values.iter().map(|(name, value)| match (named, value.as_str()) {
            (false, value) => encode(value),
            (true, "") if operator == ";" => name.clone(),
            (true, value) => format!("{name}={}", encode(value)),
        });
        let items: Vec<_> = items.collect();
        if items.is_empty() { String::new() } else { first.to_owned() + &items.join(separator) }
    }

    #[test]
    fn values_of_any_content_fill_in_to_the_same_uri() {
        let words = ["", "a", "..", "a/b", "a,b", ".x", "é 日", "x=1&y=2;z", "100%", "?#[]", "%", "a\nb"];
        let maybe = || std::iter::once(None).chain(words.map(Some));
        for operator in ["", "+", "#", ".", "/", ";", "?", "&"] {
            let template: UriTemplate = format!("test://begin{{{operator}x,y}}").parse().expect("a template");
            for (x, y) in maybe().flat_map(|x| maybe().map(move |y| (x, y))) {
                let is_bare = matches!(operator, "" | "+");
                if is_bare && (x == Some("") || y == Some("")) {
                    continue; // Nothing tells it from one that was left out.
                }
                let given = [("x", x), ("y", y)];
                let given =
                    given.into_iter().filter_map(|(name, word)| Some((name.to_owned(), word?.to_owned())));
                let filled = fill_in(operator, &given.collect());
                let read = template.matches(&format!("test://begin{filled}"));
                let read = read.unwrap_or_else(|| panic!("{{{operator}x,y}} does not know its own {filled}"));
                assert_eq!(fill_in(operator, &read), filled, "{{{operator}x,y}} {read:?}");
            }
        }
    }

    #[test]
    fn a_long_uri_that_could_be_read_in_many_ways_is_read_at_once() {
        let uri = "a".repeat(100_000);
        assert_eq!(read("{a}{b}{c}{d}{e}{f}{g}{h}!", &uri), "-");
        assert_eq!(read("{+a}{+b}{+c}a", &uri).len(), "a=".len() + 100_000 - 1);
    }
}
