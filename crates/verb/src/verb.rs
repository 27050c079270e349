use clap::{ArgMatches, Args, Command};

use crate::{Caller, Files, VerbOutput, VerbResult};

/// The arguments of a verb, which can be executed.
pub trait RunVerb {
    /// Returns all files that are named in the arguments.
    fn files(&self) -> Files<'_> {
        Files::default()
    }

    /// Executes the verb.
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput>;
}

/// A verb, which consists of a name and its arguments.
#[derive(Clone, Copy, Debug)]
pub struct Verb {
    /// The name on the command line.
    pub name: &'static str,
    augment: fn(Command) -> Command,
    read: fn(&ArgMatches) -> Result<Box<dyn RunVerb>, clap::Error>,
}

impl Verb {
    /// Creates a verb with these arguments. The help text is their documentation.
    pub const fn of<A: Args + RunVerb + 'static>(name: &'static str) -> Self {
        Verb {
            name,
            augment: A::augment_args,
            read: |matches| Ok(Box::new(A::from_arg_matches(matches)?)),
        }
    }

    /// Returns the command that is used for parsing and for the help.
    pub fn command(&self) -> Command {
        (self.augment)(Command::new(self.name))
    }

    /// Returns the arguments that were parsed.
    pub fn read(&self, matches: &ArgMatches) -> Result<Box<dyn RunVerb>, clap::Error> {
        (self.read)(matches)
    }
}
