use std::ffi::OsString;

use clap::{Args as _, FromArgMatches as _};

use super::embedding::{EmbeddedAnswer, Embedding};
use super::output;
use super::terminal::{Common, Host};
use super::{concluded, read_verb, refused, verbs};
use crate::kind::Verb;

/// A program that consists of a list of verbs and the global options of `synth`.
#[derive(Clone, Copy, Debug)]
pub struct List {
    /// The name of the program.
    pub name: &'static str,
    /// A one-line description that is used in the help text.
    pub about: &'static str,
    /// The verbs, in the order in which they are shown in the help text.
    pub verbs: &'static [Verb],
}

impl List {
    /// Runs the command with the given arguments and returns the exit code.
    pub fn main(self, typed: &[OsString]) -> u8 {
        self.dispatch(typed, Host::Terminal)
    }

    /// Runs a command inside another program. This does not print anything.
    pub fn answer(self, typed: &[OsString], program: Embedding) -> EmbeddedAnswer {
        program.answer(|host| self.dispatch(typed, host))
    }

    fn dispatch(self, typed: &[OsString], host: Host) -> u8 {
        let command = Common::augment_args(clap::Command::new(self.name))
            .about(self.about)
            .version(env!("CARGO_PKG_VERSION"))
            .subcommand_required(true)
            .arg_required_else_help(true)
            .subcommands(self.verbs.iter().map(Verb::command));
        let name = OsString::from(self.name);
        let read = command.try_get_matches_from([&name].into_iter().chain(typed));
        let read = read.and_then(|matches| {
            let mut common = Common::from_arg_matches(&matches)?;
            common.host = host.clone();
            common.command = output::command(self.name, typed);
            Ok((read_verb(self.verbs, &matches)?, common))
        });
        match read {
            Ok((verb, common)) => concluded(verbs::own(&*verb, &common), &host),
            Err(error) => refused(&error, &host),
        }
    }
}
