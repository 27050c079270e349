use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use synth::multiresource::artifact::Checked;
use synth::multiresource::forecast::OnlineForecasts;
use synth::multiresource::live::{self, protocol};

/// A policy that controls the jobs of a cluster, using the protocol of `synth drive`.
#[pyclass(frozen)]
pub struct Scheduler(Mutex<(live::Scheduler, OnlineForecasts)>);

impl Scheduler {
    fn own(&self) -> MutexGuard<'_, (live::Scheduler, OnlineForecasts)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Scheduler {
    #[new]
    fn new(policy: &str, name: &str, seed: u64) -> PyResult<Self> {
        crate::threads::of_this_process();
        let policy =
            Checked::parse(policy, name).map_err(|why| PyValueError::new_err(why.to_string()))?;
        let own = (
            live::Scheduler::new(&policy, seed),
            OnlineForecasts::new(seed),
        );
        Ok(Scheduler(Mutex::new(own)))
    }

    /// Returns the answer to one line of the protocol. Both are JSON.
    fn tell(&self, line: &str) -> PyResult<String> {
        let (scheduler, foresight) = &mut *self.own();
        let answer = protocol::answer(scheduler, line.as_bytes(), foresight);
        let answer = answer.map_err(PyValueError::new_err)?;
        synth::kind::json(&answer).map_err(|why| PyValueError::new_err(why.to_string()))
    }

    /// Describes what the policy is currently doing.
    fn doing(&self) -> Option<String> {
        self.own().0.activity()
    }
}
