//! Compiles the text of a template to the steps that match a URI.

use super::error::UriTemplateError;

/// One step. Jumps only lead forwards.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// This text.
    Text(Box<str>),
    /// The value of a variable, by its number.
    Value { variable: usize, may_be_empty: bool, may_have: Characters },
    /// A variable is present and empty, without any character in the URI.
    Empty { variable: usize },
    /// Go on with the next step, or, if that cannot match, with this one.
    OrElse(usize),
    /// Go on with this step.
    Jump(usize),
}

/// The characters of a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Characters {
    pub(super) reserved: bool,
    /// The separator of values ends each but the last: otherwise the first would take them all.
    pub(super) but: Option<u8>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    steps: Vec<Step>,
    variables: Vec<Box<str>>,
}

/// The text of an operator around values, by the table in section 2.2 of RFC 6570 and appendix A.
struct Operator {
    first: &'static str,
    separator: &'static str,
    named: bool,
    /// The text between a name and an empty value.
    if_empty: &'static str,
    reserved: bool,
}

impl Operator {
    /// Takes the operator off an expression.
    fn of(expression: &str) -> Result<(Self, &str), UriTemplateError> {
        let operator = |first, separator, named, if_empty, reserved| Self {
            first,
            separator,
            named,
            if_empty,
            reserved,
        };
        let found = match expression.chars().next() {
            Some('+') => operator("", ",", false, "", true),
            Some('#') => operator("#", ",", false, "", true),
            Some('.') => operator(".", ".", false, "", false),
            Some('/') => operator("/", "/", false, "", false),
            Some(';') => operator(";", ";", true, "", false),
            Some('?') => operator("?", "&", true, "=", false),
            Some('&') => operator("&", "&", true, "=", false),
            Some(other @ ('=' | ',' | '!' | '@' | '|')) => return Err(UriTemplateError::Operator(other)),
            _ => return Ok((operator("", ",", false, "", false), expression)),
        };
        Ok((found, &expression[1..]))
    }
}

impl Program {
    pub(super) fn compile(text: &str) -> Result<Self, UriTemplateError> {
        let mut program = Self::default();
        let mut rest = text;
        while let Some(brace) = rest.find(['{', '}']) {
            let (literal, after) = rest.split_at(brace);
            program.text(literal);
            let no_partner = || UriTemplateError::Brace(after.to_owned());
            let inside = after.strip_prefix('{').ok_or_else(no_partner)?;
            let (expression, next) = inside.split_once('}').ok_or_else(no_partner)?;
            if expression.contains('{') {
                return Err(no_partner());
            }
            program.expression(expression)?;
            rest = next;
        }
        program.text(rest);
        Ok(program)
    }

    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub(super) fn variables(&self) -> &[Box<str>] {
        &self.variables
    }

    /// Each variable may be absent. The first present one follows the operator's `first`, such as `?`; each later one follows its
    /// `separator`, such as `&`. So the steps are compiled twice: for no present variable so far, and for at least one.
    fn expression(&mut self, expression: &str) -> Result<(), UriTemplateError> {
        let (operator, list) = Operator::of(expression)?;
        let variables = list.split(',').map(|name| self.variable(name)).collect::<Result<Vec<_>, _>>()?;
        let mut leave = Vec::new();
        for &variable in &variables {
            let skip = self.place();
            self.text(operator.first);
            let is_bare = operator.first.is_empty() && !operator.named;
            self.item(&operator, variable, is_bare, Some(&variable) == variables.last());
            leave.push(self.place());
            self.steps[skip] = Step::OrElse(self.steps.len());
        }
        let over = self.place();
        for (&variable, from) in variables.iter().skip(1).zip(&leave) {
            self.steps[*from] = Step::Jump(self.steps.len());
            let skip = self.place();
            self.text(operator.separator);
            self.item(&operator, variable, false, Some(&variable) == variables.last());
            self.steps[skip] = Step::OrElse(self.steps.len());
        }
        let end = Step::Jump(self.steps.len());
        self.steps[over] = end.clone();
        if let Some(last) = leave.last() {
            self.steps[*last] = end;
        }
        Ok(())
    }

    /// A variable that is there. Without anything around it, an empty one looks like one that is not.
    fn item(&mut self, operator: &Operator, variable: usize, is_bare: bool, is_last: bool) {
        let but = operator.separator.bytes().next().filter(|_| !is_last);
        let may_have = Characters { reserved: operator.reserved, but };
        let value = Step::Value { variable, may_be_empty: !is_bare, may_have };
        if !operator.named {
            return self.steps.push(value);
        }
        let name = self.variables[variable].clone();
        self.text(&name);
        let without = (operator.if_empty != "=").then(|| self.place());
        self.text("=");
        self.steps.push(value);
        if let Some(without) = without {
            let done = self.place();
            self.steps[without] = Step::OrElse(self.steps.len());
            self.steps.push(Step::Empty { variable });
            self.steps[done] = Step::Jump(self.steps.len());
        }
    }

    /// The number of a variable, the same for each of its occurrences.
    fn variable(&mut self, name: &str) -> Result<usize, UriTemplateError> {
        if name.contains(['*', ':']) {
            return Err(UriTemplateError::Modifier(name.to_owned()));
        }
        let is_right = |part: &str| {
            !part.is_empty() && part.chars().all(|char| char.is_ascii_alphanumeric() || "_%".contains(char))
        };
        if !name.split('.').all(is_right) {
            return Err(UriTemplateError::Name(name.to_owned()));
        }
        let known = self.variables.iter().position(|known| **known == *name);
        Ok(known.unwrap_or_else(|| {
            self.variables.push(name.into());
            self.variables.len() - 1
        }))
    }

    fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.steps.push(Step::Text(text.into()));
        }
    }

    /// A step that is known later.
    fn place(&mut self) -> usize {
        self.steps.push(Step::Jump(0));
        self.steps.len() - 1
    }
}
