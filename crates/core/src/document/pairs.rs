use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use std::collections::BTreeMap;

use crate::number::Decimal;

/// The names and values in the order in which they were written. A value with a fault is `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct Pairs<T = Decimal>(pub Vec<(String, Option<T>)>);

impl<T> Default for Pairs<T> {
    fn default() -> Self {
        Pairs(Vec::new())
    }
}

impl<T> Pairs<T> {
    /// Returns all amounts that are not 0. `of` creates a value from the index and the amount.
    pub fn amounts<'n>(
        names: impl IntoIterator<Item = &'n String>,
        amounts: &[Decimal],
        of: impl Fn(usize, Decimal) -> T,
    ) -> Self {
        let named = names.into_iter().zip(amounts).enumerate();
        let named = named.filter(|(_, (_, amount))| !amount.is_zero());
        let pair = |(j, (name, amount)): (_, (&String, &_))| (name.clone(), Some(of(j, *amount)));
        Pairs(named.map(pair).collect())
    }
}

impl<T: Copy> Pairs<T> {
    /// Returns the value of a name, or `Some(None)` if it has a fault.
    pub fn get(&self, name: &str) -> Option<Option<T>> {
        let pair = self.0.iter().find(|(own, _)| own == name);
        pair.map(|(_, value)| *value)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pairs<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for InOrder<T> {
            type Value = Pairs<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map from names to values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<T>, A::Error> {
                let pairs = std::iter::from_fn(|| map.next_entry().transpose());
                Ok(Pairs(pairs.collect::<Result<_, _>>()?))
            }
        }

        deserializer.deserialize_map(InOrder(PhantomData))
    }
}

impl<T: Serialize> Serialize for Pairs<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<T: JsonSchema> JsonSchema for Pairs<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Pairs_of_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        BTreeMap::<String, Option<T>>::json_schema(generator)
    }
}
