use serde::Serialize;

/// On which grounds a checker lets something stand that a document says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case", tag = "grounds", content = "by")]
pub enum Grounds {
    /// It was derived anew, in this way, and agrees.
    Derived(&'static str),
    /// It was not derived; that it makes sense was judged, by this.
    Judged(&'static str),
    /// Nothing that was said of it was examined, for this reason.
    Trusted(&'static str),
}

impl Grounds {
    /// What follows from this and that stands on no better grounds than the worse of both.
    #[must_use]
    pub fn and(self, other: Grounds) -> Grounds {
        let rank = |grounds: &Grounds| match grounds {
            Grounds::Derived(_) => 0,
            Grounds::Judged(_) => 1,
            Grounds::Trusted(_) => 2,
        };
        std::cmp::max_by_key(other, self, rank)
    }
}

/// Something that a document says, and why it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Examined {
    /// JSON path.
    pub path: String,
    /// Why it stands.
    #[serde(flatten)]
    pub grounds: Grounds,
}
