//! A system that is stepped from outside, for reinforcement learning.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use synth::kind::Kind;
use synth::multiresource::MultiresourceKind;
use synth_multiresource::simulator::Stepping;
use synth_multiresource::workload::Fleet;

use crate::system::Shape;

/// A run that stops whenever a waiting job could start.
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
    /// Reads a workload, scaled to the given load if there is one.
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

    /// Restarts with other random numbers.
    fn reset(&self, seed: u64, number: u32) {
        *self.run() = Stepping::new(&self.fleet, seed, number);
    }

    /// Starts the oldest waiting job of type i; False, without effect, if none waits or fits.
    fn start(&self, i: usize) -> bool {
        self.run().start(i)
    }

    /// Advances to the next event after which a waiting job fits, but by at most this many events.
    /// Returns the number of events and the total time that jobs spent in the system meanwhile.
    fn advance(&self, events: u64) -> (u64, f64) {
        self.run().advance(events)
    }

    /// Returns the time, the numbers of waiting and of running jobs by type, the free amount of
    /// each resource, and whether a job of each type could start.
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

    /// Returns the names of the types and of the resources.
    fn names(&self) -> (Vec<String>, Vec<String>) {
        self.shape.names()
    }
}
