//! The kinds of workload that there are. A new kind is a room of its own and its line here.

use crate::artifact::Content;
use crate::kind::Kind;

/// What is done with a kind, whichever it is.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<K: Kind>(self) -> Self::Output;
}

macro_rules! kinds {
    ($($kind:ty),+ $(,)?) => {
        /// The names of all kinds, as policies have them.
        pub const NAMES: &[&str] = &[$(<$kind as Content>::NAME),+];

        /// The names of all kinds, as workloads have them.
        pub const WORKLOADS: &[&str] = &[$(<$kind as Content>::WORKLOAD),+];

        /// Does something with the kind of this name, the first where none has it: its messages say what
        /// is wrong with the name.
        pub fn visit<V: Visitor>(name: Option<&str>, visitor: V) -> V::Output {
            let known = |name: &&str| NAMES.contains(name) || WORKLOADS.contains(name);
            let name = name.filter(known).unwrap_or(NAMES[0]);
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
