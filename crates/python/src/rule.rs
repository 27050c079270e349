//! This module runs policies that are written in Python as rules of the simulator.

use std::ffi::CStr;
use std::fmt::{self, Debug, Formatter};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use synth::multiresource::policy as rules;
use synth_multiresource::policy::{CloneRule, Information, Policy, Unsuitable};
use synth_multiresource::simulator::ExternalRule;
use synth_multiresource::workload::Fleet;

use crate::system::{Event, Shape, System};

/// An exception not caused by a policy, such as an interruption, which ends the command.
#[derive(Clone)]
pub struct Broken {
    raised: Arc<Mutex<Option<PyErr>>>,
    interrupt: Arc<AtomicBool>,
}

impl Broken {
    pub fn new(interrupt: Arc<AtomicBool>) -> Self {
        Broken {
            raised: Arc::default(),
            interrupt,
        }
    }

    /// Stores an exception, and ends the command.
    pub fn keep(&self, result: PyResult<()>) {
        if let Err(error) = result {
            let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
            raised.get_or_insert(error);
            self.interrupt.store(true, Ordering::Relaxed);
        }
    }

    /// Returns `true` if the command is about to end, which is then reported as an interruption.
    fn ends(&self) -> bool {
        let ends = self.interrupt.load(Ordering::Relaxed);
        if ends {
            self.keep(Err(PyKeyboardInterrupt::new_err(())));
        }
        ends
    }

    pub fn raise(&self) -> PyResult<()> {
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        raised.take().map_or(Ok(()), Err)
    }
}

/// A Python object that has a method `react(event, system)`.
pub struct PythonRule {
    name: &'static str,
    policy: Py<PyAny>,
    preempts: bool,
    knows: Information,
    clocks: usize,
    if_fits: bool,
    seed: u64,
    broken: Broken,
}

impl PythonRule {
    pub fn new(
        py: Python<'_>,
        name: String,
        policy: Py<PyAny>,
        seed: u64,
        broken: Broken,
    ) -> PyResult<Self> {
        let own = policy.bind(py);
        if !own.getattr("react").is_ok_and(|react| react.is_callable()) {
            let why = format!("{name} has no method react(event, system)");
            return Err(PyTypeError::new_err(why));
        }
        let knows: String = attribute(own, intern!(py, "knows"), "means".into())?;
        let knows = match knows.as_str() {
            "means" => Information::Means,
            "estimates" => Information::Estimates,
            "sizes" => Information::Sizes,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "{name}.knows is {knows:?}: write \"means\", \"estimates\" or \"sizes\""
                )));
            }
        };
        Ok(PythonRule {
            preempts: attribute(own, intern!(py, "preempts"), false)?,
            clocks: attribute(own, intern!(py, "clocks"), 0)?,
            if_fits: attribute(own, intern!(py, "only_if_fits"), false)?,
            // The name of a rule must be static, so its memory is never freed.
            name: String::leak(name),
            policy,
            knows,
            seed,
            broken,
        })
    }
}

fn attribute<'py, T>(
    own: &Bound<'py, PyAny>,
    name: &Bound<'py, pyo3::types::PyString>,
    otherwise: T,
) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    let Some(found) = own.getattr_opt(name)? else {
        return Ok(otherwise);
    };
    found.extract().map_err(|why: PyErr| {
        let why = why.value(own.py());
        own.get_type().name().map_or_else(
            |error| error,
            |policy| PyTypeError::new_err(format!("{policy}.{name} is {found}: {why}")),
        )
    })
}

impl Debug for PythonRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PythonRule").field(&self.name).finish()
    }
}

impl ExternalRule for PythonRule {
    fn name(&self) -> &'static str {
        self.name
    }

    fn preempts(&self) -> bool {
        self.preempts
    }

    fn runs_in_turn(&self) -> bool {
        true
    }

    fn information(&self, _: &Fleet) -> Information {
        self.knows
    }

    fn rule(&self, fleet: &Fleet) -> Result<Box<dyn Policy>, Unsuitable> {
        let shape = Arc::new(Shape::of(fleet));
        let own = Python::attach(|py| {
            let view = Py::new(py, System::spare(py, &shape)?)?;
            PyResult::Ok(Own {
                react: self.policy.getattr(py, intern!(py, "react"))?,
                policy: self.policy.clone_ref(py),
                view,
            })
        });
        let own = own.map_err(|why| Unsuitable(why.to_string()))?;
        Ok(Box::new(Online {
            own: Ok(own),
            shape,
            preempts: self.preempts,
            knows: self.knows,
            clocks: self.clocks,
            if_fits: self.if_fits,
            seed: self.seed,
            copies: Arc::default(),
            broken: self.broken.clone(),
        }))
    }
}

struct Own {
    policy: Py<PyAny>,
    react: Py<PyAny>,
    view: Py<System>,
}

struct Online {
    own: Result<Own, String>,
    shape: Arc<Shape>,
    preempts: bool,
    knows: Information,
    clocks: usize,
    if_fits: bool,
    seed: u64,
    /// The number of copies. Each copy uses the common seed and its own number.
    copies: Arc<AtomicU64>,
    broken: Broken,
}

const SEEDED: &CStr = c"__import__('random').Random(f'{seed}/{copy}')";

impl Online {
    fn copied(&self, py: Python<'_>, own: &Own) -> PyResult<Own> {
        let copy = py.import(intern!(py, "copy"))?;
        let policy = copy.call_method1(intern!(py, "deepcopy"), (own.policy.bind(py),))?;
        Ok(Own {
            react: policy.getattr(intern!(py, "react"))?.unbind(),
            policy: policy.unbind(),
            view: Py::new(py, System::spare(py, &self.shape)?)?,
        })
    }

    fn call(
        &mut self,
        system: &mut rules::System,
        call: impl FnOnce(Python<'_>, &Own) -> PyResult<()>,
    ) {
        let Ok(own) = &self.own else { return };
        if self.broken.ends() {
            return system.fail(INTERRUPTED.into());
        }
        let failed = Python::attach(|py| {
            let view = own.view.bind(py);
            let called = System::exchange(view, system).and_then(|()| {
                let called = call(py, own);
                System::exchange(view, system)?;
                called
            });
            let error = called.err()?;
            // If it is not an `Exception`, such as an interruption, it is not caused by the policy.
            if error.is_instance_of::<PyException>(py) {
                return Some(in_words(py, &error, system.now()));
            }
            self.broken.keep(Err(error));
            Some(INTERRUPTED.into())
        });
        if let Some(why) = failed {
            system.fail(why.clone());
            self.own = Err(why);
        }
    }
}

const INTERRUPTED: &str = "interrupted";

fn in_words(py: Python<'_>, error: &PyErr, now: f64) -> String {
    let trace = error.traceback(py).and_then(|trace| trace.format().ok());
    let (trace, value) = (trace.unwrap_or_default(), error.value(py));
    let name = error.get_type(py).name();
    let name = name.map_or_else(|_| "an exception".into(), |name| name.to_string());
    format!("the policy raised {name} at time {now}:\n{trace}{value}")
}

impl CloneRule for Online {
    fn clone_rule(&self) -> Box<dyn Policy> {
        let own = match &self.own {
            Ok(_) if self.broken.ends() => Err(INTERRUPTED.into()),
            Ok(own) => Python::attach(|py| {
                self.copied(py, own).map_err(|why| {
                    let words = format!("the policy cannot be copied by copy.deepcopy: {why}");
                    if !why.is_instance_of::<PyException>(py) {
                        self.broken.keep(Err(why));
                    }
                    words
                })
            }),
            Err(why) => Err(why.clone()),
        };
        Box::new(Online {
            own,
            shape: Arc::clone(&self.shape),
            copies: Arc::clone(&self.copies),
            broken: self.broken.clone(),
            ..*self
        })
    }
}

impl Policy for Online {
    fn clocks(&self) -> usize {
        self.clocks
    }

    fn preempts(&self) -> bool {
        self.preempts
    }

    fn information(&self) -> Information {
        self.knows
    }

    fn begin(&mut self, system: &mut rules::System) {
        if let Err(why) = &self.own {
            return system.fail(why.clone());
        }
        let (seed, copy) = (self.seed, self.copies.fetch_add(1, Ordering::Relaxed));
        self.call(system, |py, own| {
            let names = PyDict::new(py);
            names.set_item("seed", seed)?;
            names.set_item("copy", copy)?;
            let random = py.eval(SEEDED, None, Some(&names))?;
            own.policy.bind(py).setattr(intern!(py, "random"), random)?;
            match own.policy.bind(py).getattr_opt(intern!(py, "begin"))? {
                Some(begin) => begin.call1((&own.view,)).map(drop),
                None => Ok(()),
            }
        });
    }

    fn react(&mut self, event: rules::Event, system: &mut rules::System) {
        let rings = matches!(event, rules::Event::Clock(clock) if clock < self.clocks);
        if self.if_fits && !rings && system.oldest_fitting_type().is_none() {
            return;
        }
        let event = Event::new(event, system.now());
        self.call(system, |py, own| {
            own.react.call1(py, (event, &own.view)).map(drop)
        });
    }
}
