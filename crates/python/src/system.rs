//! This module implements the state of the system that a policy in Python can read and change.

use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyRange;
use synth::multiresource::policy as rules;
use synth_multiresource::workload::Fleet;

/// An event.
#[pyclass(frozen, get_all)]
pub struct Event {
    /// `"arrival"`, `"completion"`, `"clock"`, or `"look"` if only a decision is needed.
    kind: &'static str,
    /// The type of the job.
    r#type: Option<usize>,
    /// The clock that has fired.
    clock: Option<usize>,
    /// The time in the unit of the workload.
    time: f64,
}

impl Event {
    pub fn new(event: rules::Event, time: f64) -> Self {
        let (kind, r#type, clock) = match event {
            rules::Event::Arrival(i) => ("arrival", Some(i), None),
            rules::Event::Completion(i) => ("completion", Some(i), None),
            rules::Event::Clock(usize::MAX) => ("look", None, None),
            rules::Event::Clock(clock) => ("clock", None, Some(clock)),
        };
        Event {
            kind,
            r#type,
            clock,
            time,
        }
    }
}

#[pymethods]
impl Event {
    fn __repr__(&self) -> String {
        let of = match (self.r#type, self.clock) {
            (Some(i), _) => format!(" of type {i}"),
            (_, Some(clock)) => format!(" {clock}"),
            _ => String::new(),
        };
        format!("<{}{of} at {}>", self.kind, self.time)
    }
}

/// A job in the system.
#[pyclass(frozen, get_all, eq)]
#[derive(Clone, PartialEq)]
pub struct Job {
    /// The number of the job, in order of arrival.
    number: u64,
    /// The type of the job.
    r#type: usize,
    /// The time at which the job arrived, in the unit of the workload like all times below.
    arrived: f64,
    /// An upper bound on the remaining run time of the job, or infinity if there is no limit.
    limit_left: f64,
    /// The remaining work of the job, or None if the policy does not know the sizes.
    work_left: Option<f64>,
}

#[pymethods]
impl Job {
    fn __repr__(&self) -> String {
        let (number, kind, arrived) = (self.number, self.r#type, self.arrived);
        format!("<job {number} of type {kind}, arrived at {arrived}>")
    }
}

/// The names and amounts of a system, which do not change.
pub struct Shape {
    fleet: Fleet,
    pub names: Vec<String>,
    pub resources: Vec<String>,
    units: Vec<f64>,
}

impl Shape {
    pub fn of(fleet: &Fleet) -> Self {
        let workload = fleet.envelope();
        let (types, resources) = (workload.types(), workload.resources());
        let unit = |own: &synth_multiresource::workload::Resource| {
            own.capacity().value() / own.units() as f64
        };
        Shape {
            fleet: fleet.clone(),
            names: types.iter().map(|own| own.name().to_owned()).collect(),
            resources: resources.iter().map(|own| own.name().to_owned()).collect(),
            units: resources.iter().map(unit).collect(),
        }
    }

    pub fn free(&self, system: &rules::System) -> Vec<f64> {
        let units = self.units.iter().enumerate();
        units.map(|(j, unit)| system.total_free(j) * unit).collect()
    }
}

/// The servers and their queues.
#[pyclass(module = "synthsched")]
pub struct System {
    inner: rules::System,
    is_live: bool,
    shape: std::sync::Arc<Shape>,
    /// The numbers of the types. They are stored because a policy reads them at each event.
    types: Py<PyRange>,
}

impl System {
    pub fn spare(py: Python<'_>, shape: &std::sync::Arc<Shape>) -> PyResult<Self> {
        Ok(System {
            inner: rules::System::new(shape.fleet.envelope(), 0, false),
            is_live: false,
            shape: shape.clone(),
            types: PyRange::new(py, 0, shape.names.len() as isize)?.unbind(),
        })
    }

    pub fn exchange(view: &Bound<'_, Self>, system: &mut rules::System) -> PyResult<()> {
        let mut own = view.try_borrow_mut()?;
        std::mem::swap(&mut own.inner, system);
        own.is_live = !own.is_live;
        Ok(())
    }

    fn live(&self) -> PyResult<&rules::System> {
        if self.is_live {
            return Ok(&self.inner);
        }
        let why = "the system can be read and changed only within begin and react";
        Err(PyRuntimeError::new_err(why))
    }

    fn of_type(&self, i: usize) -> PyResult<&rules::System> {
        let system = self.live()?;
        if i < system.types() {
            return Ok(system);
        }
        let last = system.types() - 1;
        let why = format!("there is no type {i}: types are numbered 0 to {last}");
        Err(PyIndexError::new_err(why))
    }

    fn checked(&self) -> PyResult<()> {
        match self.inner.violation() {
            None => Ok(()),
            Some(why) => Err(PyValueError::new_err(why.to_string())),
        }
    }

    fn job(&self, i: usize, job: rules::Job) -> Job {
        let work = self.inner.work_left(job);
        Job {
            number: job.number,
            r#type: i,
            arrived: job.arrived,
            limit_left: self.inner.limit_left(job),
            work_left: (!work.is_nan()).then_some(work),
        }
    }
}

#[pymethods]
impl System {
    /// The time in the unit of the workload.
    #[getter]
    fn now(&self) -> PyResult<f64> {
        Ok(self.live()?.now())
    }

    /// The numbers of the types, which is `range(K)`.
    #[getter]
    fn types(&self, py: Python<'_>) -> Py<PyRange> {
        self.types.clone_ref(py)
    }

    /// The names of the types.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.shape.names.clone()
    }

    /// The names of the resources.
    #[getter]
    fn resources(&self) -> Vec<String> {
        self.shape.resources.clone()
    }

    /// The free amount of each resource on all servers.
    #[getter]
    fn free(&self) -> PyResult<Vec<f64>> {
        Ok(self.shape.free(self.live()?))
    }

    /// Returns the amount of each resource that a job of type i needs on each of its servers.
    fn demand(&self, i: usize) -> PyResult<Vec<f64>> {
        let units = self.of_type(i)?.demand(i).iter().zip(&self.shape.units);
        Ok(units.map(|(count, unit)| *count as f64 * unit).collect())
    }

    /// Returns the mean size of the jobs of type i, in the unit of time of the workload.
    fn mean_size(&self, i: usize) -> PyResult<f64> {
        self.of_type(i)?;
        Ok(self.shape.fleet.types()[i].mean_size())
    }

    /// Returns the number of waiting jobs of type i.
    fn waiting(&self, i: usize) -> PyResult<u32> {
        Ok(self.of_type(i)?.waiting(i))
    }

    /// Returns the number of running jobs of type i.
    fn running(&self, i: usize) -> PyResult<u32> {
        Ok(self.of_type(i)?.running(i))
    }

    /// Returns True if another job of type i fits.
    fn fits(&self, i: usize) -> PyResult<bool> {
        Ok(self.of_type(i)?.fits(i))
    }

    /// Returns the type of the oldest waiting job.
    fn oldest(&self) -> PyResult<Option<usize>> {
        Ok(self.live()?.oldest_type())
    }

    /// Returns the type of the oldest waiting job that fits.
    fn oldest_fitting(&self) -> PyResult<Option<usize>> {
        Ok(self.live()?.oldest_fitting_type())
    }

    /// Returns the waiting jobs of type i in order of arrival.
    fn queue(&self, i: usize) -> PyResult<Vec<Job>> {
        let jobs = self.of_type(i)?.waiting_jobs(i);
        Ok(jobs.map(|job| self.job(i, job)).collect())
    }

    /// Returns the running jobs of type i in any order.
    fn in_service(&self, i: usize) -> PyResult<Vec<Job>> {
        let jobs = self.of_type(i)?.running_jobs(i);
        Ok(jobs.map(|job| self.job(i, job)).collect())
    }

    /// Starts the oldest waiting job of type i, or the given job.
    #[pyo3(signature = (i, job=None))]
    fn start(&mut self, i: usize, job: Option<&Bound<'_, Job>>) -> PyResult<()> {
        let system = self.of_type(i)?;
        let refused = |job: String, why: &str| {
            Err(PyValueError::new_err(format!("{job} cannot start: {why}")))
        };
        let name = || format!("a job of type {i} ({})", self.shape.names[i]);
        if system.waiting(i) == 0 {
            return refused(name(), "no such job waits");
        }
        if !system.fits(i) {
            let free = self.shape.free(system);
            let why = format!("it does not fit into the free capacity {free:?}");
            return refused(name(), &why);
        }
        let Some(job) = job.map(Bound::get) else {
            self.inner.start(i);
            return self.checked();
        };
        let waits = |own: &rules::Job| own.number == job.number;
        let Some(found) = system.waiting_jobs(i).find(waits) else {
            return refused(
                format!("job {} of type {i}", job.number),
                "it is not waiting",
            );
        };
        self.inner.start_job(i, found);
        self.checked()
    }

    /// Stops the youngest running job of type i, or the given job, so that it waits again. This is
    /// only allowed if the policy has `preempts = True`.
    #[pyo3(signature = (i, job=None))]
    fn stop(&mut self, i: usize, job: Option<&Bound<'_, Job>>) -> PyResult<()> {
        let system = self.of_type(i)?;
        let found = match job.map(Bound::get) {
            None => system.youngest_running(i),
            Some(job) => system.running_jobs(i).find(|own| own.number == job.number),
        };
        let Some(found) = found else {
            let why = format!("no such job of type {i} is running");
            return Err(PyValueError::new_err(why));
        };
        self.inner.stop_job(i, found);
        self.checked()
    }

    /// Lets a clock of the policy fire at this rate per unit of time. If it is 0, the clock stops.
    fn set_clock(&mut self, clock: usize, rate: f64) -> PyResult<()> {
        let clocks = self.live()?.clocks().len();
        if clock >= clocks {
            return Err(PyIndexError::new_err(format!(
                "there is no clock {clock}: the number of clocks of the policy is {clocks}, as set by its attribute `clocks`"
            )));
        }
        if !(rate >= 0.0 && rate.is_finite()) {
            let why = format!("the rate of clock {clock} is {rate}, expected a finite number ≥ 0");
            return Err(PyValueError::new_err(why));
        }
        self.inner.set_clock(clock, rate);
        Ok(())
    }
}
