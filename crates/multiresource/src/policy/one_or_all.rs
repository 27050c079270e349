//! Systems of two types, one of which needs the whole server.

use super::Unsuitable;
use crate::schedule::Packing;
use crate::workload::Workload;

/// A system of two types, one of which runs alone: as heavy as the whole server, while several of
/// the other, light one run together (Quickswap paper, section 4.1, where a light job needs one
/// server and a heavy one all k).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneOrAll {
    /// The type of which several run together.
    pub light: usize,
    /// The type of which one runs, alone.
    pub heavy: usize,
    /// How many light jobs run together: k.
    pub servers: u32,
}

impl OneOrAll {
    /// What the workload is, if it is one.
    ///
    /// # Errors
    /// Which types break it.
    pub fn new(workload: &Workload) -> Result<Self, Unsuitable> {
        let packing = Packing::new(workload);
        let name = |i: &usize| workload.types()[*i].name();
        let alone = |i: &usize| {
            let one: Vec<u32> = (0..packing.types()).map(|j| u32::from(j == *i)).collect();
            packing.is_maximal(&one)
        };
        let (heavy, light): (Vec<usize>, Vec<usize>) = (0..packing.types()).partition(alone);
        let names = |types: &[usize]| types.iter().map(name).collect::<Vec<_>>().join(", ");
        let found = match (&*light, &*heavy) {
            (&[light], &[heavy]) => {
                return Ok(OneOrAll {
                    light,
                    heavy,
                    servers: packing.alone(light),
                });
            }
            ([], [_]) => "beside that there is none".into(),
            (light, [_]) => format!("beside that there are {}", names(light)),
            (_, []) => "none does".into(),
            (_, heavy) => format!("{} do", names(heavy)),
        };
        Err(Unsuitable(format!(
            "it is for two types, one of which takes the whole server, and {found} here; for any types there are static-quickswap and adaptive-quickswap"
        )))
    }
}
