//! Unions of objects: which branch is meant, and what becomes of a value that no branch takes.

use serde_json::{Map, Value};

use super::{At, LOOSE, OVERFLOWS, Reader, Reading, as_object, best, overflows};
use crate::kept::Kept;
use crate::shape::{Kind, Member, Object, Shape};

/// The members of a branch that allow one string each, with that string.
type Tags = Vec<(&'static str, &'static str)>;

/// The results of a union's branches for an object.
#[derive(Default)]
struct Branches {
    /// Of the branches that the tag asks for.
    readings: Vec<Reading>,
    /// Of the branches without a tag, where the object has one.
    untagged: Vec<Reading>,
    /// The members of branches that refuse the object or may refuse it.
    doubted: Vec<&'static str>,
}

impl Reader<'_> {
    /// The branches that the tag asks for; without one, or with a foreign one, those that need none.
    pub(super) fn one_of(&self, shapes: &[Shape], value: &Map<String, Value>, at: At<'_>) -> Reading {
        let objects = || shapes.iter().filter_map(|shape| Some((shape, as_object(shape)?)));
        let tags: Vec<_> = objects().map(|(_, object)| self.tags(object)).collect();
        let says = |(name, word): &(&str, &str)| value.get(*name).and_then(Value::as_str) == Some(word);
        let tagged = tags.iter().any(|tags| !tags.is_empty() && tags.iter().all(says));
        let mut branches = self.read_branches(shapes, &tags, tagged, value, at);
        let is_loose = || {
            let names = shapes.iter().flat_map(|shape| &shape.definitions).chain(at.names);
            names.copied().any(|name| self.rules.is_loose(name))
        };
        let is_known = |name: &str, word: &Value| {
            let members = objects().filter_map(|(_, object)| object.members.get(name));
            members
                .flat_map(|member| self.document.shapes_of_all(&member.schemas).to_vec())
                .any(|shape| matches!(shape.kind, Kind::Constant(known) if known == word))
        };
        let is_foreign = |(name, _): &(&str, &str)| {
            value.get(*name).is_some_and(|word| word.is_string() && !is_known(name, word))
        };
        let has_rest = objects().any(|(_, object)| !object.excluded.is_empty());
        let has_foreign_tag = || !tagged && tags.iter().flatten().any(is_foreign);
        let has_tags = tags.iter().any(|tags| !tags.is_empty());
        let may_be_null = |name: &str| {
            let members = objects().filter_map(|(_, object)| object.members.get(name));
            let mut shapes = members.flat_map(|member| self.document.shapes_of_all(&member.schemas).to_vec());
            shapes.any(|shape| matches!(shape.kind, Kind::Null))
        };
        let is_odd = |(name, _): &(&str, &str)| {
            value.get(*name).is_some_and(|tag| !(tag.is_string() || tag.is_null() && may_be_null(name)))
        };
        if !tagged && tags.iter().flatten().any(is_odd) {
            return Reading::Either("a tag that is not a string");
        }
        match best(&mut branches.readings) {
            Reading::Refused(_) | Reading::Taken(Kept::Foreign { .. }) if is_loose() => {
                Reading::Either(LOOSE)
            }
            Reading::Taken(_) if has_foreign_tag() && self.is_closed(shapes, at) => {
                Reading::Either("a foreign tag where the set is closed")
            }
            Reading::Taken(kept) if kept.unknown().any(|name| branches.doubted.contains(&name.as_str())) => {
                Reading::Either("a member that is wrong in one branch is unknown to another")
            }
            taken @ Reading::Taken(_) => taken,
            _ if tagged && branches.untagged.iter().any(|reading| matches!(reading, Reading::Taken(_))) => {
                Reading::Either("its branch is wrong, and one without a tag is right")
            }
            other @ Reading::Either(_) => other,
            other if tagged || !has_tags => other,
            _ if tags.len() == 1 => Reading::Either("the only word that is possible is another"),
            _ if self.is_closed(shapes, at) => {
                Reading::Refused("a foreign tag where the set is closed".to_owned())
            }
            _ if has_foreign_tag() && !has_rest => self.foreign(shapes, value),
            other => other,
        }
    }

    /// Reads the value by each branch whose tags it has, and by each branch without tags.
    fn read_branches(
        &self,
        shapes: &[Shape],
        tags: &[Tags],
        tagged: bool,
        value: &Map<String, Value>,
        at: At<'_>,
    ) -> Branches {
        let objects = shapes.iter().filter_map(|shape| Some((shape, as_object(shape)?)));
        let says = |(name, word): &(&str, &str)| value.get(*name).and_then(Value::as_str) == Some(word);
        let has_no_tag = |(name, _): &(&str, &str)| !value.get(*name).is_some_and(Value::is_string);
        let mut branches = Branches::default();
        for ((shape, object), tags) in objects.zip(tags) {
            let definitions = [at.names, shape.definitions.as_slice()].concat();
            if object.excluded.iter().any(|tag| says(tag) || has_no_tag(tag)) || !tags.iter().all(says) {
                continue;
            }
            match self.object(object, value, &definitions) {
                Reading::Refused(_)
                    if !object.excluded.is_empty() && self.rules.has_loose_rest(&definitions) =>
                {
                    branches.readings.push(Reading::Either(LOOSE));
                }
                reading @ (Reading::Refused(_) | Reading::Either(_)) if tagged != tags.is_empty() => {
                    branches.doubted.extend(object.members.keys());
                    branches.readings.push(reading);
                }
                reading if tagged != tags.is_empty() && object.excluded.is_empty() => {
                    branches.readings.push(reading);
                }
                Reading::Taken(kept) if !tagged || !tags.is_empty() => {
                    branches.readings.push(Reading::Taken(kept.of_rest(value)));
                }
                reading => branches.untagged.push(reading),
            }
        }
        branches
    }

    /// An object with a foreign tag is kept whole, but members that all branches share are read as in them.
    fn foreign(&self, shapes: &[Shape], value: &Map<String, Value>) -> Reading {
        if value.values().any(overflows) {
            return Reading::Either(OVERFLOWS);
        }
        let is_nothing = |name: &str, there: &Value| {
            let members = shapes.iter().filter_map(|shape| as_object(shape)?.members.get(name));
            let read = |member: &Member| self.member(name, member, there, &[]);
            members
                .filter(|member| member.default_on_error)
                .any(|member| there.is_null() || matches!(read(member), Some(Reading::Taken(Kept::Nothing))))
        };
        let gone = value.iter().filter(|(name, there)| is_nothing(name, there));
        let may_go = gone.map(|(name, _)| name.clone()).collect();
        Reading::Taken(Kept::Foreign { value: Value::Object(value.clone()), may_go })
    }

    /// The members of an object that can only be one word.
    fn tags(&self, object: &Object) -> Tags {
        let word = |(name, member): (&&'static str, &Member)| {
            let shapes = self.document.shapes_of_all(&member.schemas);
            match &*shapes {
                [Shape { kind: Kind::Constant(Value::String(word)), .. }] if member.is_required => {
                    Some((*name, word.as_str()))
                }
                _ => None,
            }
        };
        object.members.iter().filter_map(word).collect()
    }
}
