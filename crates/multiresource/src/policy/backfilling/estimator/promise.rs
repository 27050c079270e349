//! What a job says of itself.

/// What is known of a job when it comes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobFacts {
    /// Who sent it: a hash of a name; 0 where that is not known.
    pub user: u32,
    /// The limit that it came with \[time\]; infinite where there is none.
    pub limit: f64,
    /// What it takes of the scarcest resource, of the whole (0, 1\].
    pub share: f64,
    /// When it came \[time\].
    pub submitted: f64,
}
