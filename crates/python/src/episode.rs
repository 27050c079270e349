//! This module implements a system that is controlled step by step, for reinforcement learning.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use synth::kind::Kind;
use synth::multiresource::MultiresourceKind;
use synth_multiresource::simulator::SteppedRun;
use synth_multiresource::workload::Fleet;

use crate::system::Shape;

/// A run that stops whenever a waiting job could be started.
#[pyclass(frozen)]
pub struct Episode {
    fleet: Fleet,
    shape: Arc<Shape>,
    run: Mutex<SteppedRun>,
}

impl Episode {
    fn run(&self) -> MutexGuard<'_, SteppedRun> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Episode {
    /// Reads a workload. If a load is given, the arrival rates are scaled to it.
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
        let parsed = Fleet::parse(document, name).map_err(|why| wrong(&why))?;
        let mut fleet = parsed.workload;
        if let Some(load) = load {
            fleet = MultiresourceKind::at_load(&fleet, load).map_err(|why| wrong(&why))?;
        }
        Ok(Episode {
            shape: Arc::new(Shape::of(&fleet)),
            run: Mutex::new(SteppedRun::new(&fleet, seed, number)),
            fleet,
        })
    }

    /// Starts again with different random numbers.
    fn reset(&self, seed: u64, number: u32) {
        *self.run() = SteppedRun::new(&self.fleet, seed, number);
    }

    /// Starts the oldest waiting job of type i. If there is none or it does not fit, this has no
    /// effect and returns False.
    fn start(&self, i: usize) -> bool {
        self.run().start(i)
    }

    /// Advances to the next event after which a waiting job fits, but by at most this number of
    /// events. Returns the number of events and the total time that the jobs have spent in the
    /// system during these events.
    fn advance(&self, events: u64) -> (u64, f64) {
        self.run().advance(events)
    }

    /// Returns the time, the numbers of waiting and running jobs of each type, the free amount of
    /// each resource, and whether a job of each type could be started.
    fn state(&self) -> (f64, Vec<u32>, Vec<u32>, Vec<f64>, Vec<bool>) {
        let run = self.run();
        let system = run.system();
        let types = || 0..system.types();
        let could_start = |i| system.waiting(i) > 0 && system.fits(i);
        (
            system.now(),
            types().map(|i| system.waiting(i)).collect(),
            types().map(|i| system.running(i)).collect(),
            self.shape.free(system),
            types().map(could_start).collect(),
        )
    }

    /// Returns the names of the types and the names of the resources.
    fn names(&self) -> (Vec<String>, Vec<String>) {
        (self.shape.names.clone(), self.shape.resources.clone())
    }
}
