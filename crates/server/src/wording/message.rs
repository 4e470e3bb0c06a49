//! A text in ICU MessageFormat: arguments, `plural`, `select` and quotes. Ordinals, offsets, and styles of numbers and dates are left
//! out: `npm run lint` refuses them in `messages/`.

use super::form::Form;

pub(crate) struct Message {
    parts: Vec<Part>,
    /// The plural form of a number, in the language of the text.
    form: fn(u64) -> Form,
}

#[derive(Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Argument(String),
    /// The text for the key of the argument, else for `other`.
    Choice {
        argument: String,
        cases: Vec<(Key, Vec<Part>)>,
        other: Vec<Part>,
    },
}

#[derive(Debug, PartialEq, Eq)]
enum Key {
    Number(u64),
    Form(Form),
    Word(String),
}

/// The value of an argument.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Value<'a> {
    /// A name, or a user's text.
    Text(&'a str),
    Number(u64),
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum WrongMessage {
    #[error("{0:?} is expected at {1:?}")]
    Expected(char, String),
    #[error("a name is expected at {0:?}")]
    NoName(String),
    #[error("{0:?} is not supported")]
    Type(String),
    #[error("{0:?} is no number and no form of one")]
    Key(String),
    #[error("the choice of {0:?} has no \"other\"")]
    NoOther(String),
}

impl Message {
    pub(crate) fn parse(text: &str, form: fn(u64) -> Form) -> Result<Message, WrongMessage> {
        let mut parser = Parser { rest: text };
        let parts = parser.parts(None)?;
        if parser.rest.is_empty() {
            Ok(Message { parts, form })
        } else {
            Err(WrongMessage::Expected('{', parser.rest.to_owned()))
        }
    }

    /// `insert` makes a text value safe: isolated, or escaped. It gets every text value, and no other part of the message.
    pub(crate) fn format(&self, values: &[(&str, Value<'_>)], insert: &dyn Fn(&str) -> String) -> String {
        let mut written = String::new();
        self.write(&self.parts, values, insert, &mut written);
        written
    }

    /// A text with a number as its only argument.
    pub(crate) fn count(&self, count: u64) -> String {
        self.format(&[("count", Value::Number(count))], &str::to_owned)
    }

    fn write(
        &self,
        parts: &[Part],
        values: &[(&str, Value<'_>)],
        insert: &dyn Fn(&str) -> String,
        to: &mut String,
    ) {
        let value = |name: &str| values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        for part in parts {
            match part {
                Part::Text(text) => to.push_str(text),
                Part::Argument(name) => match value(name) {
                    Some(Value::Text(text)) => to.push_str(&insert(text)),
                    Some(Value::Number(number)) => to.push_str(&number.to_string()),
                    None => {}
                },
                Part::Choice { argument, cases, other } => {
                    let value = value(argument);
                    let found = cases.iter().filter(|(key, _)| self.has(key, value)).min_by_key(
                        |(key, _)| match key {
                            // An exact number has priority over its plural form.
                            Key::Number(_) => 0,
                            Key::Form(_) | Key::Word(_) => 1,
                        },
                    );
                    self.write(found.map_or(other, |(_, parts)| parts), values, insert, to);
                }
            }
        }
    }

    fn has(&self, key: &Key, value: Option<Value<'_>>) -> bool {
        match (key, value) {
            (Key::Number(wanted), Some(Value::Number(number))) => *wanted == number,
            (Key::Form(wanted), Some(Value::Number(number))) => *wanted == (self.form)(number),
            (Key::Word(wanted), Some(Value::Text(word))) => wanted == word,
            _ => false,
        }
    }
}

struct Parser<'t> {
    rest: &'t str,
}

impl Parser<'_> {
    /// Parses until the end, or the closing brace. `plural`: the argument of `#`.
    fn parts(&mut self, plural: Option<&str>) -> Result<Vec<Part>, WrongMessage> {
        let mut parts = Vec::new();
        let mut text = String::new();
        while let Some(next) = self.rest.chars().next() {
            match next {
                '}' => break,
                '{' => {
                    push_text(&mut parts, &mut text);
                    parts.push(self.argument(plural)?);
                }
                '#' if plural.is_some() => {
                    self.skip(next);
                    push_text(&mut parts, &mut text);
                    parts.extend(plural.map(|name| Part::Argument(name.to_owned())));
                }
                '\'' => self.quoted(&mut text),
                _ => {
                    self.skip(next);
                    text.push(next);
                }
            }
        }
        push_text(&mut parts, &mut text);
        Ok(parts)
    }

    /// ICU `ApostropheMode::DOUBLE_OPTIONAL`: two are one apostrophe; one before a brace or `#` begins a quoted text, until the next.
    fn quoted(&mut self, text: &mut String) {
        self.skip('\'');
        match self.rest.chars().next() {
            Some('\'') => {
                self.skip('\'');
                text.push('\'');
            }
            Some('{' | '}' | '#') => loop {
                let (quoted, after) = self.rest.split_once('\'').unwrap_or((self.rest, ""));
                text.push_str(quoted);
                self.rest = after;
                if !after.starts_with('\'') {
                    break;
                }
                self.skip('\'');
                text.push('\'');
            },
            _ => text.push('\''),
        }
    }

    fn argument(&mut self, plural: Option<&str>) -> Result<Part, WrongMessage> {
        self.expect('{')?;
        let name = self.word()?;
        if self.accept('}') {
            return Ok(Part::Argument(name));
        }
        self.expect(',')?;
        let kind = self.word()?;
        match kind.as_str() {
            "number" => {
                self.expect('}')?;
                Ok(Part::Argument(name))
            }
            "plural" | "select" => {
                self.expect(',')?;
                self.choice(name, &kind, plural)
            }
            _ => Err(WrongMessage::Type(kind)),
        }
    }

    fn choice(&mut self, argument: String, kind: &str, plural: Option<&str>) -> Result<Part, WrongMessage> {
        let is_plural = kind == "plural";
        let (mut cases, mut other) = (Vec::new(), None);
        while !self.accept('}') {
            let number = is_plural && self.accept('=');
            let word = self.word()?;
            self.expect('{')?;
            let parts = self.parts(if is_plural { Some(&argument) } else { plural })?;
            self.expect('}')?;
            let key = if number {
                word.parse().map(Key::Number).map_err(|_| WrongMessage::Key(word))?
            } else if word == "other" {
                other = Some(parts);
                continue;
            } else if is_plural {
                Key::Form(Form::named(&word).ok_or(WrongMessage::Key(word))?)
            } else {
                Key::Word(word)
            };
            cases.push((key, parts));
        }
        match other {
            Some(other) => Ok(Part::Choice { argument, cases, other }),
            None => Err(WrongMessage::NoOther(argument)),
        }
    }

    fn word(&mut self) -> Result<String, WrongMessage> {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.is_empty() {
            return Err(WrongMessage::NoName(rest.to_owned()));
        }
        self.rest = rest;
        Ok(word.to_owned())
    }

    fn expect(&mut self, wanted: char) -> Result<(), WrongMessage> {
        if self.accept(wanted) { Ok(()) } else { Err(WrongMessage::Expected(wanted, self.rest.to_owned())) }
    }

    /// Skips white space, which has no meaning within braces.
    fn accept(&mut self, wanted: char) -> bool {
        let rest = self.rest.trim_start().strip_prefix(wanted);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip(&mut self, what: char) {
        self.rest = &self.rest[what.len_utf8()..];
    }
}

fn push_text(parts: &mut Vec<Part>, text: &mut String) {
    if !text.is_empty() {
        parts.push(Part::Text(std::mem::take(text)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::form;
    use super::*;

    /// Formats with English rules; inserted values are in brackets.
    fn said(text: &str, values: &[(&str, Value<'_>)]) -> String {
        let message = Message::parse(text, form::of("en")).expect("a message");
        message.format(values, &|name| format!("[{name}]"))
    }

    #[test]
    fn a_value_replaces_its_name() {
        let values =
            [("name", Value::Text("{room}")), ("room", Value::Text("n")), ("count", Value::Number(3))];
        assert_eq!(said("{name} in { room }", &values), "[{room}] in [n]");
        assert_eq!(said("{count}, {count, number}", &values), "3, 3");
        assert_eq!(said("{unknown}!", &values), "!");
    }

    #[test]
    fn an_exact_number_has_priority_over_its_plural_form() {
        let text = "{count, plural, one {# thing of {name}} =0 {nothing} =1{one thing} other {# things}}";
        for (count, expected) in [(0, "nothing"), (1, "one thing"), (2, "2 things")] {
            assert_eq!(said(text, &[("count", Value::Number(count))]), expected);
        }
        let russian = "{count, plural, one {#a} few {#b} many {#c} other {#d}}";
        let message = Message::parse(russian, form::of("ru")).expect("a message");
        assert_eq!([1, 2, 5, 21].map(|count| message.count(count)), ["1a", "2b", "5c", "21a"]);
    }

    #[test]
    fn a_word_chooses_and_a_number_may_stand_within() {
        let text = "{count, plural, other {{kind, select, call {# calls} other {# messages}}}}";
        let say = |kind| said(text, &[("count", Value::Number(2)), ("kind", Value::Text(kind))]);
        assert_eq!([say("call"), say("mail")], ["2 calls", "2 messages"]);
    }

    #[test]
    fn an_apostrophe_quotes_only_special_characters() {
        let name = [("name", Value::Text("Ann")), ("n", Value::Number(1))];
        assert_eq!(said("l'amie d''{name}", &name), "l'amie d'[Ann]");
        assert_eq!(said("'{name}' # '{it''s}'", &name), "{name} # {it's}");
        assert_eq!(said("{n, plural, other {'#' is #}}", &name), "# is 1");
    }

    #[test]
    fn an_invalid_message_is_refused() {
        let wrong = |text| Message::parse(text, form::of("en")).err();
        assert_eq!(wrong("{name"), Some(WrongMessage::Expected(',', String::new())));
        assert_eq!(wrong("name}"), Some(WrongMessage::Expected('{', "}".into())));
        assert_eq!(wrong("{}"), Some(WrongMessage::NoName("}".into())));
        assert_eq!(wrong("{at, date}"), Some(WrongMessage::Type("date".into())));
        assert_eq!(wrong("{n, plural, some {x} other {y}}"), Some(WrongMessage::Key("some".into())));
        assert_eq!(wrong("{n, plural, =x {x} other {y}}"), Some(WrongMessage::Key("x".into())));
        assert_eq!(wrong("{n, plural, one {x}}"), Some(WrongMessage::NoOther("n".into())));
    }
}
