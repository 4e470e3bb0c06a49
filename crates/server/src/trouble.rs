//! An error for the operator: what happened, why, and what to do about it.

use std::fmt::{self, Display};

/// Ends a command. `main` prints it on stderr; logs get the same texts as fields.
#[derive(Debug)]
pub(crate) struct Trouble {
    what: String,
    why: Option<String>,
    remedy: Option<String>,
}

/// The result of a command.
pub(crate) type Outcome<T = ()> = Result<T, Trouble>;

impl Trouble {
    /// The problem, as a sentence without a full stop: "cannot listen on 127.0.0.1:8080".
    pub(crate) fn new(what: impl Into<String>) -> Trouble {
        Trouble { what: what.into(), why: None, remedy: None }
    }

    pub(crate) fn because(mut self, why: impl Display) -> Trouble {
        self.why = Some(why.to_string());
        self
    }

    /// The next step for the operator, best with the flag or the line to type.
    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Trouble {
        self.remedy = Some(remedy.into());
        self
    }

    /// Adds a remedy at a caller that knows one.
    pub(crate) fn or_try(mut self, other: &str) -> Trouble {
        let remedy = self.remedy.get_or_insert_default();
        if !remedy.is_empty() {
            remedy.push('\n');
        }
        remedy.push_str(other);
        self
    }
}

impl Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.what)?;
        if let Some(why) = &self.why {
            write!(f, "\n  why: {}", why.replace('\n', "\n       "))?;
        }
        if let Some(remedy) = &self.remedy {
            write!(f, "\n  try: {}", remedy.replace('\n', "\n       "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Trouble;

    #[test]
    fn an_error_has_problem_reason_and_remedy() {
        let trouble = Trouble::new("cannot listen").because("in use\nby somebody").remedy("another port");
        assert_eq!(
            trouble.to_string(),
            "error: cannot listen\n  why: in use\n       by somebody\n  try: another port"
        );
        assert_eq!(Trouble::new("no").to_string(), "error: no");
    }
}
