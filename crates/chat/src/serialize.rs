//! Serialization of data that crosses the port between gateways and the domain. It does not depend on the
//! format.

/// Serializes a checked text type as its text, and checks it again when it is read.
macro_rules! serialize_as_text {
    ($name:ident, $text:ident, $parse:expr) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let text: &str = &self.$text();
                serializer.serialize_str(text)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                let parse: fn(&str) -> Option<$name> = $parse;
                parse(&text).ok_or_else(|| serde::de::Error::custom(concat!("not a ", stringify!($name))))
            }
        }
    };
}
pub(crate) use serialize_as_text;

/// A JSON value as its text: formats that do not describe themselves cannot read a value of any type.
pub(crate) mod json_text {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};
    use serde_json::Value;

    #[expect(clippy::borrowed_box, reason = "the type of the field, as serde asks for it")]
    pub(crate) fn serialize<S: Serializer>(value: &Box<Value>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<Value>, D::Error> {
        serde_json::from_str(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// A change of an optional value. Keeps `Some(None)` and `None` apart, in JSON too.
pub(crate) mod optional_change {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::option_option, reason = "the type of the field, as serde asks for it")]
    pub(crate) fn serialize<T: Serialize, S: Serializer>(
        change: &Option<Option<T>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        change.as_ref().map(|value| (value,)).serialize(serializer)
    }

    #[expect(clippy::option_option, reason = "the type of the field, as serde asks for it")]
    pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Option<T>>, D::Error> {
        Ok(Option::<(Option<T>,)>::deserialize(deserializer)?.map(|(value,)| value))
    }
}
