//! The kinds of workload. To add a new kind, create a new crate and add a line here.

use crate::artifact::Content;
use crate::document::{Published, nearest};
use crate::kind::{FORMATS, Format, Kind, Rules};

/// A function that is generic over the kind of workload.
pub trait Visitor {
    /// The return type.
    type Output;

    /// Calls the function for kind `K`.
    fn visit<K: Kind>(self) -> Self::Output;
}

/// Returns the kind of policy or workload that is equal or most similar to the given name.
pub fn named(name: &str) -> Option<&'static str> {
    let known = [NAMES, WORKLOADS].concat();
    let exact = known.iter().copied().find(|known| *known == name);
    exact.or_else(|| nearest(name, &known))
}

/// Returns the formats of all results.
pub fn formats() -> Vec<Format> {
    let own = crate::multiresource::verbs::FORMATS;
    [FORMATS, own, synth_advice::verbs::FORMATS].concat()
}

macro_rules! kinds {
    ($($kind:ty),+ $(,)?) => {
        /// The names of all kinds in policy files.
        pub const NAMES: &[&str] = &[$(<<$kind as Rules>::Content as Content>::NAME),+];

        /// The names of all kinds in workload files.
        pub const WORKLOADS: &[&str] = &[$(<<$kind as Rules>::Content as Content>::WORKLOAD),+];

        /// Calls a function for every kind, in order.
        pub fn each<V: Visitor + Copy>(visitor: V) -> Vec<V::Output> {
            vec![$(visitor.visit::<$kind>()),+]
        }

        /// Returns the JSON Schema of a workload of any kind.
        pub fn workload_schema() -> schemars::Schema {
            let mut published = Published::default();
            $(published.add::<<<$kind as Rules>::Content as Content>::Workload>();)+
            published.schema("A workload of synth")
        }
    };
}

kinds!(
    crate::multiresource::MultiresourceKind,
    crate::compatibility::Compatibility,
    crate::malleable::Malleable,
    crate::volunteer::Volunteer,
);
