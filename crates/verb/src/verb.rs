//! Verbs that are registered: a list of them is a program.

use clap::{ArgMatches, Args, Command};

use crate::{Caller, NamesFiles, VerbOutput, VerbResult};

/// The arguments of a verb, which carry it out.
pub trait RunVerb: NamesFiles {
    /// Carries the verb out.
    ///
    /// # Errors
    /// As each verb says.
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput>;
}

/// A verb: its name, what is typed behind it, and how that is read.
#[derive(Clone, Copy, Debug)]
pub struct Verb {
    /// The word that is typed.
    pub name: &'static str,
    augment: fn(Command) -> Command,
    read: fn(&ArgMatches) -> Result<Box<dyn RunVerb>, clap::Error>,
}

impl Verb {
    /// Returns the verb of this name with these arguments, whose documentation is its help.
    pub const fn of<A: Args + RunVerb + 'static>(name: &'static str) -> Self {
        Verb {
            name,
            augment: A::augment_args,
            read: |matches| Ok(Box::new(A::from_arg_matches(matches)?)),
        }
    }

    /// Returns its command, for parsing and for the help.
    pub fn command(&self) -> Command {
        (self.augment)(Command::new(self.name))
    }

    /// Returns what was typed, ready to run.
    ///
    /// # Errors
    /// When the arguments cannot be read.
    pub fn read(&self, matches: &ArgMatches) -> Result<Box<dyn RunVerb>, clap::Error> {
        (self.read)(matches)
    }
}
