//! The places of values within a JSON value, to look up, change or remove what is there.

use serde_json::Value;

/// Where a value is within another: the names of members and the positions of items on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Member(String),
    Item(usize),
}

/// Every place in a value, the value itself first.
pub(crate) fn places(value: &Value) -> Vec<Place> {
    let mut found = vec![Place(Vec::new())];
    let mut next = 0;
    while let Some(place) = found.get(next).cloned() {
        let step = |step| Place([place.0.as_slice(), &[step]].concat());
        match place.of(value) {
            Some(Value::Object(members)) => {
                found.extend(members.keys().map(|name| step(Step::Member(name.clone()))));
            }
            Some(Value::Array(items)) => found.extend((0..items.len()).map(|at| step(Step::Item(at)))),
            _ => {}
        }
        next += 1;
    }
    found
}

impl Place {
    /// The value there.
    pub(crate) fn of<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(value, |value, step| match step {
            Step::Member(name) => value.get(name),
            Step::Item(at) => value.get(at),
        })
    }

    /// The value there, to change it.
    pub(crate) fn of_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        self.0.iter().try_fold(value, |value, step| match step {
            Step::Member(name) => value.get_mut(name),
            Step::Item(at) => value.get_mut(*at),
        })
    }

    /// Takes the member or item away; false if it is missing.
    pub(crate) fn remove(&self, value: &mut Value) -> bool {
        let Some((last, above)) = self.0.split_last() else { return false };
        match (Self(above.to_vec()).of_mut(value), last) {
            (Some(Value::Object(members)), Step::Member(name)) => members.remove(name).is_some(),
            (Some(Value::Array(items)), Step::Item(at)) if *at < items.len() => {
                items.remove(*at);
                true
            }
            _ => false,
        }
    }

    /// The place with all positions alike, so that the items of a list count as one.
    pub(crate) fn pattern(&self) -> String {
        let steps = self.0.iter().map(|step| match step {
            Step::Member(name) => name.as_str(),
            Step::Item(_) => "*",
        });
        steps.collect::<Vec<_>>().join("/")
    }
}
