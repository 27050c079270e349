/// The partition, owner and QOS of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Facts {
    /// The partition, an index into
    /// [`SlurmSite::partitions`](crate::configuration::SlurmSite::partitions).
    pub partition: u32,
    /// A number that identifies the user.
    pub user: u32,
    /// A number that identifies the account.
    pub account: u32,
    /// The association, an index into
    /// [`SlurmSite::associations`](crate::configuration::SlurmSite::associations).
    pub association: Option<u32>,
    /// The QOS, an index into [`SlurmSite::qos`](crate::configuration::SlurmSite::qos).
    pub qos: Option<u32>,
    /// The number that a submit script adds to the priority of the job.
    pub site_factor: f64,
}
