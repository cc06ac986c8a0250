//! One JSON Schema document: its definitions, the shapes that they allow, and a validator for each.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::{env, fmt, fs, io, ptr};

use jsonschema::{ValidationOptions, ValidatorMap};
use serde_json::Value;

use crate::shape::{Kind, Shape, both, list, own_shapes};

/// One generated JSON Schema, with a compiled validator for each of its definitions.
///
/// The schemas are leaked: shapes refer to them without a lifetime.
pub struct Document {
    /// The file's name within `docs/schema/`, e.g. `acp/v1.json`.
    name: String,
    root: &'static Value,
    /// `$defs`, or `definitions` where the protocol still publishes draft 7.
    definitions: &'static str,
    validators: ValidatorMap,
    /// The shapes that were computed so far.
    shapes: Mutex<ShapeCache>,
    formats: Mutex<HashMap<String, jsonschema::Validator>>,
}

/// The shapes of lists of schemas, by the addresses of the schemas.
type ShapeCache = HashMap<Vec<usize>, Arc<[Shape]>>;

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Document {
    /// Reads a file of the project's `docs/schema/` folder, e.g. `mcp/2025-06-18.json`, or the published schema of that version
    /// below the folder that `AGENTWIRE_PUBLISHED_SCHEMAS` names, e.g. `mcp/2025-06-18/schema.json`.
    pub fn generated(name: &str) -> io::Result<Self> {
        let published = env::var_os("AGENTWIRE_PUBLISHED_SCHEMAS").zip(published(name));
        let path =
            published.map_or_else(|| folder().join(name), |(folder, path)| Path::new(&folder).join(path));
        let text = fs::read_to_string(&path)
            .map_err(|fault| io::Error::new(fault.kind(), format!("{}: {fault}", path.display())))?;
        Self::new(name, serde_json::from_str(&text)?)
    }

    /// Compiles a schema document.
    pub fn new(name: &str, root: Value) -> io::Result<Self> {
        let validators =
            options().build_map(&root).map_err(|fault| io::Error::other(format!("{name}: {fault}")))?;
        let definitions = if root.get("$defs").is_some() { "$defs" } else { "definitions" };
        Ok(Self {
            name: name.to_owned(),
            root: Box::leak(Box::new(root)),
            definitions,
            validators,
            shapes: Mutex::default(),
            formats: Mutex::default(),
        })
    }

    /// The file's name within `docs/schema/`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of all definitions.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        let root: &'static Value = self.root;
        root[self.definitions].as_object().into_iter().flatten().map(|(name, _)| name.as_str())
    }

    /// Where a definition is. The params of a method that has no name of their own stand in its request.
    pub fn pointer(&self, name: &str) -> Option<String> {
        let named = format!("#/{}/{name}", self.definitions);
        if self.schema(&named).is_some() {
            return Some(named);
        }
        let inlined = format!("#/{}/{}/properties/params", self.definitions, name.strip_suffix("Params")?);
        self.schema(&inlined).is_some().then_some(inlined)
    }

    /// The schema at a pointer such as `#/$defs/Tool`.
    pub fn schema(&self, pointer: &str) -> Option<&'static Value> {
        self.root.pointer(pointer.strip_prefix('#')?)
    }

    /// Returns all shapes that satisfy every one of the schemas.
    pub(crate) fn shapes_of_all(&self, schemas: &[&'static Value]) -> Arc<[Shape]> {
        let key: Vec<_> = schemas.iter().map(|schema| ptr::from_ref(*schema) as usize).collect();
        if let Some(shapes) = self.cached_shapes().get(&key) {
            return shapes.clone();
        }
        let any = vec![Shape::new(Kind::Any)];
        let shapes = schemas.iter().fold(any, |shapes, schema| both(&shapes, &self.shapes_of(schema)));
        self.cached_shapes().entry(key).or_insert(shapes.into()).clone()
    }

    fn cached_shapes(&self) -> MutexGuard<'_, ShapeCache> {
        self.shapes.lock().expect("nothing panics while it holds the lock")
    }

    /// Returns all shapes that a schema allows.
    fn shapes_of(&self, schema: &'static Value) -> Vec<Shape> {
        let mut shapes = own_shapes(schema);
        if let Some(pointer) = schema.get("$ref").and_then(Value::as_str) {
            let name = pointer.rsplit('/').next().unwrap_or(pointer);
            let target = self.schema(pointer).unwrap_or_else(|| panic!("{}: no {pointer}", self.name));
            let mut referred = self.shapes_of(target);
            referred.iter_mut().for_each(|shape| shape.definitions.insert(0, name));
            shapes = both(&shapes, &referred);
        }
        for part in list(schema, "allOf") {
            shapes = both(&shapes, &self.shapes_of(part));
        }
        for union in ["anyOf", "oneOf"] {
            if schema.get(union).is_some() {
                let branches: Vec<_> =
                    list(schema, union).flat_map(|branch| self.shapes_of(branch)).collect();
                shapes = both(&shapes, &branches);
            }
        }
        shapes
    }

    /// Checks a value against the schema at a pointer.
    ///
    /// # Errors
    ///
    /// Every fault with its place in the value, or that there is no such schema.
    pub fn check(&self, pointer: &str, value: &Value) -> Result<(), String> {
        let validator = self.validators.get(pointer).ok_or_else(|| format!("{}: no {pointer}", self.name))?;
        let faults: Vec<_> = validator
            .iter_errors(value)
            .map(|fault| format!("at `{}`: {fault}", fault.instance_path()))
            .collect();
        if faults.is_empty() {
            Ok(())
        } else {
            Err(format!("{} {pointer}: {}", self.name, faults.join("; ")))
        }
    }

    /// Whether a string is of a format.
    pub(crate) fn is_of_format(&self, format: &str, value: &Value) -> bool {
        let validator = |schema| options().build(&schema).expect("a schema with one keyword");
        let mut formats = self.formats.lock().expect("nothing panics while it holds the lock");
        formats
            .entry(format.to_owned())
            .or_insert_with(|| validator(serde_json::json!({ "format": format })))
            .is_valid(value)
    }

    /// Whether a value is right by the schema at a pointer.
    pub fn is_valid(&self, pointer: &str, value: &Value) -> bool {
        self.validators.get(pointer).is_some_and(|validator| validator.is_valid(value))
    }
}

/// The published file of a document; `None` for an extension, whose schema no package has.
fn published(name: &str) -> Option<String> {
    let version = name.strip_suffix(".json").filter(|version| !version.ends_with("-tasks"))?;
    let draft = version.strip_suffix("-unstable").map(|version| format!("{version}/schema.unstable.json"));
    Some(draft.unwrap_or_else(|| format!("{version}/schema.json")))
}

/// The folder that `cargo xtask schema` writes.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema")
}

/// Unknown formats are not checked.
fn options() -> ValidationOptions<'static> {
    jsonschema::options().offline().should_validate_formats(true).with_format("byte", is_base64)
}

fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    text.len().is_multiple_of(4)
        && text.len() - digits.len() <= 2
        && digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}
