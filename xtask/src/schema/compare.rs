//! Compares a document of ours with a published one: each definition by name, and what it refers to.
//!
//! A definition that only one side names is inlined where it is used, so named and inlined parts are equal. Each remaining
//! place where the two disagree is one [`Difference`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use super::document::definitions;
use super::shape::Shape;

/// The depth to which definitions may be inlined into each other; more is a cycle.
const DEPTH_LIMIT: usize = 64;

/// One place where two documents disagree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Difference {
    /// `NewSessionRequest.cwd`: the definition, then the path into it. `[]` is an item of a list, `.*` the value of any
    /// other member, `<text>` an alternative of a union, `(document)` the document itself.
    pub(super) path: String,
    /// `type string, published integer`.
    pub(super) what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.what)
    }
}

/// The result of a comparison.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// The number of published definitions.
    pub(super) definitions: usize,
    /// The number of published properties, at any depth.
    pub(super) properties: usize,
    pub(super) differences: Vec<Difference>,
}

/// Compares two documents.
pub(super) fn compare(ours: &Value, published: &Value) -> Comparison {
    let sides = Sides { ours: shapes(ours), published: shapes(published) };
    let mut differences = BTreeSet::new();
    let mut comparer = Comparer::new(&sides);
    comparer.compare("(document)", &Shape::read(ours), &Shape::read(published));
    for (name, published) in &sides.published {
        match sides.ours.get(name) {
            Some(ours) => comparer.compare(name, ours, published),
            None => comparer.report(name, "no such definition, published".to_owned()),
        }
    }
    let inlined = comparer.inlined;
    for name in
        sides.ours.keys().filter(|name| !sides.published.contains_key(*name) && !inlined.contains(*name))
    {
        let what = "a definition that is not published".to_owned();
        differences.insert(Difference { path: name.clone(), what });
    }
    differences.extend(comparer.differences);
    Comparison {
        definitions: sides.published.len(),
        properties: comparer.seen.len(),
        differences: differences.into_iter().collect(),
    }
}

fn shapes(document: &Value) -> BTreeMap<String, Shape> {
    definitions(document).map(|(name, schema)| (name.clone(), Shape::read(schema))).collect()
}

struct Sides {
    ours: BTreeMap<String, Shape>,
    published: BTreeMap<String, Shape>,
}

struct Comparer<'a> {
    sides: &'a Sides,
    differences: BTreeSet<Difference>,
    /// The published properties that were compared, by their path.
    seen: BTreeSet<String>,
    /// Our definitions that were inlined.
    inlined: BTreeSet<String>,
    /// Pairs of definitions with different names that are being compared.
    open: BTreeSet<(String, String)>,
    depth: usize,
}

impl<'a> Comparer<'a> {
    fn new(sides: &'a Sides) -> Self {
        Self {
            sides,
            differences: BTreeSet::new(),
            seen: BTreeSet::new(),
            inlined: BTreeSet::new(),
            open: BTreeSet::new(),
            depth: 0,
        }
    }

    fn report(&mut self, path: &str, what: String) {
        self.differences.insert(Difference { path: path.to_owned(), what });
    }

    fn compare(&mut self, path: &str, ours: &Shape, published: &Shape) {
        if let (Some(own), Some(other)) = (ours.reference(), published.reference())
            && own != other
            && !self.open.insert((own.to_owned(), other.to_owned()))
        {
            return;
        }
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            self.report(path, "nested too deep to compare".to_owned());
        } else {
            let (ours, published) = self.aligned(ours, published);
            self.demands(path, &ours, &published);
            self.members(path, &ours, &published);
            self.inner(path, &ours, &published);
            self.unions(path, &ours, &published);
        }
        self.depth -= 1;
        if let (Some(own), Some(other)) = (ours.reference(), published.reference()) {
            self.open.remove(&(own.to_owned(), other.to_owned()));
        }
    }

    /// Inlines definitions that only one side names, until both name the same ones, or ones that both sides have.
    fn aligned(&mut self, ours: &Shape, published: &Shape) -> (Shape, Shape) {
        let (mut ours, mut published) = (ours.clone(), published.clone());
        for _ in 0..DEPTH_LIMIT {
            if let Some(both) = as_unions(&ours, &published) {
                return both;
            }
            let own: BTreeSet<&String> = ours.references.difference(&published.references).collect();
            let other: BTreeSet<&String> = published.references.difference(&ours.references).collect();
            let foreign = own.iter().find(|name| !self.sides.published.contains_key(**name));
            let strange = other.iter().find(|name| !self.sides.ours.contains_key(**name));
            let (own, other) = match (foreign, strange, own.first(), other.first()) {
                (Some(name), ..) => (Some((*name).clone()), None),
                (None, Some(name), ..) => (None, Some((*name).clone())),
                (None, None, Some(own), Some(other)) => {
                    let own_alias = self.sides.ours.get(*own).and_then(Shape::reference);
                    let other_alias = self.sides.published.get(*other).and_then(Shape::reference);
                    if own_alias == Some(other.as_str()) {
                        (Some((*own).clone()), None)
                    } else if other_alias == Some(own.as_str()) {
                        (None, Some((*other).clone()))
                    } else {
                        break;
                    }
                }
                (None, None, Some(own), None) => (Some((*own).clone()), None),
                (None, None, None, Some(other)) => (None, Some((*other).clone())),
                (None, None, None, None) => break,
            };
            if let Some(name) = own {
                ours = inline(&ours, &name, &self.sides.ours);
                self.inlined.insert(name);
            }
            if let Some(name) = other {
                published = inline(&published, &name, &self.sides.published);
            }
        }
        (ours, published)
    }

    /// Compares the demands on the value itself.
    fn demands(&mut self, path: &str, ours: &Shape, published: &Shape) {
        if ours.references != published.references {
            self.report(
                path,
                format!("is {}, published {}", names(&ours.references), names(&published.references)),
            );
        }
        match (ours.nullable, published.nullable) {
            (true, false) => self.report(path, "may be null, published not".to_owned()),
            (false, true) => self.report(path, "may not be null, published it may".to_owned()),
            _ => {}
        }
        if ours.types != published.types {
            self.report(path, format!("type {}, published {}", names(&ours.types), names(&published.types)));
        }
        self.words(path, ours, published);
        let keywords: BTreeSet<&String> = ours.keywords.keys().chain(published.keywords.keys()).collect();
        for keyword in keywords {
            let (own, other) = (ours.keywords.get(keyword), published.keywords.get(keyword));
            if own != other {
                let [own, other] = [own, other].map(|value| value.map_or("absent", String::as_str));
                self.report(path, format!("{keyword} {own}, published {other}"));
            }
        }
    }

    fn words(&mut self, path: &str, ours: &Shape, published: &Shape) {
        match (&ours.words, &published.words) {
            (Some(own), Some(other)) => {
                for word in own.difference(other) {
                    self.report(path, format!("has the word {word}, published not"));
                }
                for word in other.difference(own) {
                    self.report(path, format!("lacks the word {word}, published"));
                }
            }
            (Some(own), None) => self.report(path, format!("one of {}, published any", names(own))),
            (None, Some(other)) => self.report(path, format!("any value, published one of {}", names(other))),
            (None, None) => {}
        }
    }

    fn members(&mut self, path: &str, ours: &Shape, published: &Shape) {
        for (name, other) in &published.properties {
            let path = format!("{path}.{name}");
            match ours.properties.get(name) {
                Some(own) => self.compare(&path, own, other),
                None => self.report(&path, "absent, published".to_owned()),
            }
            self.seen.insert(path);
        }
        for name in ours.properties.keys().filter(|name| !published.properties.contains_key(*name)) {
            self.report(&format!("{path}.{name}"), "present, published not".to_owned());
        }
        // A member that only one side has is reported already.
        let on_one_side =
            |name: &&String| ours.properties.contains_key(*name) != published.properties.contains_key(*name);
        for name in ours.required.difference(&published.required).filter(|name| !on_one_side(name)) {
            self.report(&format!("{path}.{name}"), "required, published optional".to_owned());
        }
        for name in published.required.difference(&ours.required).filter(|name| !on_one_side(name)) {
            self.report(&format!("{path}.{name}"), "optional, published required".to_owned());
        }
    }

    fn inner(&mut self, path: &str, ours: &Shape, published: &Shape) {
        let keywords: BTreeSet<&&str> = ours.inner.keys().chain(published.inner.keys()).collect();
        let anything = Shape::default();
        for keyword in keywords {
            let path = format!("{path}{keyword}");
            match (ours.inner.get(*keyword), published.inner.get(*keyword)) {
                (None, Some(_)) if *keyword == " not" => self.report(&path, "absent, published".to_owned()),
                (Some(_), None) if *keyword == " not" => {
                    self.report(&path, "present, published not".to_owned())
                }
                (own, other) => self.compare(&path, own.unwrap_or(&anything), other.unwrap_or(&anything)),
            }
        }
    }

    fn unions(&mut self, path: &str, ours: &Shape, published: &Shape) {
        if !ours.alternatives.is_empty() && !published.alternatives.is_empty() {
            let own = inline_alternatives(
                &ours.alternatives,
                &self.sides.ours,
                &self.sides.published,
                &mut self.inlined,
            );
            let other = inline_alternatives(
                &published.alternatives,
                &self.sides.published,
                &self.sides.ours,
                &mut BTreeSet::new(),
            );
            self.pairs(path, own, other);
        } else if ours.alternatives != published.alternatives {
            let what = format!("{}, published {}", union(&ours.alternatives), union(&published.alternatives));
            self.report(path, what);
        }
        self.pairs(&format!("{path} and"), ours.also.clone(), published.also.clone());
    }

    /// Pairs equal alternatives, then different ones with the same label, then reports those without a counterpart.
    fn pairs(&mut self, path: &str, mut ours: Vec<Shape>, published: Vec<Shape>) {
        let mut others = Vec::new();
        for other in published {
            match ours.iter().position(|own| self.same(own, &other)) {
                Some(index) => self.compare(&within(path, &other), &ours.remove(index), &other),
                None => others.push(other),
            }
        }
        let mut unpaired = Vec::new();
        for other in others {
            match ours.iter().position(|own| label(own) == label(&other)) {
                Some(index) => self.compare(&within(path, &other), &ours.remove(index), &other),
                None => unpaired.push(other),
            }
        }
        for own in &ours {
            self.report(path, format!("may be {}, published not", label(own)));
        }
        for other in &unpaired {
            self.report(path, format!("may not be {}, published it may", label(other)));
        }
    }

    /// Whether two shapes are equal.
    fn same(&self, ours: &Shape, published: &Shape) -> bool {
        if ours == published {
            return true;
        }
        let mut trial = Self { open: self.open.clone(), depth: self.depth, ..Self::new(self.sides) };
        trial.compare("", ours, published);
        trial.differences.is_empty()
    }
}

/// Returns both sides as unions if one is a union and the other one of its alternatives.
fn as_unions(ours: &Shape, published: &Shape) -> Option<(Shape, Shape)> {
    let alone = |shape: &Shape| {
        let alternative = Shape { nullable: false, keywords: BTreeMap::new(), ..shape.clone() };
        Shape {
            nullable: shape.nullable,
            keywords: shape.keywords.clone(),
            alternatives: vec![alternative],
            ..Shape::default()
        }
    };
    let holds = |union: &Shape, shape: &Shape| {
        let shape = alone(shape);
        union.is_union() && shape.alternatives.iter().all(|one| union.alternatives.contains(one))
    };
    if !ours.is_union() && holds(published, ours) {
        Some((alone(ours), published.clone()))
    } else if !published.is_union() && holds(ours, published) {
        Some((ours.clone(), alone(published)))
    } else {
        None
    }
}

/// A shape with a definition's demands in place of its name.
fn inline(shape: &Shape, name: &str, definitions: &BTreeMap<String, Shape>) -> Shape {
    let mut shape = shape.clone();
    shape.references.remove(name);
    let nullable = std::mem::take(&mut shape.nullable);
    shape.add(definitions.get(name).cloned().unwrap_or_default());
    shape.nullable |= nullable;
    shape.simplified()
}

/// The alternatives of a union, with definitions inlined that the other side does not name.
fn inline_alternatives(
    alternatives: &[Shape],
    definitions: &BTreeMap<String, Shape>,
    others: &BTreeMap<String, Shape>,
    inlined: &mut BTreeSet<String>,
) -> Vec<Shape> {
    let mut union = Shape { alternatives: alternatives.to_vec(), ..Shape::default() };
    for _ in 0..DEPTH_LIMIT {
        let is_foreign = |shape: &Shape| shape.reference().is_some_and(|name| !others.contains_key(name));
        let Some(index) = union.alternatives.iter().position(is_foreign) else { break };
        let name = union.alternatives[index].reference().unwrap_or_default().to_owned();
        union.alternatives[index] = definitions.get(&name).cloned().unwrap_or_default();
        inlined.insert(name);
        union = Shape { alternatives: union.alternatives, ..Shape::default() }.simplified();
        if union.alternatives.is_empty() {
            return vec![union];
        }
    }
    union.alternatives
}

fn within(path: &str, alternative: &Shape) -> String {
    format!("{path}<{}>", label(alternative))
}

/// The label of an alternative: its tag, its definition, or its kind.
fn label(shape: &Shape) -> String {
    let tag = shape.properties.iter().find_map(|(name, property)| {
        let words = property.words.as_ref().filter(|words| words.len() == 1)?;
        shape
            .required
            .contains(name)
            .then(|| words.first().map_or("", String::as_str).trim_matches('"').to_owned())
    });
    tag.or_else(|| shape.references.first().cloned()).unwrap_or_else(|| {
        let words = shape.words.is_some().then(|| "a known word".to_owned());
        let object = (!shape.properties.is_empty()).then(|| {
            let other = if shape.inner.contains_key(" not") { "other " } else { "" };
            format!("{other}object with {}", shape.properties.keys().cloned().collect::<Vec<_>>().join(", "))
        });
        words.or(object).unwrap_or_else(|| names(&shape.types))
    })
}

fn union(alternatives: &[Shape]) -> String {
    match alternatives {
        [] => "no union".to_owned(),
        all => format!("one of ({})", all.iter().map(label).collect::<Vec<_>>().join(" | ")),
    }
}

fn names(names: &BTreeSet<String>) -> String {
    if names.is_empty() { "any".to_owned() } else { names.iter().cloned().collect::<Vec<_>>().join("|") }
}

#[cfg(test)]
mod tests;
