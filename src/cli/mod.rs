//! The command line, which is generic over the kind of workload (see [`kinds`]).

mod compare;
mod embedding;
mod interrupt;
mod list;
mod output;
mod progress;
mod terminal;
mod verbs;
mod workload;

use std::ffi::OsString;
use std::marker::PhantomData;
use std::path::Path;

use crate::artifact::{Artifact, ArtifactError, Content as _};
use crate::document::{exists, nearest};
use crate::kind::{Kind, RunVerb, Verb};
use crate::kinds::{self, Visitor};
use crate::report::Section;
use crate::typed::PolicyFile;
use anstyle::{AnsiColor, Style};
use clap::builder::PossibleValuesParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, CommandFactory as _, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;
use itertools::Itertools as _;

pub use embedding::{EmbeddedAnswer, Embedding, ProgressCallback};
pub use list::List;
use output::emit;
use terminal::{Common, Host, NEGATIVE, Outcome, SUCCESS, harmless};

const EMPHASIS: Style = AnsiColor::Red.on_default().bold();

/// Find a scheduling policy for a workload or a log, with a proof or a backtest
#[derive(Parser)]
#[command(
    name = "synth",
    version,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    arg_required_else_help = true,
    after_long_help = examples::<K>()
)]
struct Arguments<K: Kind> {
    #[command(subcommand)]
    command: Option<Command<K>>,

    #[command(flatten)]
    synthesize: verbs::SynthesizeArguments<K>,

    #[command(flatten)]
    common: Common,
}

#[derive(Subcommand)]
enum Command<K: Kind> {
    /// Check a policy file: derive its claims again, and list the rest
    #[command(after_long_help = examples_of::<K>("check"))]
    Check(verbs::CheckArguments),
    /// Describe a policy file in words
    #[command(after_long_help = examples_of::<K>("show"))]
    Show(PolicyFile),
    /// Simulate a policy, and try to refute its claims
    #[command(after_long_help = examples_of::<K>("simulate"))]
    Simulate(verbs::SimulateArguments<K>),
    /// Compare policies at several loads, on the same jobs
    #[command(after_long_help = format!("{}\n\n{}", compare::ABOUT, examples_of::<K>("compare")))]
    Compare(compare::Arguments<K>),
    /// Combine the parts of a comparison of `synth compare --shard`
    Merge(compare::MergeArguments),
    /// List the rules that can be used by name
    Rules,
    #[command(flatten)]
    Own(Own<K>),
    /// Print a JSON Schema: of workloads, policies or results
    Schema {
        /// The schema: `workload`, a kind of policy or a result format [default: the first policy
        /// kind]
        #[arg(value_parser = PossibleValuesParser::new(schema_names()))]
        of: Option<String>,
    },
    /// Generate a completion script for a shell
    Completions {
        /// The shell that the script is for
        shell: Shell,
    },
    /// Print the manual page
    Man,
}

struct Own<K>(Box<dyn RunVerb>, PhantomData<K>);

fn read_verb(verbs: &[Verb], matches: &ArgMatches) -> Result<Box<dyn RunVerb>, clap::Error> {
    let typed = matches.subcommand();
    let verb = typed.and_then(|(name, typed)| {
        let verb = verbs.iter().find(|verb| verb.name == name)?;
        Some(verb.read(typed))
    });
    verb.unwrap_or_else(|| Err(clap::Error::new(ErrorKind::MissingSubcommand)))
}

impl<K: Kind> FromArgMatches for Own<K> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Own(read_verb(K::VERBS, matches)?, PhantomData))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<K: Kind> Subcommand for Own<K> {
    fn augment_subcommands(command: clap::Command) -> clap::Command {
        command.subcommands(K::VERBS.iter().map(with_examples::<K>))
    }

    fn augment_subcommands_for_update(command: clap::Command) -> clap::Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        K::VERBS.iter().any(|verb| verb.name == name)
    }
}

fn with_examples<K: Kind>(verb: &Verb) -> clap::Command {
    let command = verb.command();
    let about = command.get_after_long_help();
    let about = about.map_or(String::new(), |about| format!("{about}\n\n"));
    command.after_long_help(about + &examples_of::<K>(verb.name))
}

const EXAMPLES: &str = include_str!("examples.txt");

fn examples<K: Kind>() -> String {
    let kinds = kinds::each(Describe).into_iter();
    let others = kinds.filter(|kind| kind.name != K::Content::NAME && !kind.verbs.is_empty());
    let mut others = others.map(|kind| {
        let verbs = kind.verbs.iter().map(|verb| verb.name).join(", ");
        format!("\n  {}: {verbs}", kind.name)
    });
    let mut others = others.join("");
    if !others.is_empty() {
        others.insert_str(0, " The verbs of the other kinds are:");
    }
    format!(
        "{}\n\n`synth VERB --help` has examples of each verb. `synth FILE --help` has the options for the kind of workload in FILE.{others}\n\n{EXIT_CODES}",
        examples_of::<K>(""),
    )
}

/// Returns the examples of a verb, or of the synthesis if `verb` is empty.
fn examples_of<K: Kind>(verb: &str) -> String {
    let is_lower = |word: &&str| word.chars().all(|letter| letter.is_ascii_lowercase());
    let mut is_own = false;
    let mut own = K::EXAMPLES.lines().chain(EXAMPLES.lines()).filter(|line| {
        if let Some(command) = line.strip_prefix("  synth ") {
            // Without a verb, an option or a file follows the name of the program.
            let first = command.split(' ').next().filter(is_lower);
            is_own = first.unwrap_or_default() == verb;
        }
        is_own
    });
    match own.join("\n") {
        none if none.is_empty() => none,
        own => format!("Examples:\n{own}"),
    }
}

const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  the answer is negative: no policy is stable for this workload, the policy is refused,
     a claim is refuted, one of the policies cannot be run, or a target is not met
  2  an error: an option or an input is invalid, or a file cannot be read or written
  130  the program was interrupted by Ctrl-C (129 for SIGHUP, 143 for SIGTERM). The results so
     far are printed with a note. If there is a second signal, the program exits immediately";

/// Runs the command with the given arguments and returns the exit code.
pub fn main(typed: &[OsString]) -> u8 {
    dispatch(typed, Host::Terminal)
}

/// Runs a command inside another program, like [`main`], but nothing is printed.
pub fn answer(typed: &[OsString], program: Embedding) -> EmbeddedAnswer {
    program.answer(|host| dispatch(typed, host))
}

fn dispatch(typed: &[OsString], host: Host) -> u8 {
    let typed = &verb_first(typed)[..];
    let kinds = kinds::each(Describe);
    let alone = |word: &OsString| {
        let has = |kind: &&Description| kind.verbs.iter().any(|verb| word == verb.name);
        kinds.iter().filter(has).exactly_one().ok()
    };
    let by_verb = typed.iter().take(2).find_map(alone);
    let by_document = || {
        let name = kinds::named(&workload::kind_of(typed)?)?;
        let mut kinds = kinds.iter();
        kinds.find(|kind| [kind.name, kind.workload].contains(&name))
    };
    (by_verb.or_else(by_document).unwrap_or(&kinds[0]).main)(typed, host)
}

/// Moves the first verb or file to the front, so that the global options can be used before it.
fn verb_first(typed: &[OsString]) -> Vec<OsString> {
    let mut words = typed.to_vec();
    let is_option = |word: &OsString| workload::ALONE.iter().any(|own| word == own);
    let first = words.iter().position(|word| !is_option(word));
    if let Some(n) = first.filter(|n| !words[*n].to_string_lossy().starts_with('-')) {
        words[..=n].rotate_right(1);
    }
    words
}

struct Description {
    name: &'static str,
    workload: &'static str,
    verbs: &'static [Verb],
    rules: fn() -> Section,
    schema: fn() -> schemars::Schema,
    main: fn(&[OsString], Host) -> u8,
}

const WORKLOADS: &str = "workload";

fn schema_names() -> Vec<&'static str> {
    let results = kinds::formats().into_iter().map(|own| own.0);
    let known = [&[WORKLOADS], kinds::NAMES].concat();
    known.into_iter().chain(results).collect()
}

#[derive(Clone, Copy)]
struct Describe;

impl Visitor for Describe {
    type Output = Description;

    fn visit<K: Kind>(self) -> Description {
        Description {
            name: K::Content::NAME,
            workload: K::Content::WORKLOAD,
            verbs: K::VERBS,
            rules: K::rules,
            schema: Artifact::<K::Content>::schema,
            main: main_for::<K>,
        }
    }
}

fn main_for<K: Kind>(typed: &[OsString], host: Host) -> u8 {
    if let Some(why) = unknown_verb::<K>(typed) {
        return failed(&why, 2, &host);
    }
    let name = OsString::from("synth");
    let mut arguments = match Arguments::<K>::try_parse_from([&name].into_iter().chain(typed)) {
        Ok(arguments) => arguments,
        Err(error) => return refused(&error, &host),
    };
    arguments.common.host = host.clone();
    arguments.common.command = output::command("synth", typed);
    concluded(run(&arguments), &host)
}

fn concluded(outcome: Outcome, host: &Host) -> u8 {
    let error = match outcome {
        Ok(code) => return code,
        Err(error) => error,
    };
    let io = error.downcast_ref::<std::io::Error>();
    if io.is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe) {
        // The reader, such as `head`, has closed the output before the end.
        return SUCCESS;
    }
    // If a policy is refused, this is a valid result and not an error.
    let refused = error.downcast_ref::<ArtifactError>();
    let is_answer = matches!(refused, Some(ArtifactError::Refused { .. }));
    let code = if is_answer { NEGATIVE } else { 2 };
    failed(&error.to_string(), code, host)
}

/// Prints an error. If the error is a report on a document, it already starts with `error:`.
fn failed(why: &str, code: u8, host: &Host) -> u8 {
    let why = why.trim_start_matches("error: ");
    let (on, off) = (EMPHASIS, EMPHASIS.render_reset());
    match host {
        Host::Terminal => host.tell(&format!("{on}error:{off} {why}")),
        Host::Program(program) => program.answered().error = Some(harmless(why)),
    }
    code
}

const MOVED: [&str; 3] = ["bench", "figures", "sweep-alpha"];

fn unknown_verb<K: Kind>(typed: &[OsString]) -> Option<String> {
    let word = typed.first()?;
    let word = word.to_str().filter(|word| !word.starts_with('-'))?;
    if MOVED.contains(&word) {
        return Some(format!(
            "`synth {word}` has been moved to a different program\n = help: use `synth-lab {word}` instead, which can be built with `cargo build --release -p synth-lab`"
        ));
    }
    let command = Arguments::<K>::command();
    let verbs = command.get_subcommands().map(clap::Command::get_name);
    let verbs: Vec<&str> = verbs.chain(["help"]).collect();
    if verbs.contains(&word) || exists(Path::new(word)) {
        return None;
    }
    let help = match nearest(word, &verbs) {
        Some(verb) => format!("did you mean the verb `{verb}`?"),
        None => format!(
            "expected the path to a workload file or one of the verbs {}",
            verbs.join(", ")
        ),
    };
    Some(format!(
        "`{word}` is neither a file nor a verb\n = help: {help}"
    ))
}

/// The options that were removed. Each line contains their names and what to use instead.
const REMOVED: &str = include_str!("removed.txt");

fn help_if_removed(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let mut lines = REMOVED.lines().filter_map(|line| line.split_once(": "));
    let (_, now) = lines.find(|(names, _)| names.split(' ').any(|name| name == typed))?;
    Some(format!("\n = help: {typed}: {now}"))
}

fn refused(error: &clap::Error, host: &Host) -> u8 {
    let help = help_if_removed(error).unwrap_or_default();
    let text = error.render().ansi().to_string();
    match host {
        Host::Program(program) if error.use_stderr() => {
            let text = error.render().to_string();
            let text = text.trim_start_matches("error: ").trim_end();
            program.answered().error = Some(format!("{text}{help}"));
        }
        _ if error.use_stderr() => host.tell(&format!("{}{help}", text.trim_end())),
        _ => drop(host.say(&text)),
    }
    error.exit_code() as u8
}

fn run<K: Kind>(arguments: &Arguments<K>) -> Outcome {
    let common = &arguments.common;
    match &arguments.command {
        None => verbs::synthesize(&arguments.synthesize, common),
        Some(Command::Check(arguments)) => verbs::check::<K>(arguments, common),
        Some(Command::Show(arguments)) => verbs::show::<K>(arguments, common),
        Some(Command::Simulate(arguments)) => verbs::simulate(arguments, common),
        Some(Command::Compare(arguments)) => compare::run(arguments, common),
        Some(Command::Merge(arguments)) => compare::merge::<K>(arguments, common),
        Some(Command::Rules) => {
            let kinds = kinds::each(Describe).into_iter();
            let mut each = kinds.map(|kind| {
                let rules = (kind.rules)().text(common.host.width());
                format!("kind: {}\n{rules}\n", kind.workload)
            });
            common.printed(&each.join("\n"))
        }
        Some(Command::Own(own)) => verbs::own(&*own.0, common),
        Some(Command::Schema { of }) => {
            let of = of.as_deref().unwrap_or(K::Content::NAME);
            let mut kinds = kinds::each(Describe).into_iter();
            let mut formats = kinds::formats().into_iter();
            let schema = match of {
                WORKLOADS => Some(kinds::workload_schema()),
                of if of.starts_with("synth-") => {
                    let format = formats.find(|own| own.0 == of);
                    format.map(|(name, schema)| schema(name))
                }
                of => kinds.find(|own| own.name == of).map(|own| (own.schema)()),
            };
            common.printed(&(serde_json::to_string_pretty(&schema)? + "\n"))
        }
        Some(Command::Completions { shell }) => {
            let (mut script, mut command) = (Vec::new(), Arguments::<K>::command());
            clap_complete::generate(*shell, &mut command, "synth", &mut script);
            printed_as_is(script, common)
        }
        Some(Command::Man) => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Arguments::<K>::command()).render(&mut page)?;
            printed_as_is(page, common)
        }
    }
}

fn printed_as_is(text: Vec<u8>, common: &Common) -> Outcome {
    emit(None, &String::from_utf8(text)?, common)?;
    Ok(SUCCESS)
}
