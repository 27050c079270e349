//! A system that is stepped from outside, for reinforcement learning.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use synth::kind::Kind;
use synth::multiresource::MultiresourceKind;
use synth_multiresource::simulator::Stepping;
use synth_multiresource::workload::Fleet;

use crate::system::Shape;

/// A run that stops wherever a waiting job could start.
#[pyclass(frozen)]
pub struct Episode {
    fleet: Fleet,
    shape: Arc<Shape>,
    run: Mutex<Stepping>,
}

impl Episode {
    fn run(&self) -> MutexGuard<'_, Stepping> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Episode {
    /// Reads a workload, scaled to this load where one is given.
    #[new]
    #[pyo3(signature = (document, name, load, seed, number))]
    fn new(
        document: &str,
        name: &str,
        load: Option<f64>,
        seed: u64,
        number: u32,
    ) -> PyResult<Self> {
        let wrong = |why: &dyn ToString| PyValueError::new_err(why.to_string());
        let mut fleet = Fleet::parse(document, name)
            .map_err(|why| wrong(&why))?
            .workload;
        if let Some(load) = load {
            fleet = MultiresourceKind::at_load(&fleet, load).map_err(|why| wrong(&why))?;
        }
        Ok(Episode {
            shape: Arc::new(Shape::of(&fleet)),
            run: Mutex::new(Stepping::new(&fleet, seed, number)),
            fleet,
        })
    }

    /// Begins anew, with other random numbers.
    fn reset(&self, seed: u64, number: u32) {
        *self.run() = Stepping::new(&self.fleet, seed, number);
    }

    /// Starts the oldest waiting job of type i; False, without effect, where none waits or there is no room.
    fn start(&self, i: usize) -> bool {
        self.run().start(i)
    }

    /// Goes on to the next event after which a waiting job fits, or for so many events: how many there were, and the
    /// time that jobs spent in the system meanwhile.
    fn advance(&self, events: u64) -> (u64, f64) {
        self.run().advance(events)
    }

    /// The time, jobs that wait and that run by type, what is free by resource, and whether a job of each type could
    /// start.
    fn state(&self) -> (f64, Vec<u32>, Vec<u32>, Vec<f64>, Vec<bool>) {
        let run = self.run();
        let system = run.system();
        let types = || 0..system.types();
        (
            system.now(),
            types().map(|i| system.waiting(i)).collect(),
            types().map(|i| system.running(i)).collect(),
            self.shape.free(system),
            types()
                .map(|i| system.waiting(i) > 0 && system.fits(i))
                .collect(),
        )
    }

    /// Names of the types, and of the resources.
    fn names(&self) -> (Vec<String>, Vec<String>) {
        self.shape.names()
    }
}
