use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use synth::cli::{self, Embedding};
use synth::document::{Documents, with_documents};
use synth_multiresource::simulator::{ExternalRule, with_rules};

use crate::rule::{Broken, PythonRule};
use crate::threads;

/// Runs a command like the program `synth`, and returns its exit code.
#[pyfunction]
pub fn main(py: Python<'_>, typed: Vec<OsString>) -> u8 {
    threads::of_this_process();
    py.detach(|| cli::main(&typed))
}

/// A flag that can be set to end a command. The command returns the results that it has so far.
#[pyclass(frozen)]
#[derive(Default)]
pub struct Flag(Arc<AtomicBool>);

#[pymethods]
impl Flag {
    #[new]
    fn new() -> Self {
        Flag::default()
    }

    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The result of a command.
#[pyclass(frozen, get_all, module = "synthsched._core")]
pub struct Answer {
    code: u8,
    printed: String,
    notes: Vec<String>,
    error: Option<String>,
    document: String,
    csv: String,
    page: String,
}

#[pymethods]
impl Answer {
    /// Creates an answer from the values of `__getnewargs__`. This is used by `pickle`.
    #[new]
    fn new(
        code: u8,
        printed: String,
        notes: Vec<String>,
        error: Option<String>,
        document: String,
        csv: String,
        page: String,
    ) -> Self {
        Answer {
            code,
            printed,
            notes,
            error,
            document,
            csv,
            page,
        }
    }

    fn __getnewargs__(&self) -> (u8, &str, &[String], Option<&str>, &str, &str, &str) {
        (
            self.code,
            &self.printed,
            &self.notes,
            self.error.as_deref(),
            &self.document,
            &self.csv,
            &self.page,
        )
    }
}

/// Runs a command. `documents` are used instead of files with their names. `policies` are written
/// in Python, and each of them has a name, an object and a seed.
#[pyfunction]
pub fn answer(
    py: Python<'_>,
    typed: Vec<OsString>,
    documents: Vec<(PathBuf, Vec<u8>)>,
    policies: Vec<(String, Py<PyAny>, u64)>,
    flag: &Flag,
    progress: Option<Py<PyAny>>,
) -> PyResult<Answer> {
    threads::of_this_process();
    let broken = Broken::new(Arc::clone(&flag.0));
    let rule = |(name, policy, seed)| {
        let rule = PythonRule::new(py, name, policy, seed, broken.clone())?;
        Ok(Arc::new(rule) as Arc<dyn ExternalRule>)
    };
    let rules = policies.into_iter().map(rule).collect::<PyResult<_>>()?;
    let documents = documents.into_iter();
    let documents: Documents = documents.map(|(name, text)| (name, text.into())).collect();
    let interrupt = Arc::clone(&flag.0);
    let listener = broken.clone();
    let answer = py.detach(|| {
        let progress = progress.map(|progress| {
            Box::new(move |text: &str| {
                let called = Python::attach(|py| progress.call1(py, (text,)).map(drop));
                listener.keep(called);
            }) as cli::ProgressCallback
        });
        let program = Embedding::new(interrupt, progress);
        let mut verbs = synth_lab::PROGRAM.verbs.iter();
        let is_of_lab = (typed.first()).is_some_and(|word| verbs.any(|verb| word == verb.name));
        let run = || match is_of_lab {
            true => synth_lab::PROGRAM.answer(&typed, program),
            false => cli::answer(&typed, program),
        };
        with_documents(documents, || with_rules(rules, run))
    });
    broken.raise()?;
    Ok(Answer {
        code: answer.code,
        printed: answer.printed,
        notes: answer.notes,
        error: answer.error,
        document: answer.document,
        csv: answer.csv,
        page: answer.page,
    })
}

macro_rules! documents {
    ($($name:ident)+) => {
        vec![$((
            stringify!($name),
            include_str!(concat!("../../../models/", stringify!($name), ".yaml")),
        )),+]
    };
}

/// Returns the name and the document of each small workload that is included in the package.
#[pyfunction]
pub fn models() -> Vec<(&'static str, &'static str)> {
    documents![
        asymmetric_servers bursty fleet four_types gangs one_or_all section7 three_servers
        training_stream vms
    ]
}
