/// The information about a job that is available when it arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobFacts {
    /// The hash of the user name, or 0 if the user is unknown.
    pub user: u32,
    /// The limit of the job \[time\], or infinity if it does not have a limit.
    pub limit: f64,
    /// The fraction of the scarcest resource that is used by the job, in the range `(0, 1]`.
    pub share: f64,
    /// The arrival time \[time\].
    pub submitted: f64,
}
