use super::Unsuitable;
use crate::multiresource::schedule::Packing;
use crate::multiresource::workload::Workload;

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
        let name = |i: &usize| workload.types()[*i].name().to_owned();
        let alone = |i: &usize| {
            let one: Vec<u32> = (0..packing.types()).map(|j| u32::from(j == *i)).collect();
            packing.is_maximal(&one)
        };
        let (heavy, light): (Vec<usize>, Vec<usize>) = (0..packing.types()).partition(alone);
        match (&*light, &*heavy) {
            (&[light], &[heavy]) => Ok(OneOrAll {
                light,
                heavy,
                servers: packing.most(light, packing.capacity()),
            }),
            (others, [_]) => Err(Unsuitable::Light(others.iter().map(name).collect())),
            (_, heavy) => Err(Unsuitable::Alone(heavy.iter().map(name).collect())),
        }
    }
}
