//! The kinds of workload that there are. A new kind is a room of its own and its line here.

use crate::artifact::Content;
use crate::document::nearest;
use crate::kind::Kind;

/// What is done with a kind, whichever it is.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<K: Kind>(self) -> Self::Output;
}

/// The name of a kind, of policies or of workloads, that this one is or is near to.
#[must_use]
pub fn named(name: &str) -> Option<&'static str> {
    let known = [NAMES, WORKLOADS].concat();
    let exact = known.iter().copied().find(|known| *known == name);
    exact.or_else(|| nearest(name, &known))
}

macro_rules! kinds {
    ($($kind:ty),+ $(,)?) => {
        /// The names of all kinds, as policies have them.
        pub const NAMES: &[&str] = &[$(<$kind as Content>::NAME),+];

        /// The names of all kinds, as workloads have them.
        pub const WORKLOADS: &[&str] = &[$(<$kind as Content>::WORKLOAD),+];

        /// Does something with the kind of this name, or of the one near to it, or else the first: its
        /// messages say what is wrong with the name.
        pub fn visit<V: Visitor>(name: Option<&str>, visitor: V) -> V::Output {
            let name = name.and_then(named).unwrap_or(NAMES[0]);
            $(
                if [<$kind as Content>::NAME, <$kind as Content>::WORKLOAD].contains(&name) {
                    return visitor.visit::<$kind>();
                }
            )+
            unreachable!("every name is that of a kind")
        }

        /// Does something with every kind, in order.
        pub fn each<V: Visitor + Copy>(visitor: V) -> Vec<V::Output> {
            vec![$(visitor.visit::<$kind>()),+]
        }
    };
}

kinds!(
    crate::multiresource::Multiresource,
    crate::compatibility::Compatibility,
    crate::malleable::Malleable,
    crate::volunteer::Volunteer,
);
