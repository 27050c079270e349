//! The YAML document as written: its shape and the places of its values.
//!
//! Scalars are read as text and go through [`Decimal::parse`], so that no number passes through a
//! binary double before it is understood, and the spelling found can be quoted. Only this file and
//! `law` know the YAML parser.

use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_yaml::{Error, Location, Spanned};

use super::check::{Draft, DraftJob};
use super::decimal::Decimal;
use super::fault::{Fault, Part, Place, suggest};
use super::law::read_law;
use super::parameters::{Law, Process};
use super::read_process::read_process;
use super::sheet::{Located, Sheet};
use super::{ArrivalProcess, Described, Parsed, Size, WorkloadError, fleet_document};

/// The kinds of workload that are known.
const KINDS: &[&str] = &["multiresource"];

const EXAMPLE: &str = "a workload reads like this:
  kind: multiresource
  time_unit: s
  server: {capacity: {cpu: 128}}
  jobs:
    - {name: web, demand: {cpu: 1}, arrival_rate: 4, mean_size: 1}";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(rename = "kind")]
    _kind: Spanned<String>,
    source: Option<String>,
    time_unit: Spanned<String>,
    server: Server,
    jobs: Spanned<Vec<Job>>,
}

/// What decides which other keys are right, whatever else stands there.
#[derive(Deserialize)]
struct Header {
    kind: Option<Spanned<String>>,
    server: Option<Spanned<IgnoredAny>>,
    servers: Option<Spanned<IgnoredAny>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Server {
    capacity: Spanned<Pairs>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Job {
    pub(super) name: Spanned<String>,
    demand: Option<Pairs>,
    arrival_rate: Option<Spanned<String>>,
    arrivals: Option<Spanned<Process>>,
    mean_size: Option<Spanned<String>>,
    size: Option<Spanned<Law>>,
}

/// A map in the order written. The parser refuses doubled keys before they come here.
pub(super) struct Pairs(Vec<(Spanned<String>, Spanned<String>)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PairsVisitor;

        impl<'de> Visitor<'de> for PairsVisitor {
            type Value = Pairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map from names to numbers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }

        deserializer.deserialize_map(PairsVisitor)
    }
}

impl Pairs {
    /// As named, with the number that each text denotes.
    pub(super) fn numbers(
        &self,
        place: impl Fn(String) -> Place,
        sheet: &Sheet<'_>,
        faults: &mut Vec<Located>,
    ) -> Vec<(String, Option<Decimal>)> {
        let pairs = self.0.iter().map(|(name, value)| {
            let place = place(name.value.clone());
            (name.value.clone(), number(value, place, sheet, faults))
        });
        pairs.collect()
    }

    pub(super) fn get(&self, key: &str) -> Option<&Spanned<String>> {
        self.0
            .iter()
            .find(|(name, _)| name.value == key)
            .map(|(_, value)| value)
    }
}

/// Reads bytes that ought to be UTF-8.
pub(super) fn parse_bytes<W>(
    bytes: &[u8],
    name: &str,
    parse: fn(&str, &str) -> Result<Parsed<W>, WorkloadError>,
) -> Result<Parsed<W>, WorkloadError> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return parse(text, name),
        Err(error) => error,
    };
    // What stands before the first wrong byte is text, and locates it.
    let text = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
    let sheet = Sheet { text: &text, name };
    let fault = Fault::new(
        Place::Document,
        format!(
            "byte 0x{:02x} here is not UTF-8 text",
            bytes[error.valid_up_to()]
        ),
        "save the file as UTF-8",
    );
    Err(sheet.refuse(vec![(fault, Some(text.len()..text.len()))]))
}

/// Reads a document of one server and checks it.
pub(super) fn parse(text: &str, name: &str) -> Result<Parsed, WorkloadError> {
    let sheet = Sheet { text, name };
    match begin(&sheet)? {
        Some(servers) => Err(refuse_fleet(&sheet, servers)),
        None => parse_server(&sheet),
    }
}

/// Reads a document of one server or of a fleet and checks it.
pub(super) fn parse_described(text: &str, name: &str) -> Result<Parsed<Described>, WorkloadError> {
    let sheet = Sheet { text, name };
    Ok(match begin(&sheet)? {
        Some(_) => {
            let Parsed { workload, warnings } = fleet_document::parse(&sheet)?;
            Parsed {
                workload: Described::Fleet(workload),
                warnings,
            }
        }
        None => {
            let Parsed { workload, warnings } = parse_server(&sheet)?;
            Parsed {
                workload: Described::Server(workload),
                warnings,
            }
        }
    })
}

/// What has to be known before the rest can be read: where the servers of a fleet stand, if it is
/// one.
fn begin(sheet: &Sheet<'_>) -> Result<Option<Location>, WorkloadError> {
    if is_blank(sheet.text) {
        let fault = Fault::new(Place::Document, "the document is empty", EXAMPLE);
        return Err(sheet.refuse(vec![(fault, Some(0..0))]));
    }
    check_head(sheet)
}

fn parse_server(sheet: &Sheet<'_>) -> Result<Parsed, WorkloadError> {
    let document: Document = read(sheet)?;
    let mut located = Vec::new();
    let draft = document.draft(sheet, &mut located);
    let place = |fault: Fault| {
        let range = document
            .location(&fault.place)
            .and_then(|location| range(sheet, location));
        (fault, range)
    };
    located.extend(draft.faults().into_iter().map(place));
    if !located.is_empty() {
        return Err(sheet.refuse(located));
    }
    let checked = draft
        .build()
        .map_err(|faults| sheet.refuse(faults.into_iter().map(place).collect()))?;
    let warning = |fault| {
        let (fault, range) = place(fault);
        sheet.warn(&fault, range)
    };
    Ok(Parsed {
        workload: checked.workload,
        warnings: checked.warnings.into_iter().map(warning).collect(),
    })
}

/// Whether there is nothing but comments and the marks that begin and end a document.
fn is_blank(text: &str) -> bool {
    let mut lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    lines.all(|line| line.is_empty() || line.starts_with('#') || line == "---" || line == "...")
}

/// What the text of a document says; refused where it is no such document.
pub(super) fn read<'de, T: Deserialize<'de>>(sheet: &Sheet<'de>) -> Result<T, WorkloadError> {
    read_text(sheet.text).map_err(|error| refuse_syntax(sheet, &error))
}

fn read_text<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, Error> {
    let options = serde_yaml::options! {
        // Every alias that stands for one list of demands is legitimate; what they expand to is
        // bounded instead.
        budget: serde_yaml::budget! { enforce_alias_anchor_ratio: false },
        alias_limits: serde_yaml::alias_limits! { max_total_replayed_events: 250_000 },
    };
    serde_yaml::from_str_with_options(text, options)
}

impl Document {
    fn draft(&self, sheet: &Sheet<'_>, faults: &mut Vec<Located>) -> Draft {
        let capacity = &self.server.capacity.value;
        let capacity = capacity.numbers(Place::Capacity, sheet, faults);
        let jobs = self.jobs.value.iter().enumerate();
        let jobs = jobs.map(|(i, job)| job.draft(i, sheet, faults)).collect();
        Draft {
            source: self.source.clone(),
            time_unit: self.time_unit.value.clone(),
            capacity,
            jobs,
        }
    }

    fn location(&self, place: &Place) -> Option<Location> {
        let capacity = &self.server.capacity;
        match place {
            Place::TimeUnit => Some(self.time_unit.referenced),
            Place::Server => Some(capacity.referenced),
            Place::Capacity(resource) => Some(capacity.value.get(resource)?.referenced),
            Place::Jobs => Some(self.jobs.referenced),
            _ => location_in_jobs(&self.jobs.value, place, |resource| {
                capacity.value.get(resource).is_some()
            }),
        }
    }
}

/// Where a place of a job type is; what is wrong with a resource that the server lacks is its name.
pub(super) fn location_in_jobs(
    jobs: &[Job],
    place: &Place,
    is_known: impl Fn(&str) -> bool,
) -> Option<Location> {
    let job = |i: &usize| jobs.get(*i);
    match place {
        Place::Job(i) => Some(job(i)?.name.referenced),
        Place::Rate(i) => Some(job(i)?.rate_location()),
        Place::Demand(i, resource) => {
            let (key, value) = job(i)?
                .demand
                .as_ref()?
                .0
                .iter()
                .find(|(key, _)| key.value == *resource)?;
            Some(if is_known(resource) { value } else { key }.referenced)
        }
        Place::Law(i, part) => Some(job(i)?.law_location(*part)),
        Place::Parameter(i, part, key, entry) => {
            let (job, entry) = (job(i)?, entry.as_slice());
            let size = || job.size.as_ref()?.value.parameters().location(key, entry);
            let process = || Some(&job.arrivals.as_ref()?.value);
            match part {
                Part::Size => size(),
                Part::Arrivals => process()?.parameters().location(key, entry),
                Part::Interarrival => {
                    let law = process()?.interarrival()?;
                    law.value.parameters().location(key, entry)
                }
            }
        }
        _ => None,
    }
}

impl Job {
    pub(super) fn draft(&self, i: usize, sheet: &Sheet<'_>, faults: &mut Vec<Located>) -> DraftJob {
        let place = |resource| Place::Demand(i, resource);
        let demand = self.demand.as_ref();
        let demand = demand.map(|pairs| pairs.numbers(place, sheet, faults));
        DraftJob {
            name: self.name.value.clone(),
            demand: demand.unwrap_or_default(),
            arrivals: self.arrivals(i, sheet, faults),
            size: self.size(i, sheet, faults),
        }
    }

    /// Exactly one of `arrival_rate` and `arrivals`.
    fn arrivals(
        &self,
        i: usize,
        sheet: &Sheet<'_>,
        faults: &mut Vec<Located>,
    ) -> Option<ArrivalProcess> {
        let (message, help) = match (&self.arrival_rate, &self.arrivals) {
            (Some(rate), None) => {
                let rate = number(rate, Place::Rate(i), sheet, faults)?;
                return Some(ArrivalProcess::Poisson { rate });
            }
            (None, Some(process)) => {
                return read_process(process, i, &self.name.value, sheet, faults);
            }
            (None, None) => (
                "has no arrivals",
                "add `arrival_rate: 4`, or a process: `arrivals: {process: batches, rate: 2, sizes: [1, 3]}`",
            ),
            (Some(_), Some(_)) => ("has both `arrival_rate` and `arrivals`", "keep one of them"),
        };
        let place = Place::Law(i, Part::Arrivals);
        let message = format!("type `{}` {message}", self.name.value);
        let range = range(sheet, self.law_location(Part::Arrivals));
        faults.push((Fault::new(place, message, help), range));
        None
    }

    /// Exactly one of `mean_size` and `size`.
    fn size(&self, i: usize, sheet: &Sheet<'_>, faults: &mut Vec<Located>) -> Option<Size> {
        let (message, help) = match (&self.mean_size, &self.size) {
            (Some(mean), None) => {
                let mean = number(mean, Place::Law(i, Part::Size), sheet, faults)?;
                return Some(Size::Exponential { mean });
            }
            (None, Some(law)) => {
                return read_law(law, (i, Part::Size), &self.name.value, sheet, faults);
            }
            (None, None) => (
                "has no size",
                "add `mean_size: 1`, or a law: `size: {law: exponential, mean: 1}`",
            ),
            (Some(_), Some(_)) => ("has both `mean_size` and `size`", "keep one of them"),
        };
        let place = Place::Law(i, Part::Size);
        let message = format!("type `{}` {message}", self.name.value);
        let range = range(sheet, self.law_location(Part::Size));
        faults.push((Fault::new(place, message, help), range));
        None
    }

    /// Where a law stands: its mean if it has one, which is what is mostly wrong with it.
    fn law_location(&self, part: Part) -> Location {
        let of_mean = |law: &Spanned<Law>| {
            let mean = law.value.parameters().location("mean", &[]);
            mean.unwrap_or(law.referenced)
        };
        let arrivals = self.arrivals.as_ref();
        let found = match part {
            Part::Size => {
                let mean = self.mean_size.as_ref().map(|mean| mean.referenced);
                self.size.as_ref().map(of_mean).or(mean)
            }
            Part::Arrivals => arrivals.map(|process| process.referenced),
            Part::Interarrival => arrivals.and_then(|p| p.value.interarrival()).map(of_mean),
        };
        found.unwrap_or(self.name.referenced)
    }

    fn rate_location(&self) -> Location {
        let rate = self.arrival_rate.as_ref().map(|rate| rate.referenced);
        let process = || {
            let parameters = self.arrivals.as_ref()?.value.parameters();
            parameters.location("rate", &[])
        };
        rate.or_else(process).unwrap_or(self.name.referenced)
    }
}

/// The number that a text denotes; `None` once it has been reported.
pub(super) fn number(
    text: &Spanned<String>,
    place: Place,
    sheet: &Sheet<'_>,
    faults: &mut Vec<Located>,
) -> Option<Decimal> {
    Decimal::parse(&text.value)
        .map_err(|error| {
            let fault = Fault::new(place.clone(), format!("{place}: {error}"), error.help());
            faults.push((fault, range(sheet, text.referenced)));
        })
        .ok()
}

/// Refuses a kind of workload that is not known before anything else is read. Where the servers of
/// a fleet stand, if it is one.
fn check_head(sheet: &Sheet<'_>) -> Result<Option<Location>, WorkloadError> {
    // A document that is not even a header is refused, with better reason, by the full reading.
    let Ok(head) = read_text::<Header>(sheet.text) else {
        return Ok(None);
    };
    let unknown = |kind: &Spanned<String>| !KINDS.contains(&kind.value.as_str());
    if let Some(kind) = head.kind.filter(unknown) {
        let fault = Fault::new(
            Place::Document,
            format!("unknown kind of workload `{}`", kind.value),
            suggest(&kind.value, "kinds known so far", KINDS),
        );
        return Err(sheet.refuse(vec![(fault, range(sheet, kind.referenced))]));
    }
    if let (Some(_), Some(servers)) = (&head.server, &head.servers) {
        let fault = Fault::new(
            Place::Servers,
            "the document has both `server` and `servers`",
            "keep `server` for one server, or `servers` for a fleet of several shapes",
        );
        return Err(sheet.refuse(vec![(fault, range(sheet, servers.referenced))]));
    }
    Ok(head.servers.map(|servers| servers.referenced))
}

/// A fleet where one server is wanted.
fn refuse_fleet(sheet: &Sheet<'_>, servers: Location) -> WorkloadError {
    let fault = Fault::new(
        Place::Servers,
        "this is a fleet of several servers, and here one server is wanted",
        "give `server: {capacity: …}` here; a fleet goes with `synth --workload FILE --preemption …`, \
         `synth check` and `synth simulate --policy FILE`",
    );
    sheet.refuse(vec![(fault, range(sheet, servers))])
}

fn refuse_syntax(sheet: &Sheet<'_>, error: &Error) -> WorkloadError {
    let (message, help) = describe(error.without_snippet());
    let range = error.location().and_then(|location| range(sheet, location));
    sheet.refuse(vec![(Fault::new(Place::Document, message, help), range)])
}

/// The bytes at a location. The parser knows bytes for most of its places, else characters.
pub(super) fn range(sheet: &Sheet<'_>, location: Location) -> Option<Range<usize>> {
    let span = location.span();
    let known = |n: Option<u64>| n.and_then(|n| usize::try_from(n).ok());
    match (known(span.byte_offset()), known(span.byte_len())) {
        (Some(start), Some(length)) => sheet.mark(start, length),
        _ => sheet.mark(sheet.byte_of(known(Some(span.offset()))?), 1),
    }
}

/// The parser's error in the words of this format, and what to do about it.
fn describe(error: &Error) -> (String, String) {
    match error {
        Error::WithSnippet { error, .. } | Error::AliasError { error, .. } => describe(error),
        Error::Unexpected { expected, .. } => unexpected(expected),
        Error::DuplicateMappingKey { key, .. } => {
            let key = key.as_deref().unwrap_or("?");
            (
                format!("the key `{key}` stands twice in one map"),
                "keep one of the two".to_owned(),
            )
        }
        Error::SerdeUnknownField {
            field, expected, ..
        } => (
            format!("unknown key `{field}`"),
            suggest(field, "keys known here", expected),
        ),
        Error::SerdeMissingField { field, .. } => (
            format!("the key `{field}` is missing in this map"),
            format!("add it: {EXAMPLE}"),
        ),
        other => {
            let (message, help) = describe_plain(other);
            let detail = if message.ends_with(':') {
                " ".to_owned() + &bare(other)
            } else {
                String::new()
            };
            (message.to_owned() + &detail, help.to_owned())
        }
    }
}

/// The errors without particulars of their own; after a colon follow the parser's words.
fn describe_plain(error: &Error) -> (&'static str, &'static str) {
    match error {
        Error::MultipleDocuments { .. } => (
            "a second YAML document begins here",
            "a file holds one workload: move the second to a file of its own",
        ),
        Error::NullIntoString { .. } => (
            "a value is missing here",
            "write one after the colon; if the word null is meant as a name, put it in quotes",
        ),
        Error::TaggedScalarCannotDeserializeIntoString { .. } => {
            ("a YAML tag has no meaning here", "delete the tag")
        }
        Error::UnknownAnchor { .. } => (
            "this alias names an anchor that does not exist",
            "mark the value first, `&name value`, then repeat it as `*name`",
        ),
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => (
            "the document expands beyond all measure:",
            "write out the aliases that are meant, and leave out the rest",
        ),
        _ => (
            "this is not valid YAML:",
            "mend the line marked, or the one before it; names with : or # want quotes",
        ),
    }
}

fn unexpected(expected: &str) -> (String, String) {
    let (message, help) = if expected.contains("mapping") {
        (
            "expected a map here",
            "write `key: value`, or {key: value}; ".to_owned() + EXAMPLE,
        )
    } else if expected.contains("sequence") {
        (
            "expected a list here",
            "write `- ` before each entry, or [a, b]; ".to_owned() + EXAMPLE,
        )
    } else if expected.contains("scalar") {
        (
            "expected a single value here, not a list or a map",
            EXAMPLE.to_owned(),
        )
    } else {
        return (format!("{expected} here"), EXAMPLE.to_owned());
    };
    (message.to_owned(), help)
}

/// The parser's message without the position, which the rendering shows.
fn bare(error: &Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ")
        .map_or(text.clone(), |(message, _)| message.to_owned())
}
