//! Values on their way to PostgreSQL and back: integers of 64 bits, texts and bytes, as in SQLite.

use bytes::{BufMut, BytesMut};
use rusqlite::types::{FromSql, FromSqlError, ToSqlOutput, ValueRef};
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use super::{Error, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Integer,
    Text,
    Blob,
}

impl Kind {
    /// The type that PostgreSQL is told, so that it need not guess one.
    pub(crate) fn postgres(self) -> Type {
        match self {
            Kind::Integer => Type::INT8,
            Kind::Text => Type::TEXT,
            Kind::Blob => Type::BYTEA,
        }
    }

    /// The type of many values.
    pub(crate) fn postgres_array(self) -> Type {
        match self {
            Kind::Integer => Type::INT8_ARRAY,
            Kind::Text => Type::TEXT_ARRAY,
            Kind::Blob => Type::BYTEA_ARRAY,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Value {
    pub(crate) kind: Kind,
    value: rusqlite::types::Value,
}

impl Value {
    pub(crate) fn of(value: &dyn super::ToSql) -> rusqlite::Result<Value> {
        let kind = value.kind();
        let value = match value.to_sql()? {
            ToSqlOutput::Borrowed(value) => value.try_into().map_err(rusqlite::Error::from)?,
            ToSqlOutput::Owned(value) => value,
            _ => return Err(rusqlite::Error::InvalidQuery),
        };
        Ok(Value { kind, value })
    }

    pub(crate) fn integer(&self) -> Option<i64> {
        match self.value {
            rusqlite::types::Value::Integer(number) => Some(number),
            _ => None,
        }
    }

    /// A value of a column of this kind. The error says why it is none.
    pub(crate) fn read(value: ValueRef<'_>, kind: Kind) -> std::result::Result<Value, &'static str> {
        use rusqlite::types::Value as Owned;
        let value = match (value, kind) {
            (ValueRef::Null, _) => Owned::Null,
            (ValueRef::Integer(number), Kind::Integer) => Owned::Integer(number),
            (ValueRef::Text(text), Kind::Text) => match std::str::from_utf8(text) {
                // PostgreSQL cannot store it.
                Ok(text) if text.contains('\0') => return Err("a text with the character U+0000"),
                Ok(text) => Owned::Text(text.to_owned()),
                Err(_) => return Err("a text that is not UTF-8"),
            },
            (ValueRef::Blob(bytes), Kind::Blob) => Owned::Blob(bytes.to_owned()),
            _ => return Err("a value of another type than its column"),
        };
        Ok(Value { kind, value })
    }
}

impl rusqlite::ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.value.to_sql()
    }
}

type Failed = Box<dyn std::error::Error + Sync + Send>;

impl ToSql for Value {
    fn to_sql(&self, to: &Type, out: &mut BytesMut) -> std::result::Result<IsNull, Failed> {
        use rusqlite::types::Value::{Blob, Integer, Null, Real, Text};
        match &self.value {
            Null => return Ok(IsNull::Yes),
            Integer(value) if *to == Type::INT8 => out.put_i64(*value),
            Integer(value) if *to == Type::INT4 => out.put_i32(i32::try_from(*value)?),
            Integer(_) | Real(_) => return Err(format!("a number is no {to}").into()),
            Text(text) => out.put_slice(text.as_bytes()),
            Blob(bytes) => out.put_slice(bytes),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A column as SQLite would give it.
struct Raw<'r>(ValueRef<'r>);

impl<'r> tokio_postgres::types::FromSql<'r> for Raw<'r> {
    fn from_sql(of: &Type, raw: &'r [u8]) -> std::result::Result<Raw<'r>, Failed> {
        Ok(Raw(match *of {
            Type::INT8 => ValueRef::Integer(i64::from_be_bytes(raw.try_into()?)),
            Type::INT4 => ValueRef::Integer(i32::from_be_bytes(raw.try_into()?).into()),
            Type::BOOL => ValueRef::Integer(raw.first().copied().unwrap_or(0).into()),
            Type::NUMERIC => ValueRef::Integer(whole_number(raw).ok_or("not a whole number of 64 bits")?),
            Type::BYTEA => ValueRef::Blob(raw),
            _ => ValueRef::Text(raw),
        }))
    }

    fn from_sql_null(_: &Type) -> std::result::Result<Raw<'r>, Failed> {
        Ok(Raw(ValueRef::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// A sum of integers. PostgreSQL's format: count of digits, weight of the first, sign, scale, then digits to the base 10,000.
fn whole_number(raw: &[u8]) -> Option<i64> {
    let word = |at: usize| Some(i16::from_be_bytes(raw.get(at * 2..at * 2 + 2)?.try_into().ok()?));
    let (count, weight, sign) = (word(0)?, word(1)?, word(2)? as u16);
    let mut number = 0_i64;
    for place in 0..=weight {
        let digit = if place < count { word(4 + usize::try_from(place).ok()?)? } else { 0 };
        number = number.checked_mul(10_000)?.checked_add(digit.into())?;
    }
    match sign {
        0 => Some(number),
        0x4000 => number.checked_neg(),
        _ => None,
    }
}

#[inline(never)]
pub(crate) fn read(row: &tokio_postgres::Row, at: usize) -> Result<ValueRef<'_>> {
    let raw: Raw<'_> = row.try_get(at).map_err(super::postgres::Error::from)?;
    Ok(raw.0)
}

pub(crate) fn convert<T: FromSql>(row: &tokio_postgres::Row, at: usize) -> Result<T> {
    let value = read(row, at)?;
    T::column_result(value).map_err(|error| match error {
        FromSqlError::InvalidType => {
            let column = row.columns()[at].name().to_owned();
            Error::Sqlite(rusqlite::Error::InvalidColumnType(at, column, value.data_type()))
        }
        error => Error::Value(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_whole_numbers() {
        let numeric = |words: &[i16]| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
            whole_number(&bytes)
        };
        assert_eq!(numeric(&[0, 0, 0, 0]), Some(0));
        assert_eq!(numeric(&[2, 1, 0, 0, 12, 345]), Some(120_345));
        assert_eq!(numeric(&[1, 2, 0, 0, 7]), Some(700_000_000), "zeros at the end are left out");
        assert_eq!(numeric(&[1, 0, 0x4000, 0, 42]), Some(-42));
        assert_eq!(numeric(&[1, 9, 0, 0, 42]), None, "too large");
        assert_eq!(numeric(&[1, 0, 0xC000_u16 as i16, 0, 42]), None, "not a number");
    }
}
