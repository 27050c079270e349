/// How jobs are served.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// The virtual queue ([`crate::compatibility::policy::FairQueue`]); interrupted after so much work \[work\] in the mean,
    /// or never: first come, first served.
    Fair {
        /// θ \[work\], > 0.
        slice: Option<f64>,
    },
    /// Each job is sent to any of its servers, and these share themselves among their jobs.
    RandomPs,
    /// The same; a class's jobs (K) are sent to servers with these probabilities.
    RoutedPs(Vec<Vec<(usize, f64)>>),
    /// The same; each job is sent where it is served fastest when it comes.
    ShortestPs,
}
