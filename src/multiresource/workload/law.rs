//! The law of sizes in a YAML document: `{law: erlang, stages: 3, mean: 1}`.

use serde_yaml::Spanned;

use super::Size;
use super::check_size::wrong_stages;
use super::fault::{Part, suggest};
use super::parameters::{Law, Reader, Shape, Value, whole};
use super::sheet::{Located, Sheet};

/// The lists that one of the two hyperexponential spellings may have.
const LISTS: [&str; 3] = ["probabilities", "means", "onward"];

/// The sizes, or the interarrival times, of type `i`; `None` once its faults are reported. An
/// unknown law is reported before its parameters, which are right or wrong only by the law.
pub(super) fn read_law(
    law: &Spanned<Law>,
    (i, part): (usize, Part),
    job: &str,
    sheet: &Sheet<'_>,
    faults: &mut Vec<Located>,
) -> Option<Size> {
    let mut reader = Reader {
        parameters: law.value.parameters(),
        location: law.referenced,
        i,
        job,
        part,
        sheet,
        faults,
    };
    let Some(Value::Single(name)) = reader.parameters.get("law") else {
        let message = format!("the {} names no law", part.noun());
        reader.refuse(law.referenced, message, "add `law: exponential`");
        return None;
    };
    let shape = shape(&mut reader, name)?;
    reader.check_keys("law", &format!("the law `{}`", name.value), &shape);
    read(&mut reader, &name.value)
}

/// The parameters of the law of this name; `None` once it is reported.
fn shape(reader: &mut Reader<'_>, name: &Spanned<String>) -> Option<Shape> {
    let law = name.value.as_str();
    let balanced = is_balanced(reader);
    Some(match law {
        "exponential" => Shape::of(&["mean"], "{law: exponential, mean: 1}"),
        "erlang" => Shape::of(&["stages", "mean"], "{law: erlang, stages: 3, mean: 1}"),
        "hyperexponential" if balanced && reader.parameters.has_any(&LISTS) => {
            let message = format!("the law `{law}` has both numbers and lists");
            let help = "keep `mean` and `scv`, or `probabilities` and `means`";
            reader.refuse(name.referenced, message, help);
            return None;
        }
        "hyperexponential" if !balanced => Shape::of(
            &["probabilities", "means"],
            "{law: hyperexponential, probabilities: [.3, .7], means: [2, .5]}, \
             or {law: hyperexponential, mean: 1, scv: 4}",
        ),
        "hyperexponential" | "balanced-hyperexponential" => {
            Shape::of(&["mean", "scv"], "{law: hyperexponential, mean: 1, scv: 4}")
        }
        "coxian" => Shape::of(
            &["means", "onward"],
            "{law: coxian, means: [1, 2], onward: [.5]}",
        ),
        "deterministic" => Shape::of(&["mean"], "{law: deterministic, mean: 1}"),
        "lognormal" => Shape::of(&["mean", "scv"], "{law: lognormal, mean: 1, scv: 4}"),
        "weibull" => Shape::of(&["mean", "scv"], "{law: weibull, mean: 1, scv: 4}"),
        "pareto" => Shape::of(
            &["shape", "low", "high"],
            "{law: pareto, shape: 1.5, low: 1, high: 1000}",
        ),
        "empirical" => Shape {
            required: &["values"],
            optional: &["probabilities"],
            example: "{law: empirical, values: [1, 2, 10]}",
        },
        _ => {
            let help = suggest(law, "laws known so far", Size::LAWS);
            let message = format!("unknown law of {}s `{law}`", reader.part.noun());
            reader.refuse(name.referenced, message, &help);
            return None;
        }
    })
}

/// Whether a hyperexponential law is given by two numbers.
fn is_balanced(reader: &Reader<'_>) -> bool {
    reader.parameters.has_any(&["mean", "scv"])
}

fn read(reader: &mut Reader<'_>, law: &str) -> Option<Size> {
    match law {
        "erlang" => read_erlang(reader),
        "hyperexponential" if !is_balanced(reader) => {
            let (probabilities, means) = (reader.list("probabilities"), reader.list("means"));
            Some(Size::Hyperexponential {
                probabilities: probabilities?,
                means: means?,
            })
        }
        "coxian" => {
            let (means, onward) = (reader.list("means"), reader.list("onward"));
            Some(Size::Coxian {
                means: means?,
                onward: onward?,
            })
        }
        "pareto" => {
            let [shape, low, high] = ["shape", "low", "high"].map(|key| reader.single(key));
            Some(Size::Pareto {
                shape: shape?,
                low: low?,
                high: high?,
            })
        }
        "empirical" => {
            let (values, probabilities) =
                (reader.list("values"), reader.optional_list("probabilities"));
            Some(Size::Empirical {
                values: values?,
                probabilities: probabilities?,
            })
        }
        _ => read_mean(reader, law),
    }
}

/// The laws of a mean, and of a squared coefficient of variation if they have one.
fn read_mean(reader: &mut Reader<'_>, law: &str) -> Option<Size> {
    let mean = reader.single("mean");
    if let "exponential" | "deterministic" = law {
        let mean = mean?;
        return Some(match law {
            "exponential" => Size::Exponential { mean },
            _ => Size::Deterministic { mean },
        });
    }
    let scv = reader.single("scv");
    let (mean, scv) = (mean?, scv?);
    Some(match law {
        "lognormal" => Size::Lognormal { mean, scv },
        "weibull" => Size::Weibull { mean, scv },
        _ => Size::BalancedHyperexponential { mean, scv },
    })
}

/// A whole number of stages; how many make sense is checked with the law.
fn read_erlang(reader: &mut Reader<'_>) -> Option<Size> {
    let (found, mean) = (reader.single("stages"), reader.single("mean"));
    let found = found?;
    let stages = whole(found);
    if stages.is_none() {
        let fault = wrong_stages(reader.i, reader.part, reader.job, &found);
        reader.push(fault, "stages", &[]);
    }
    Some(Size::Erlang {
        stages: stages?,
        mean: mean?,
    })
}
