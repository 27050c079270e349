//! One file a subcommand: what was typed → a verb of the workload's kind → what is printed.
//!
//! All of it is generic over the kind, which the documents among the arguments name: see [`kinds`].

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
use crate::document::{is_there, nearest};
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

/// The style of `error:` and `warning:`.
const EMPHASIS: Style = AnsiColor::Red.on_default().bold();

/// From a workload to a scheduling policy, with a proof; and a simulator that checks it.
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
    /// Check a policy: derive again what can be, and say what cannot
    #[command(after_long_help = examples_of::<K>("check "))]
    Check(verbs::CheckArguments),
    /// Show what a policy says: what it is for, what it does, and what it promises
    #[command(after_long_help = examples_of::<K>("show "))]
    Show(PolicyFile),
    /// Simulate a policy, and try to refute its claims
    #[command(after_long_help = examples_of::<K>("simulate "))]
    Simulate(verbs::SimulateArguments<K>),
    /// Compare policies over a range of loads, on the same arrivals and sizes
    #[command(after_long_help = format!("{}\n\n{}", examples_of::<K>("compare "), compare::ABOUT))]
    Compare(compare::Arguments<K>),
    /// Put the parts of a comparison together that `synth compare --shard` wrote
    Merge(compare::MergeArguments),
    /// List the rules that can be simulated and compared by name
    Rules,
    #[command(flatten)]
    Own(Own<K>),
    /// Print the JSON Schema of workloads, for editors, of policies, or of results
    Schema {
        /// `workload`, the kind of policies, or the format of results [default: policies of the first kind]
        #[arg(value_parser = PossibleValuesParser::new(schema_names()))]
        of: Option<String>,
    },
    /// Print a shell completion script
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    Man,
}

/// A verb that this kind alone has, as it was typed.
struct Own<K> {
    verb: Box<dyn RunVerb>,
    kind: PhantomData<K>,
}

impl<K: Kind> FromArgMatches for Own<K> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let typed = matches.subcommand();
        let found = typed.and_then(|(name, typed)| {
            let verb = K::VERBS.iter().find(|verb| verb.name == name)?;
            Some(verb.read(typed))
        });
        let verb = found.unwrap_or_else(|| Err(clap::Error::new(ErrorKind::MissingSubcommand)))?;
        Ok(Own {
            verb,
            kind: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<K: Kind> Subcommand for Own<K> {
    fn augment_subcommands(command: clap::Command) -> clap::Command {
        command.subcommands(K::VERBS.iter().map(Verb::command))
    }

    fn augment_subcommands_for_update(command: clap::Command) -> clap::Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        K::VERBS.iter().any(|verb| verb.name == name)
    }
}

/// Examples of every kind.
const EXAMPLES: &str = include_str!("examples.txt");

fn examples<K: Kind>() -> String {
    let kinds = kinds::each(Describe).into_iter();
    let others = kinds.filter(|kind| kind.name != K::Content::NAME && !kind.verbs.is_empty());
    let others = others.map(|kind| {
        let verbs = kind.verbs.iter().map(|verb| verb.name).join(", ");
        format!("  {}: {verbs}\n", kind.name)
    });
    let mut others = others.collect::<String>();
    if !others.is_empty() {
        others.insert_str(0, " Verbs of other kinds:\n");
    }
    format!(
        "Examples:\n{}{EXAMPLES}\nOptions and examples of another kind of workload: `synth FILE --help`.{}\n\n{EXIT_CODES}",
        K::EXAMPLES,
        others.trim_end(),
    )
}

/// Returns the examples of the kind that are of this verb.
fn examples_of<K: Kind>(verb: &str) -> String {
    let mut is_own = false;
    let own = K::EXAMPLES.lines().chain(EXAMPLES.lines()).filter(|line| {
        if let Some(command) = line.strip_prefix("  synth ") {
            is_own = command.starts_with(verb);
        }
        is_own
    });
    format!("Examples:\n{}\n", own.collect::<Vec<_>>().join("\n"))
}

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  a sound negative answer: no policy can stabilize the workload, the policy is refused,
     a claim is refuted, a policy of a comparison cannot be run, a wish is missed
  2  usage, input or I/O
  130  interrupted by Ctrl-C (129 by SIGHUP, 143 by SIGTERM): the results so far are printed
     and marked; a second signal ends the program at once";

/// Runs the command that was typed, behind the name of the program: prints, listens to signals, and returns the exit
/// code.
pub fn main(typed: &[OsString]) -> u8 {
    dispatch(typed, Host::Terminal)
}

/// Runs a command within another program: as [`main`], but that nothing is printed.
pub fn answer(typed: &[OsString], program: Embedding) -> EmbeddedAnswer {
    program.answer(|host| dispatch(typed, host))
}

/// Runs what was typed, for the kind of the documents that it names.
fn dispatch(typed: &[OsString], host: Host) -> u8 {
    let typed = &verb_first(typed)[..];
    let kinds = kinds::each(Describe);
    // The kind that alone has a verb of this name.
    let alone = |word: &OsString| {
        let has = |kind: &&Description| kind.verbs.iter().any(|verb| word == verb.name);
        kinds.iter().filter(has).exactly_one().ok()
    };
    let by_verb = typed.iter().take(2).find_map(alone);
    let by_document = || {
        let name = kinds::named(&workload::kind_of(typed)?)?;
        kinds
            .iter()
            .find(|kind| [kind.name, kind.workload].contains(&name))
    };
    (by_verb.or_else(by_document).unwrap_or(&kinds[0]).main)(typed, host)
}

/// Returns the words with a verb or file before the options that all verbs take: so these may stand in front, too.
fn verb_first(typed: &[OsString]) -> Vec<OsString> {
    let mut words = typed.to_vec();
    let is_option = |word: &OsString| workload::ALONE.iter().any(|own| word == own);
    let first = words.iter().position(|word| !is_option(word));
    if let Some(n) = first.filter(|n| !words[*n].to_string_lossy().starts_with('-')) {
        words[..=n].rotate_right(1);
    }
    words
}

/// What the command line needs to know of a kind before it parses arguments for it.
struct Description {
    name: &'static str,
    /// The name in workloads.
    workload: &'static str,
    /// The verbs that it alone has.
    verbs: &'static [Verb],
    rules: fn() -> Section,
    /// The shape of its policies.
    schema: fn() -> schemars::Schema,
    main: fn(&[OsString], Host) -> u8,
}

/// What `synth schema` calls workloads.
const WORKLOADS: &str = "workload";

/// Returns the names of all schemas.
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

/// Parses what was typed for this kind, and runs it.
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

/// Returns the exit code of what was done, and prints why there is no answer.
fn concluded(outcome: Outcome, host: &Host) -> u8 {
    let error = match outcome {
        Ok(code) => return code,
        Err(error) => error,
    };
    let io = error.downcast_ref::<std::io::Error>();
    if io.is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe) {
        // The reader of the output has closed it, which is no error.
        return SUCCESS;
    }
    // That a policy is refused is an answer, not a failure.
    let refused = error.downcast_ref::<ArtifactError>();
    let is_answer = matches!(refused, Some(ArtifactError::Refused { .. }));
    let code = if is_answer { NEGATIVE } else { 2 };
    failed(&error.to_string(), code, host)
}

/// Prints an error; reports of documents begin with the word already.
fn failed(why: &str, code: u8, host: &Host) -> u8 {
    let why = why.trim_start_matches("error: ");
    let (on, off) = (EMPHASIS, EMPHASIS.render_reset());
    match host {
        Host::Terminal => host.tell(&format!("{on}error:{off} {why}")),
        Host::Program(program) => program.answered().error = Some(harmless(why)),
    }
    code
}

/// Verbs of the laboratory, which once were verbs of this program.
const MOVED: [&str; 3] = ["bench", "figures", "sweep-alpha"];

/// Says what is wrong with the first word that was typed, if it is neither a verb nor a file.
fn unknown_verb<K: Kind>(typed: &[OsString]) -> Option<String> {
    let word = typed.first()?;
    let word = word.to_str().filter(|word| !word.starts_with('-'))?;
    let command = Arguments::<K>::command();
    let verbs = command.get_subcommands().map(clap::Command::get_name);
    if MOVED.contains(&word) {
        return Some(format!(
            "`synth {word}` has moved to a program of its own\n = help: `synth-lab {word}`, which `cargo build --release -p synth-lab` builds"
        ));
    }
    let verbs: Vec<&str> = verbs.chain(["help"]).collect();
    if verbs.contains(&word) || is_there(Path::new(word)) {
        return None;
    }
    let help = match nearest(word, &verbs) {
        Some(verb) => format!("did you mean the verb `{verb}`?"),
        None => format!("give a workload, or one of the verbs {}", verbs.join(", ")),
    };
    Some(format!(
        "there is no file and no verb `{word}`\n = help: {help}"
    ))
}

const READ: &str = "it is a key of --read now, such as --read format=swf,unit=ms,past-limit=kill";
const ONLY: &str =
    "it is a key of --only now, such as --only partition=gpu,user=ann,status=completed";

const SHAPES: &str = "name the servers by --servers";
const WORK: &str = "it is part of --work now, in states of the dynamic program";
const LENGTH: &str = "runs of `synth optimum` and `synth limit` end by --events or --time";

/// Options that have another name now, or whose place is another verb.
const RENAMED: &[(&str, &str)] = &[
    ("--faults", READ),
    ("--machine", SHAPES),
    ("--partition", ONLY),
    ("--points", "it is an option of `synth-lab sweep-alpha`"),
    ("--precision", LENGTH),
    ("--replications", LENGTH),
    ("--resample", "replays have intervals by blocks of time"),
    ("--rows", WORK),
    ("--seed", "in judge, advise, forecast and bridge it is 1"),
    ("--series", "the pictures over time are in --html"),
    ("--show", "all means are in --output and --csv"),
    (
        "--speed",
        "scale a log by --load of judge, --speed of replay",
    ),
    ("--states", WORK),
    ("--step", "the steps of time are a 500th of the log"),
    ("--stuck", "jobs that do not start are reported after 30 s"),
    ("--unknown-out", "it is --demands known now"),
    ("--vm-types", SHAPES),
    (
        "--workload",
        "FILE stands alone for optimum, limit and size",
    ),
    ("--amounts", READ),
    ("--censored", READ),
    ("--format", READ),
    ("--past-limit", READ),
    ("--status", ONLY),
    ("--unit", READ),
    ("--user", ONLY),
    ("--budget", "it is called --work now"),
    (
        "--effort",
        "it is part of --work now, in events of a simulation (4e8 is an effort of 1)",
    ),
    (
        "--empty-slots",
        "slots without a job are released, and nothing else is possible",
    ),
    ("--objective", "it is called --minimize now"),
    (
        "--policy",
        "give the policy's file without it; a policy of your own goes to `synth analyze FILE --workload FILE`",
    ),
    (
        "--rates",
        "scale by --loads; arrival rates are in the workload",
    ),
    (
        "--size",
        "it is a verb now: `synth size FILE --shape NAME --slo TARGET`",
    ),
    ("--time-limit", "it is called --time now"),
    (
        "--trace",
        "replays are a verb now: `synth replay LOG --policies P,P`; `synth judge LOG --policy FILE` selects an order on a log",
    ),
    ("--vega", "it is gone: --html writes a page with pictures"),
];

/// Returns what became of the option that is unknown, if it once was one.
fn renamed(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let known = RENAMED.iter().find(|(name, _)| name == typed);
    known.map(|(name, now)| format!("\n = help: {name}: {now}"))
}

/// Prints why what was typed is no command, or the help.
fn refused(error: &clap::Error, host: &Host) -> u8 {
    let help = renamed(error).unwrap_or_default();
    let text = error.render().ansi().to_string();
    match host {
        Host::Program(program) if error.use_stderr() => {
            let text = error.render().to_string();
            let text = text.trim_start_matches("error: ").trim_end();
            program.answered().error = Some(format!("{text}{help}"));
        }
        _ if error.use_stderr() => host.tell(&format!("{}{help}", text.trim_end())),
        // A closed standard output is no reason to fail.
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
        Some(Command::Own(own)) => verbs::own(&*own.verb, common),
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

/// Writes text for other programs to standard output.
fn printed_as_is(text: Vec<u8>, common: &Common) -> Outcome {
    emit(None, &String::from_utf8(text)?, common)?;
    Ok(SUCCESS)
}
