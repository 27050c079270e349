use super::Unsuitable;
use crate::schedule::Packing;
use crate::workload::Workload;

/// A system with two types of jobs: a heavy job needs the whole server, on which several light jobs
/// fit (Quickswap paper, section 4.1, where a light job needs one server and a heavy job all `k`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneOrAll {
    /// The light type.
    pub light: usize,
    /// The heavy type.
    pub heavy: usize,
    /// The number `k` of light jobs that can run at the same time.
    pub servers: u32,
}

impl OneOrAll {
    /// Returns the system of a workload.
    ///
    /// # Errors
    /// Returns an error that names the types because of which it is not a one-or-all system.
    pub fn new(workload: &Workload) -> Result<Self, Unsuitable> {
        let packing = Packing::new(workload);
        let name = |i: &usize| workload.types()[*i].name();
        let alone = |i: &usize| {
            let one = (0..packing.types()).map(|j| u32::from(j == *i));
            packing.is_maximal(&one.collect::<Vec<_>>())
        };
        let (heavy, light): (Vec<usize>, Vec<usize>) = (0..packing.types()).partition(alone);
        let names = |types: &[usize]| types.iter().map(name).collect::<Vec<_>>().join(", ");
        let found = match (&*light, &*heavy) {
            (&[light], &[heavy]) => {
                return Ok(OneOrAll {
                    light,
                    heavy,
                    servers: packing.max_jobs_alone(light),
                });
            }
            ([], [_]) => "there is no other type".into(),
            (light, [_]) => format!("the other types are {}", names(light)),
            (_, []) => "no type does".into(),
            (_, heavy) => format!("{} do", names(heavy)),
        };
        Err(Unsuitable(format!(
            "it needs two job types, exactly one of which takes the whole server, but {found}; for other workloads use static-quickswap or adaptive-quickswap"
        )))
    }
}
