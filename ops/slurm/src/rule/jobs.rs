//! What Slurm knows of a job beside its demand, its limit and its submission.

/// Where a job belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Facts {
    /// Its partition, a place in [`SlurmSite::partitions`](crate::configuration::SlurmSite::partitions).
    pub partition: u32,
    /// Its user, any number for each.
    pub user: u32,
    /// Its account, any number for each.
    pub account: u32,
    /// Its association, a place in [`SlurmSite::associations`](crate::configuration::SlurmSite::associations).
    pub association: Option<u32>,
    /// Its quality of service, a place in [`SlurmSite::qos`](crate::configuration::SlurmSite::qos).
    pub qos: Option<u32>,
    /// What a submit script adds to its priority.
    pub site_factor: f64,
}
