//! Values for the parameters of statements.

use std::borrow::Cow;
use std::sync::Arc;

use super::value::{Kind, Value};

/// A value for a parameter. PostgreSQL also needs the type of a value that is NULL.
pub(crate) trait ToSql: rusqlite::ToSql {
    fn kind(&self) -> Kind;
}

/// The kind of a type's values.
pub(crate) trait Kinded {
    const KIND: Kind;
}

impl<T: rusqlite::ToSql + Kinded + ?Sized> ToSql for T {
    #[inline]
    fn kind(&self) -> Kind {
        T::KIND
    }
}

macro_rules! kinds {
    ($kind:ident: $($type:ty),*) => { $(impl Kinded for $type { const KIND: Kind = Kind::$kind; })* };
}

kinds!(Integer: bool, i8, i16, i32, i64, isize, u8, u16, u32);
kinds!(Text: str, String, Box<str>, Arc<str>, Cow<'_, str>);
kinds!(Blob: [u8], Vec<u8>, Box<[u8]>, Arc<[u8]>);

impl<const N: usize> Kinded for [u8; N] {
    const KIND: Kind = Kind::Blob;
}

impl<T: Kinded + ?Sized> Kinded for &T {
    const KIND: Kind = T::KIND;
}

impl<T: Kinded> Kinded for Option<T> {
    const KIND: Kind = T::KIND;
}

/// All values of a statement, in the order of its parameters.
pub(crate) trait Params {
    fn bind(self, to: &mut rusqlite::Statement<'_>) -> rusqlite::Result<()>;
    /// Copies the values.
    fn values(self) -> rusqlite::Result<Vec<Value>>;
}

impl Params for &[&dyn ToSql] {
    #[inline]
    fn bind(self, to: &mut rusqlite::Statement<'_>) -> rusqlite::Result<()> {
        for (at, value) in self.iter().enumerate() {
            let value: &dyn rusqlite::ToSql = *value;
            to.raw_bind_parameter(at + 1, value)?;
        }
        Ok(())
    }

    fn values(self) -> rusqlite::Result<Vec<Value>> {
        self.iter().map(|value| Value::of(*value)).collect()
    }
}

impl Params for &[Value] {
    #[inline]
    fn bind(self, to: &mut rusqlite::Statement<'_>) -> rusqlite::Result<()> {
        for (at, value) in self.iter().enumerate() {
            to.raw_bind_parameter(at + 1, value)?;
        }
        Ok(())
    }

    fn values(self) -> rusqlite::Result<Vec<Value>> {
        Ok(self.to_vec())
    }
}

/// No values.
impl Params for [(); 0] {
    #[inline]
    fn bind(self, _: &mut rusqlite::Statement<'_>) -> rusqlite::Result<()> {
        Ok(())
    }

    fn values(self) -> rusqlite::Result<Vec<Value>> {
        Ok(Vec::new())
    }
}

/// Two values of different types.
impl<A: ToSql, B: ToSql> Params for (A, B) {
    #[inline]
    fn bind(self, to: &mut rusqlite::Statement<'_>) -> rusqlite::Result<()> {
        to.raw_bind_parameter(1, self.0)?;
        to.raw_bind_parameter(2, self.1)
    }

    fn values(self) -> rusqlite::Result<Vec<Value>> {
        Ok(vec![Value::of(&self.0)?, Value::of(&self.1)?])
    }
}

/// Not for every length, so that the type of an empty array is clear.
macro_rules! arrays {
    ($($length:literal)*) => {$(
        impl<T: ToSql> Params for [T; $length] {
            #[inline]
            fn bind(self, to: &mut rusqlite::Statement<'_>) -> rusqlite::Result<()> {
                for (at, value) in self.iter().enumerate() {
                    to.raw_bind_parameter(at + 1, value)?;
                }
                Ok(())
            }

            fn values(self) -> rusqlite::Result<Vec<Value>> {
                self.iter().map(|value| Value::of(value)).collect()
            }
        }
    )*};
}

arrays!(1 2 3 4 5 6 7 8);
