/// Facts about a job at its arrival.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobFacts {
    /// Hashed user name, 0 if unknown.
    pub user: u32,
    /// Limit \[time\], infinite if there is none.
    pub limit: f64,
    /// Share of the scarcest resource, in (0, 1\].
    pub share: f64,
    /// Arrival time.
    pub submitted: f64,
}
